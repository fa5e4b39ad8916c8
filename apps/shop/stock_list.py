"""The stock page's list. Its filters mean what ``stock_search`` means by the same names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.core.paginator import Page
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest

from apps.core import clock
from apps.core.tools import ToolError
from apps.guilds.models import Member
from apps.shop import vocabularies
from apps.shop.arguments import StockSearch
from apps.shop.drawers import age_days, short_grade
from apps.shop.formats import fold
from apps.shop.models import Sale, SaleItem, StockItem

RANKS = {grade: 8 - place for place, grade in enumerate(("M", "NM", "VG+", "VG", "G+", "G"))}
ORDERS: dict[str, tuple[Any, ...]] = {
    "artist": ("release__artist_display", "release__title", "pk"),
    "-artist": ("-release__artist_display", "-release__title", "-pk"),
    "price": ("price", "pk"),
    "-price": ("-price", "-pk"),
    "listed": (F("listed_at").asc(nulls_last=True), "pk"),
    "-listed": (F("listed_at").desc(nulls_last=True), "-pk"),
    "age": (F("since").asc(nulls_last=True), "pk"),
}


@dataclass
class Listing:
    """Rows to page through, their price together, and how the columns are sorted."""

    rows: QuerySet[Any]
    sum: Decimal
    notes: Sequence[str] = ()
    sorts: dict[str, str] = field(default_factory=dict)
    next_sort: dict[str, str] = field(default_factory=dict)


def listing(member: Member, args: StockSearch) -> Listing:
    """Stock of the member's guild that fits; an unknown name is told and finds nothing."""
    rows = StockItem.objects.visible_to(member)
    notes: list[str] = []
    try:
        rows = rows.filter(_where(member.guild_id, args, notes))
    except ToolError as error:
        rows, notes = rows.none(), [str(error)]
    for word in fold(args.q or "").split():
        rows = rows.filter(release__search__contains=word)
    if args.not_sold_days:
        limit = clock.now() - timedelta(days=args.not_sold_days)
        rows = _with_since(rows).filter(since__lte=limit)
    total = rows.aggregate(sum=Sum(F("price") * F("quantity")))["sum"] or Decimal(0)
    sort = args.sort or "artist"
    ordered = (_with_since(rows) if sort == "age" else rows).order_by(*ORDERS[sort])
    return Listing(ordered.select_related("release"), total, notes, *_headings(sort))


def _where(guild_id: int, args: StockSearch, notes: list[str]) -> Q:
    where = Q()
    if args.in_stock:
        where &= Q(status=StockItem.Status.FOR_SALE, quantity__gt=0)
    for kind, field_name in (("genre", "genres"), ("style", "styles")):
        if text := getattr(args, kind):
            found = vocabularies.resolve(kind, text, guild_id)
            notes += [found.note] if found.note else []
            where &= Q(**{f"release__{field_name}__contains": [found.name]})
    if args.format:
        carriers, note = vocabularies.carriers(args.format, guild_id)
        notes += [note] if note else []
        where &= Q(release__carriers__overlap=carriers)
    return where & _grade(args) & _price(args)


def _grade(args: StockSearch) -> Q:
    if not args.grade_min:
        return Q()
    return Q(media_rank__gte=RANKS.get(vocabularies.grade(args.grade_min), 1))


def _price(args: StockSearch) -> Q:
    where = Q()
    if args.price_min is not None:
        where &= Q(**{"price__gt" if args.exclude_min else "price__gte": args.price_min})
    if args.price_max is not None:
        where &= Q(**{"price__lte" if args.include_max else "price__lt": args.price_max})
    return where


def _with_since(rows: QuerySet[Any]) -> QuerySet[Any]:
    """``since``: the later of listing and the last completed sale of that release."""
    sold = SaleItem.objects.filter(
        release=OuterRef("release"), removed=False, sale__state=Sale.State.COMPLETED
    )
    last = sold.order_by().values("release").annotate(last=Max("sale__ordered_at")).values("last")
    return rows.annotate(since=Greatest("listed_at", Coalesce(Subquery(last), F("listed_at"))))


def _headings(sort: str) -> tuple[dict[str, str], dict[str, str]]:
    """What each heading says of the order, and the order that a press on it asks for."""
    name = sort.lstrip("-")
    down = sort.startswith("-") or sort == "age"
    sorts = {name: "descending" if down else "ascending"}
    following = {"artist": "artist", "price": "price", "listed": "listed", "age": "age"}
    if name in ("price", "listed") and not down:
        following[name] = f"-{name}"
    return sorts, following


def dress(page: Page[Any]) -> None:
    """Add what the table shows beside the row's own columns, in one query for the page."""
    ids = [row.release_id for row in page.object_list]
    sold = SaleItem.objects.filter(
        release_id__in=ids, removed=False, sale__state=Sale.State.COMPLETED
    )
    last = dict(sold.values_list("release_id").annotate(Max("sale__ordered_at")))
    for row in page.object_list:
        row.media_short = short_grade(row.media_grade)
        row.sleeve_short = short_grade(row.sleeve_grade)
        row.age = age_days(row.listed_at, last.get(row.release_id))
