"""The drum and bass question: the tool as the loop runs it, against SQL written by hand.

The tool reads as ``reader`` through its views, resolves the names asked for, and brings the
totals over every match. The statement by hand runs on the app's login with the stored names in
it, without parallel workers, whose use changes from run to run. Its rows and totals must be the
tool's, or the benchmark fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction

from apps.core import clock, reading
from apps.core.tools import ToolContext, registry
from apps.guilds.models import Member
from apps.shop.models import StockItem
from evals.bench.report import Measured, median, quantile

ASKED = {"style": "Drum n Bass", "format": '12"', "price_max": "10", "not_sold_days": 90}
BY_HAND = """
WITH matching AS MATERIALIZED (
    SELECT i.id, i.price, i.quantity, i.listed_at, i.media_grade, i.sleeve_grade, i.location,
           r.artist_display, r.title, r.label_display, r.catno_display, r.format_text, sold.last
    FROM shop_stockitem i
    JOIN shop_release r ON r.id = i.release_id
    LEFT JOIN LATERAL (
        SELECT max(s.ordered_at) AS last
        FROM shop_saleitem l JOIN shop_sale s ON s.id = l.sale_id
        WHERE l.release_id = i.release_id AND NOT l.removed AND s.state = 'completed'
    ) sold ON true
    WHERE i.guild_id = %(guild)s AND i.status = 'For Sale' AND i.quantity > 0 AND i.price < 10
      AND r.styles @> ARRAY['Drum n Bass'] AND r.carriers && ARRAY['12"']
      AND greatest(i.listed_at, sold.last) <= %(cutoff)s
), totals AS (
    SELECT count(*), sum(quantity), sum(price * quantity), min(price), max(price) FROM matching
)
SELECT m.*, t.*
FROM (SELECT * FROM matching ORDER BY greatest(listed_at, last), id LIMIT 50) m, totals t
"""


class Different(RuntimeError):
    """The tool and the statement by hand do not agree, so their times say nothing."""


def measure(member: Member, repeats: int) -> list[Measured]:
    """Medians of turns taken one after another, each side once before anything counts."""
    now = clock.now()
    items = StockItem.objects.filter(guild_id=member.guild_id).count()
    _compare(_by_tool(member, now), _by_hand(member, now))
    ours, theirs = [], []
    for _ in range(repeats):
        theirs.append(_milliseconds(lambda: _by_hand(member, now)))
        ours.append(_milliseconds(lambda: _by_tool(member, now)))
    note = f"p95 {quantile(ours, 0.95):.1f} ms, by hand {quantile(theirs, 0.95):.1f} ms"
    case = f"{items:,} items, median of {repeats}"
    what = "the same rows and totals by one statement on the app login"
    return [
        Measured("drum and bass question", case, median(ours), "ms", what, median(theirs), note)
    ]


def _by_tool(member: Member, now: datetime) -> dict[str, Any]:
    """The call as a run makes it: checked, scoped, run and turned into JSON."""
    tool = registry.get("stock_search")
    args = tool.validate(ASKED)
    context = ToolContext(actor=member, guild=member.guild, now=now)
    with reading.scope(member.guild_id):
        return tool.run(context, args).to_json()


def _by_hand(member: Member, now: datetime) -> list[tuple[Any, ...]]:
    cutoff = now - timedelta(days=90)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        cursor.execute(BY_HAND, {"guild": member.guild_id, "cutoff": cutoff})
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def _compare(table: dict[str, Any], rows: list[tuple[Any, ...]]) -> None:
    totals = table["totals"]
    money = [Decimal(totals[name]) for name in ("sum", "least", "greatest")]
    told = (totals["rows"], totals["copies"], *money)
    listed = [row["ref"] for row in table["rows"]]
    if not rows or told != rows[0][-5:] or listed != [f"stock:{row[0]}" for row in rows]:
        raise Different(f"The tool counts {told}, the statement {rows and rows[0][-5:]}.")


def _milliseconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000
