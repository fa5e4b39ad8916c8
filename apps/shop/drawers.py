"""One row as a drawer shows it, with what belongs beside it. Cited rows open through here too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.core import clock
from apps.core.tools import ToolContext
from apps.guilds.models import Member
from apps.guilds.policy import decide
from apps.shop import ages, stock_list
from apps.shop.formats import grade_short
from apps.shop.models import Release, Sale, StockItem, Want

CAPABILITY = {
    "stock": "shop.read",
    "release": "shop.read",
    "sale": "shop.read",
    "want": "shop.customers.read",
}
COPIES_SHOWN = 60


@dataclass(frozen=True)
class Shown:
    """A drawer to render: its template, its context, and the row's own page."""

    template: str
    context: dict[str, Any]
    url: str


def find(kind: str, row_id: int, *, member: Member) -> Shown | None:
    """The drawer of a row that the member may see; None when there is no such row (any more)."""
    finders = {"stock": stock, "release": release, "sale": sale, "want": want}
    if not 0 < row_id < 2**63:
        return None
    return finders[kind](row_id, member=member)


def stock(row_id: int, *, member: Member) -> Shown | None:
    """A stock item with its age, its last sale and who waits for it."""
    rows: Any = StockItem.objects.visible_to(member).select_related("release").filter(pk=row_id)
    item: Any = rows.first()
    if item is None:
        return None
    last_sold = ages.last_sales([item.release_id]).get(item.release_id)
    ctx = ToolContext(actor=member, guild=member.guild, now=clock.now())
    stock_list.dress(ctx, item, last_sold)
    item.wanted = open_wants(item.release_id)
    number = item.release.discogs_id or item.release_id
    item.question = f"how many copies of release {number} do we have?"
    return Shown("shop/_item.html", {"item": item}, reverse("shop:item", args=[row_id]))


def release(row_id: int, *, member: Member) -> Shown | None:
    """A release with its tracks and copies."""
    rows = Release.objects.visible_to(member).prefetch_related("labels", "tracks", "identifiers")
    found: Any = rows.filter(pk=row_id).first()
    if found is None:
        return None
    found.wanted = open_wants(found.pk)
    copies = list(found.stock_items.order_by("price", "pk")[:COPIES_SHOWN])
    for copy in copies:
        copy.media_short = grade_short(copy.media_grade)
    context = {"release": found, "copies": copies}
    return Shown("shop/_release.html", context, reverse("shop:release", args=[row_id]))


def sale(row_id: int, *, member: Member) -> Shown | None:
    """An order with its lines."""
    rows = Sale.objects.visible_to(member).select_related("customer")
    found = rows.prefetch_related("items__release").filter(pk=row_id).first()
    if found is None:
        return None
    context = {"sale": found, "may_customers": bool(decide(member, "shop.customers.read"))}
    return Shown("shop/_sale.html", context, reverse("shop:sale", args=[row_id]))


def want(row_id: int, *, member: Member) -> Shown | None:
    """A want opens the release that it asks for."""
    found = Want.objects.visible_to(member).filter(pk=row_id).first()
    return release(found.release_id, member=member) if found else None


def open_wants(release_id: int) -> int:
    return Want.objects.filter(release_id=release_id, status=Want.Status.OPEN).count()
