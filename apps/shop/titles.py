"""What a result is called: its conditions, as people say them."""

from __future__ import annotations

from collections.abc import Sequence

from apps.core.money import format_money
from apps.shop.arguments import StockSearch


def of_stock(args: StockSearch, said: Sequence[str], currency: str) -> str:
    """Such as ``Stock: Drum n Bass, 12", under $10.00, not sold in 90 days``.

    ``said`` holds the genre, style and format as they were read.
    """
    parts = [*said, *_text(args), *_prices(args, currency), *_state(args)]
    if not parts:
        return "Stock"
    return f"Stock: {', '.join(parts)}"


def _text(args: StockSearch) -> list[str]:
    return [f"“{args.q[:60]}”"] if args.q else []


def _prices(args: StockSearch, currency: str) -> list[str]:
    parts = []
    whole_range = not args.exclude_min and args.include_max
    if args.price_min is not None and args.price_max is not None and whole_range:
        least, most = (format_money(p, currency) for p in (args.price_min, args.price_max))
        return [f"{least} to {most}"]
    if args.price_min is not None:
        word = "over" if args.exclude_min else "from"
        parts.append(f"{word} {format_money(args.price_min, currency)}")
    if args.price_max is not None:
        word = "up to" if args.include_max else "under"
        parts.append(f"{word} {format_money(args.price_max, currency)}")
    return parts


def _state(args: StockSearch) -> list[str]:
    parts = []
    if args.grade_min is not None:
        parts.append(f"{args.grade_min} or better")
    if args.not_sold_days is not None:
        parts.append(f"not sold in {args.not_sold_days} days")
    if not args.in_stock:
        parts.append("sold and drafts too")
    return parts
