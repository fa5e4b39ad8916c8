"""Result tables of the shop's tools: plain cells, a row cap, and totals over every match."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, DecimalField, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from apps.core import clock
from apps.core.tools import Column, Table, ToolContext
from apps.shop.models import Shop, StockItem

LEAST_ROWS = 50
MOST_ROWS = 200
LONGEST_CELL = 200

IN_STOCK = Q(status=StockItem.Status.FOR_SALE, quantity__gt=0)
VALUE = Sum(F("price") * F("quantity"), output_field=DecimalField(max_digits=24, decimal_places=2))


def currency_of(guild_id: int) -> str:
    """The shop's currency; empty before its first import."""
    return Shop.objects.filter(guild_id=guild_id).values_list("currency", flat=True).first() or ""


def stock_totals(items: QuerySet[StockItem]) -> dict[str, Any]:
    """Over every item given: rows, copies, value of all copies, least and greatest price."""
    found = items.aggregate(
        rows=Count("pk"),
        copies=Sum("quantity", default=0),
        sum=Coalesce(VALUE, Decimal(0)),
        least=Min("price"),
        greatest=Max("price"),
    )
    return {key: plain(value) for key, value in found.items()}


def plain(value: Any) -> Any:
    """A value as JSON holds it: decimals as text with cents, instants in ISO 8601."""
    if isinstance(value, Decimal):
        return str(value.quantize(Decimal("0.01")))
    return value.isoformat() if hasattr(value, "isoformat") else value


def day(ctx: ToolContext, instant: datetime | None) -> str:
    """The guild's calendar date of an instant; empty when unknown."""
    return "" if instant is None else clock.business_day(ctx.guild, instant).isoformat()


def days_since(ctx: ToolContext, instant: datetime | None) -> int | None:
    """Whole days from that instant to now."""
    return None if instant is None else (ctx.now - instant).days


def build(
    ctx: ToolContext,
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Mapping[str, Any]],
    *,
    totals: Mapping[str, Any],
    total_rows: int,
    notes: Iterable[str] = (),
    currency: str = "",
) -> Table:
    """A table whose long texts are cut, and which tells what was left out."""
    shown = [{key: plain(value) for key, value in row.items()} for row in rows]
    cut = []
    if len(shown) < total_rows:
        cut.append(f"{len(shown)} of {total_rows:,} rows are shown; the totals cover all.")
    if _cut_texts(shown):
        cut.append(f"Texts longer than {LONGEST_CELL} characters were cut.")
    return Table(
        title=title,
        columns=tuple(columns),
        rows=shown,
        total_rows=total_rows,
        totals=dict(totals),
        notes=tuple(note for note in notes if note),
        cut=tuple(cut),
        currency=currency,
        as_of=ctx.now.isoformat(),
    )


def _cut_texts(rows: list[dict[str, Any]]) -> bool:
    found = False
    for row in rows:
        for key, value in row.items():
            if isinstance(value, str) and len(value) > LONGEST_CELL:
                row[key] = value[: LONGEST_CELL - 1] + "…"
                found = True
    return found
