"""How long stock has stood unsold: from the later of listing and the release's last sale.

Only completed sales count, of any copy of the release. An edit of a listing never counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import connections
from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from apps.core import reading
from apps.shop.models import Sale, SaleItem, StockItem

WINDOW = 1_000


class Aged(NamedTuple):
    """An item in order of age: unknown age last, then by the instant it counts from."""

    unknown: bool
    since: float
    key: int


def since(listed_at: datetime | None, last_sold: datetime | None) -> datetime | None:
    """The later of the two; None when neither is known."""
    return max((each for each in (listed_at, last_sold) if each is not None), default=None)


def completed_sales() -> QuerySet[SaleItem]:
    """Lines of completed orders of a known day; lines taken off an order do not count."""
    return SaleItem.objects.filter(
        removed=False, sale__state=Sale.State.COMPLETED, sale__ordered_at__isnull=False
    )


def unsold_since(items: QuerySet[StockItem], cutoff: datetime) -> QuerySet[StockItem]:
    """Items neither listed nor sold after ``cutoff``; without any date the age is unknown."""
    of_release = completed_sales().filter(release_id=OuterRef("release_id"))
    sold_later = Exists(of_release.filter(sale__ordered_at__gt=cutoff))
    old = Q(listed_at__lte=cutoff) | Q(Q(listed_at=None), Exists(of_release))
    return items.filter(old, ~sold_later)


def last_sales(release_ids: Iterable[int]) -> dict[int, datetime]:
    """Last completed sale by release, for those of the releases that were sold.

    One query for all of them: asked row by row, a planner without statistics walks through
    every sale for each. The keys go as one array, so there may be any number of them.
    """
    with connections[reading.alias()].cursor() as cursor:
        cursor.execute(
            "SELECT i.release_id, max(s.ordered_at)"
            " FROM shop_saleitem i JOIN shop_sale s ON s.id = i.sale_id"
            " WHERE i.release_id = ANY(%s::bigint[]) AND NOT i.removed"
            " AND s.state = 'completed' AND s.ordered_at IS NOT NULL GROUP BY 1",
            [list(set(release_ids))],
        )
        return dict(cursor.fetchall())


def oldest(items: QuerySet[StockItem], limit: int) -> list[int]:
    """Keys of the ``limit`` items longest unsold, those of unknown age last.

    No item is older than its listing. So items are read by listing date, in a window that
    grows until the next one is too young to matter.
    """
    unlisted = _unlisted(items.filter(listed_at=None), limit)
    listed = items.exclude(listed_at=None).order_by("listed_at", "pk")
    window = WINDOW
    while True:
        seen = list(listed.values_list("pk", "release_id", "listed_at")[:window])
        best = sorted([*_aged(seen), *unlisted])[:limit]
        if len(seen) < window or _settled(best, limit, seen[-1][2]):
            return [item.key for item in best]
        window *= 8


def _settled(best: list[Aged], limit: int, youngest: datetime | None) -> bool:
    if len(best) < limit or best[-1].unknown or youngest is None:
        return False
    return best[-1].since < youngest.timestamp()


def _aged(seen: Iterable[tuple[int, int, datetime | None]]) -> Iterator[Aged]:
    rows = list(seen)
    sold = last_sales(release_id for _, release_id, _ in rows)
    for key, release_id, listed_at in rows:
        moment = since(listed_at, sold.get(release_id))
        yield Aged(moment is None, moment.timestamp() if moment else 0.0, key)


def _unlisted(items: QuerySet[StockItem], limit: int) -> list[Aged]:
    """Items without a listing date: those of the releases sold longest ago, then any others."""
    columns = ("pk", "release_id", "listed_at")
    some = list(items.order_by("pk").values_list(*columns)[:limit])
    if len(some) < limit:
        return sorted(_aged(some))
    first = (
        completed_sales()
        .filter(release_id__in=items.values("release_id"))
        .values_list("release_id")
        .annotate(last=Max("sale__ordered_at"))
        .order_by("last", "release_id")[:limit]
    )
    of_first = items.filter(release_id__in=[release_id for release_id, _ in first])
    return sorted(_aged({*some, *of_first.values_list(*columns)}))[:limit]
