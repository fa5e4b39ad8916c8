"""What was sold: sums in SQL over completed orders, refunds apart, cancelled orders never."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import connections
from psycopg import sql

from apps.core import clock, reading
from apps.core.money import format_money
from apps.core.tools import Column, Table, ToolContext, ToolError
from apps.shop import tables
from apps.shop.arguments import SalesSummary

TOP_IN_NOTES = 5
# Goods of completed orders, line by line. An order without lines counts its total less postage
# and tax, once; several lines never repeat the order's total.
GOODS = sql.SQL(
    """
WITH orders AS (
    SELECT id, ordered_at, total - coalesce(shipping, 0) - coalesce(tax, 0) AS goods
    FROM shop_sale
    WHERE guild_id = %(guild)s AND state = 'completed'
      AND currency IN (%(currency)s, '')
      AND (ordered_at >= %(start)s::timestamptz AND ordered_at < %(end)s::timestamptz
           OR ordered_at IS NULL AND %(undated)s::boolean)
), lines AS (
    SELECT o.id AS order_id, o.ordered_at, i.release_id, i.description, i.price,
           i.quantity AS units, i.price * i.quantity AS amount
    FROM orders o JOIN shop_saleitem i ON i.sale_id = o.id
    WHERE NOT i.removed
    UNION ALL
    SELECT o.id, o.ordered_at, NULL, '', NULL, 0, o.goods
    FROM orders o
    WHERE NOT EXISTS (SELECT FROM shop_saleitem i WHERE i.sale_id = o.id)
)
"""
)
TOTALS = sql.SQL(
    "SELECT coalesce(sum(amount), 0) AS revenue, coalesce(sum(units), 0)::bigint AS units,"
    " (SELECT count(*) FROM orders) AS orders, min(price) AS least, max(price) AS greatest"
    " FROM lines"
)
GROUPED = sql.SQL(
    "SELECT {key} AS key, sum(amount) AS revenue, sum(units)::bigint AS units,"
    " count(DISTINCT order_id) AS orders, count(*) OVER () AS groups"
    " FROM lines LEFT JOIN shop_release r ON r.id = lines.release_id"
    " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(limit)s"
)
# An order has one day, so orders are counted by themselves: distinct counts sort every line.
SPANNED = sql.SQL(
    "SELECT key, coalesce(revenue, 0) AS revenue, coalesce(units, 0)::bigint AS units, orders,"
    " count(*) OVER () AS groups"
    " FROM (SELECT {key} AS key, count(*) AS orders FROM orders GROUP BY 1) counted"
    " LEFT JOIN (SELECT {key} AS key, sum(amount) AS revenue, sum(units) AS units"
    " FROM lines GROUP BY 1) summed USING (key) ORDER BY 1 DESC LIMIT %(limit)s"
)
# Names are looked up for the rows shown alone: grouping by them would sort every line.
TOP = sql.SQL(
    "SELECT top.release_id, coalesce(r.artist_display, '') AS artist,"
    " coalesce(r.title, top.described) AS title, coalesce(r.format_text, '') AS format,"
    " top.revenue, top.units, top.groups FROM ("
    " SELECT release_id, CASE WHEN release_id IS NULL THEN description ELSE '' END AS described,"
    " sum(amount) AS revenue, sum(units)::bigint AS units, count(*) OVER () AS groups"
    " FROM lines WHERE units > 0 GROUP BY 1, 2"
    " ORDER BY units DESC, revenue DESC, 1, 2 LIMIT %(limit)s"
    ") top LEFT JOIN shop_release r ON r.id = top.release_id"
    " ORDER BY top.units DESC, top.revenue DESC, 1, top.described"
)
APART = sql.SQL(
    "SELECT count(*) FILTER (WHERE state = 'refunded' AND ours) AS refunds,"
    " coalesce(sum(total) FILTER (WHERE state = 'refunded' AND ours), 0) AS refunded,"
    " count(*) FILTER (WHERE state = 'open') AS unpaid,"
    " count(*) FILTER (WHERE state = 'unknown') AS unknown,"
    " count(*) FILTER (WHERE state = 'completed' AND NOT ours) AS foreign_orders"
    " FROM (SELECT state, total, currency IN (%(currency)s, '') AS ours FROM shop_sale"
    " WHERE guild_id = %(guild)s AND (ordered_at >= %(start)s::timestamptz"
    " AND ordered_at < %(end)s::timestamptz"
    " OR ordered_at IS NULL AND %(undated)s::boolean)) spanned"
)
KEYS = {
    "genre": sql.SQL("coalesce(r.genres[1], '(unknown)')"),
    "format": sql.SQL("coalesce(r.carriers[1], '(unknown)')"),
}
SPANS = {
    unit: sql.SQL(
        "coalesce(to_char(date_trunc({unit}, ordered_at AT TIME ZONE %(zone)s), 'YYYY-MM-DD'),"
        " '(no date)')"
    ).format(unit=sql.Literal(unit))
    for unit in ("day", "week", "month")
}
LABELS = {"day": "Day", "week": "Week from", "month": "Month", "genre": "Genre", "format": "Format"}
SUMS = (Column("revenue", "Revenue", "money"), Column("units", "Units", "number"))
ORDERS = Column("orders", "Orders", "number")
TOP_COLUMNS = (
    Column("artist", "Artist"),
    Column("title", "Title"),
    Column("format", "Format"),
    *SUMS,
)


@dataclass(frozen=True)
class Span:
    """Bound values of every query of one summary."""

    values: dict[str, Any]

    def ask(self, query: sql.Composable, **more: Any) -> list[dict[str, Any]]:
        """Rows of one query, by column name."""
        with connections[reading.alias()].cursor() as cursor:
            cursor.execute(query.as_string(None), self.values | more)
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def sales_summary(ctx: ToolContext, args: SalesSummary) -> Table:
    """Revenue is the goods' price in completed orders; postage, tax and fees are not in it."""
    currency = tables.currency_of(ctx.guild.pk)
    span = _span(ctx, args, currency)
    summed, apart = span.ask(GOODS + TOTALS)[0], span.ask(APART)[0]
    rows, found = _rows(args, span)
    totals = {key: tables.plain(value) for key, value in summed.items()} | {
        "rows": found,
        "copies": summed["units"],
        "sum": tables.plain(summed["revenue"]),
        "refunds": apart["refunds"],
        "refunded": tables.plain(apart["refunded"]),
    }
    columns: tuple[Column, ...] = TOP_COLUMNS
    if args.group_by:
        columns = (Column("key", LABELS[args.group_by]), *SUMS, ORDERS)
    return tables.build(
        ctx,
        f"Sales by {args.group_by}" if args.group_by else "Top items sold",
        columns,
        rows,
        totals=totals,
        total_rows=found,
        notes=[_days(args), *_top(args, span, currency), *_apart(apart, currency)],
        currency=currency,
    )


def _span(ctx: ToolContext, args: SalesSummary, currency: str) -> Span:
    first, last = args.date_from, args.date_to
    if first and last and first > last:
        raise ToolError(f"date_from {first} is after date_to {last}; swap them.")
    return Span(
        {
            "guild": ctx.guild.pk,
            "currency": currency,
            "zone": str(clock.zone(ctx.guild)),
            "start": _bound(ctx, first, 0) or "-infinity",
            "end": _bound(ctx, last, 1) or "infinity",
            # Orders of no known day belong to no span, but to all sales.
            "undated": first is None and last is None,
        }
    )


def _bound(ctx: ToolContext, day: date | None, side: int) -> Any:
    """First instant of the day (side 0) or of the next one (side 1)."""
    if day is None:
        return None
    try:
        return clock.day_bounds(ctx.guild, day)[side].isoformat()
    except OverflowError:
        raise ToolError(f"{day} is no day that a shop was open; name another.") from None


def _rows(args: SalesSummary, span: Span) -> tuple[list[dict[str, Any]], int]:
    if args.group_by is None:
        found = span.ask(GOODS + TOP, limit=tables.LEAST_ROWS)
        rows = [{"ref": _release(row.pop("release_id")), **row} for row in found]
    elif args.group_by in SPANS:
        # The newest spans are kept when there are too many, then shown in order.
        query = GOODS + SPANNED.format(key=SPANS[args.group_by])
        found = span.ask(query, limit=_most_rows(args))
        rows = [{"ref": "", **row} for row in reversed(found)]
    else:
        query = GOODS + GROUPED.format(key=KEYS[args.group_by])
        found = span.ask(query, limit=tables.LEAST_ROWS)
        rows = [{"ref": "", **row} for row in found]
    groups = found[0]["groups"] if found else 0
    for row in rows:
        row.pop("groups")
    return rows, groups


def _release(release_id: int | None) -> str:
    return f"release:{release_id}" if release_id else ""


def _most_rows(args: SalesSummary) -> int:
    """Days between two that the asker named are shown whole, as far as any table goes."""
    named = args.date_from is not None and args.date_to is not None
    return tables.MOST_ROWS if named else tables.LEAST_ROWS


def _days(args: SalesSummary) -> str:
    if args.date_from is None and args.date_to is None:
        return "All days."
    first = args.date_from.isoformat() if args.date_from else "the first sale"
    last = args.date_to.isoformat() if args.date_to else "now"
    return f"From {first} to {last}, both included."


def _top(args: SalesSummary, span: Span, currency: str) -> Iterator[str]:
    if args.group_by is None:
        return
    if args.group_by in {"genre", "format"}:
        yield f"A release of several {args.group_by}s counts under its first."
    top = span.ask(GOODS + TOP, limit=TOP_IN_NOTES)
    if top:
        named = "; ".join(_top_item(row, currency) for row in top)
        yield f"Top items: {named}."


def _top_item(row: dict[str, Any], currency: str) -> str:
    name = f"{row['artist']} – {row['title']}" if row["artist"] else row["title"]
    return f"{name[:80]} ({row['units']} sold, {format_money(row['revenue'], currency)})"


def _apart(apart: dict[str, Any], currency: str) -> Iterator[str]:
    if apart["refunds"]:
        amount = format_money(apart["refunded"], currency)
        yield f"Refunded, not in the revenue: {apart['refunds']:,} orders, {amount}."
    if apart["unpaid"]:
        yield f"Not yet paid, not counted: {apart['unpaid']:,} orders."
    if apart["unknown"]:
        yield f"Of unknown status, not counted: {apart['unknown']:,} orders."
    if apart["foreign_orders"]:
        yield f"In another currency, not counted: {apart['foreign_orders']:,} orders."
