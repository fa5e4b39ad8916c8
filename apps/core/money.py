"""Money has one door: ``Decimal`` only, with its currency beside it."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

CENT = Decimal("0.01")
LARGEST = Decimal("9999999999.99")
SIGNS = {
    "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "AUD": "A$", "CAD": "CA$", "NZD": "NZ$",
    "CHF": "CHF ", "SEK": "SEK ", "DKK": "DKK ", "NOK": "NOK ", "HUF": "HUF ", "BRL": "R$",
    "MXN": "MX$", "ZAR": "R ", "PLN": "PLN ", "CZK": "CZK ",
}  # fmt: skip
NO_CENTS = frozenset({"JPY", "HUF", "KRW", "ISK"})


class PriceError(ValueError):
    """The text is not a plain price; the message says why, for the person who wrote it."""


def check_currency(code: str) -> str:
    """A three-letter ISO 4217 code in capitals, or :class:`PriceError`."""
    code = code.strip().upper()
    if not re.fullmatch(r"[A-Z]{3}", code):
        raise PriceError(f"{code[:20]!r} is not a currency code; write three letters such as USD")
    return code


def parse_price(text: str) -> Decimal:
    """A bare, non-negative decimal such as ``10.35`` or ``100.0``, rounded to cents.

    A sign of a currency, a comma, or grouping is refused rather than guessed: ``6,000`` may
    be six or six thousand.
    """
    raw = text.strip()
    if not raw:
        raise PriceError("the price is empty")
    if re.search(r"[^\d.+\-]", raw):
        raise PriceError(_odd_character(raw))
    try:
        value = Decimal(raw)
    except InvalidOperation:
        raise PriceError("not a number") from None
    if not value.is_finite() or value < 0:
        raise PriceError("a price can't be negative")
    if value > LARGEST:
        raise PriceError("larger than any price this shop can hold")
    return value.quantize(CENT, ROUND_HALF_UP)


def _odd_character(raw: str) -> str:
    if "," in raw and re.search(r"[€$£¥]|[A-Za-z]", raw):
        return "a comma and a currency sign; write a bare number such as 6.85"
    if "," in raw:
        return "a comma may mean cents or thousands; write a bare number such as 6.85"
    if re.search(r"[€$£¥]|[A-Za-z]", raw):
        return "a currency sign or code; write a bare number and name the currency once"
    return "not a bare number such as 6.85"


def quantize(amount: Decimal) -> Decimal:
    """To cents, halves away from zero."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def format_money(amount: Decimal | str | int | None, currency: str) -> str:
    """For people: ``$6.50``, ``€1,204.00``, ``¥6,000``, ``6.50`` when no currency is known."""
    if amount is None or amount == "":
        return ""
    value = Decimal(amount)
    places = 0 if currency in NO_CENTS and value == value.to_integral_value() else 2
    sign = SIGNS.get(currency, f"{currency} " if currency else "")
    minus = "-" if value < 0 else ""
    return f"{minus}{sign}{abs(value):,.{places}f}"


def format_cost(amount: Decimal | None) -> str:
    """A model's cost in USD for people: four places below a dollar, ``$0.00`` when nothing."""
    value = Decimal(amount or 0)
    if value == 0:
        return "$0.00"
    if value < Decimal("0.0001"):
        return "under $0.0001"
    return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"
