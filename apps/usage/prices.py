"""What a call costs: the provider's own figure, a price list, or two settings.

The list is ``genai-prices`` as installed; its updater, which would ask the internet, is
never started. All amounts are USD, rounded up to eight places.
"""

from __future__ import annotations

from datetime import datetime
from decimal import ROUND_UP, Decimal

from apps.providers.types import Usage

from . import amounts
from .errors import UnpricedModel

PLACES = Decimal("0.00000001")
_MILLION = Decimal(1_000_000)


def cost(provider: str, model: str, usage: Usage, *, at: datetime) -> Decimal:
    """USD for what was used. :class:`UnpricedModel` when nobody knows the price.

    Cached tokens are part of the input and reasoning tokens of the output; neither is
    counted a second time.
    """
    if usage.cost is not None:
        return _rounded(usage.cost)
    listed = _listed(provider, model, usage, at)
    if listed is not None:
        return _rounded(listed)
    return _rounded(_from_settings(provider, model, usage))


def worst_case(
    provider: str, model: str, *, input_tokens: int, output_tokens: int, at: datetime
) -> Decimal:
    """USD if every token that may be used is used, and none comes from a cache."""
    return cost(provider, model, Usage(input_tokens, output_tokens), at=at)


def _listed(provider: str, model: str, usage: Usage, at: datetime) -> Decimal | None:
    import genai_prices  # brings an HTTP client and the whole list: not for a web process

    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
    )
    try:
        price = genai_prices.calc_price(
            counted, model, provider_id=provider, genai_request_timestamp=at
        )
    except (LookupError, ValueError):
        return None
    total = price.total_price
    return total if isinstance(total, Decimal) and total.is_finite() and total >= 0 else None


def _from_settings(provider: str, model: str, usage: Usage) -> Decimal:
    read, written = amounts.input_price(), amounts.output_price()
    if read is None or written is None:
        raise UnpricedModel(provider, model)
    return (read * usage.input_tokens + written * usage.output_tokens) / _MILLION


def _rounded(amount: Decimal) -> Decimal:
    return amount.quantize(PLACES, rounding=ROUND_UP)
