"""The amounts of USD that the settings name, checked when a process starts."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

LARGEST = Decimal(100_000)


def check() -> None:
    """ImproperlyConfigured, in words, when the budget or a price is no amount."""
    daily_cap()
    if (input_price() is None) != (output_price() is None):
        raise ImproperlyConfigured(
            "LLM_INPUT_PRICE and LLM_OUTPUT_PRICE belong together: set both, in USD per million "
            "tokens, or neither."
        )


def daily_cap() -> Decimal:
    """USD that a guild's models may cost in a day; 0 means closed."""
    cap = _amount("DAILY_AI_BUDGET")
    if cap is None:
        raise ImproperlyConfigured("DAILY_AI_BUDGET is empty: set an amount of USD, 0 to close.")
    return cap


def input_price() -> Decimal | None:
    """USD per million tokens read, where the settings give it."""
    return _amount("LLM_INPUT_PRICE")


def output_price() -> Decimal | None:
    """USD per million tokens written, where the settings give it."""
    return _amount("LLM_OUTPUT_PRICE")


def _amount(name: str) -> Decimal | None:
    value: Any = getattr(settings, name, None)
    if value is None or value == "":
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount < LARGEST:
        raise ImproperlyConfigured(
            f"{name} must be an amount of USD from 0 to below {LARGEST:,}; it is {value!r}."
        )
    return amount
