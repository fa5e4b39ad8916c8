"""The stock page's list. Its filters are the arguments of ``stock_search``, and mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from apps.core import clock
from apps.core.tools import ToolContext, ToolError
from apps.guilds.models import Member
from apps.shop import ages, search, tables
from apps.shop.arguments import StockSearch
from apps.shop.formats import grade_short
from apps.shop.models import StockItem

PAGE = 50


@dataclass(frozen=True)
class Listing:
    """One page of rows, their price together over all pages, and how the columns are sorted."""

    page: Page[Any]
    sum: Decimal
    notes: Sequence[str]
    sorts: dict[str, str]
    next_sort: dict[str, str]


def listing(member: Member, args: StockSearch, number: str | None) -> Listing:
    """Stock of the member's guild that fits; a name that nothing has is told and finds nothing."""
    ctx = ToolContext(actor=member, guild=member.guild, now=clock.now())
    try:
        found, totals = search.matching(ctx, args)
        items, notes = found.items, [note for note in found.notes if note]
    except ToolError as error:
        items, notes, totals = StockItem.objects.none(), [str(error)], {}
    sort = args.sort or "artist"
    rows: Any = OldestFirst(items) if sort == "age" else items.order_by(*search.ORDERS[sort])
    paginator = Paginator(rows, PAGE)
    paginator.count = totals.get("rows", 0)
    page = paginator.get_page(number)
    page.object_list = _dressed(ctx, list(page.object_list))
    total = Decimal(totals.get("sum") or 0)
    return Listing(page, total, notes, *_headings(sort))


@dataclass(frozen=True)
class OldestFirst:
    """Items longest unsold first, sliced like a QuerySet without ageing every row."""

    items: QuerySet[StockItem]

    def __len__(self) -> int:
        return self.items.count()

    def __getitem__(self, part: slice) -> list[StockItem]:
        keys = ages.oldest(self.items, part.stop)[part.start :]
        found = StockItem.objects.in_bulk(keys)
        return [found[key] for key in keys]


def _dressed(ctx: ToolContext, rows: list[Any]) -> list[Any]:
    """The rows with their release, last sale and age, in two queries for the page."""
    keys = [row.pk for row in rows]
    items = list(StockItem.objects.filter(pk__in=keys).select_related("release"))
    sold = ages.last_sales(item.release_id for item in items)
    shown = {item.pk: dress(ctx, item, sold.get(item.release_id)) for item in items}
    return [shown[key] for key in keys if key in shown]


def dress(ctx: ToolContext, item: Any, last_sold: datetime | None) -> Any:
    """Adds what pages show of an item: short grades, its release's last sale, days unsold."""
    item.media_short = grade_short(item.media_grade)
    item.sleeve_short = grade_short(item.sleeve_grade)
    item.last_sold = last_sold
    item.age = tables.days_since(ctx, ages.since(item.listed_at, last_sold))
    return item


def _headings(sort: str) -> tuple[dict[str, str], dict[str, str]]:
    """What each heading says of the order, and the order that a press on it asks for."""
    name = sort.lstrip("-")
    down = sort.startswith("-") or sort == "age"
    following = {each: each for each in ("artist", "price", "listed", "age")}
    if name in ("price", "listed") and not down:
        following[name] = f"-{name}"
    return {name: "descending" if down else "ascending"}, following
