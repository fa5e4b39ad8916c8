"""The seller's inventory export: one listing a row, found again by its listing id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.core import clock, money
from apps.jobs.running import JobRun
from apps.shop.formats import STOCK_STATUSES, grade_rank
from apps.shop.importers import fields
from apps.shop.importers.gate import enter_shop
from apps.shop.importers.pipeline import RowImport, file_name, fit_checkpoint, run_rows
from apps.shop.importers.seen import SeenNumbers
from apps.shop.importers.stubs import Named, releases_for
from apps.shop.importers.table import STOCK, Row, open_table
from apps.shop.importers.upsert import any_of, upsert
from apps.shop.models import StockItem

# Which columns of a stock item a column of the file fills; a file without it leaves them alone.
FILLS = {
    "release_id": ("release_id",),
    "status": ("status",),
    "price": ("price", "currency", "original_price", "original_currency"),
    "listed": ("listed_at",),
    "comments": ("comments",),
    "media_condition": ("media_grade", "media_rank"),
    "sleeve_condition": ("sleeve_grade",),
    "accept_offer": ("accept_offer",),
    "external_id": ("external_id",),
    "weight": ("weight",),
    "format_quantity": ("format_quantity",),
    "location": ("location",),
    "quantity": ("quantity",),
}


@dataclass(frozen=True, slots=True)
class Listing:
    """A row of the file, read."""

    line: int
    listing_id: int
    release: Named
    values: dict[str, Any]


class StockImport(RowImport[Listing]):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._seen = SeenNumbers()
        self._update = [name for column in FILLS if column in self.table for name in FILLS[column]]

    def parse(self, row: Row) -> Listing | None:
        listing_id = fields.row_id(self, row, "listing_id")
        release_id = listing_id and fields.row_id(self, row, "release_id")
        price = fields.price(self, row, "price") if release_id else None
        if not listing_id or not release_id or price is None:
            return None
        priced = self._in_shop_currency(price)
        if priced["price"] > fields.GREATEST_PRICE:
            self.skip(row, "price", "larger than any price this shop can hold")
            return None
        quantity = self._quantity(row)
        if quantity is None:
            return None
        values = {**priced, "quantity": quantity, **self._kept(row)}
        return Listing(row.line, listing_id, _named(row, release_id), values)

    def write(self, items: Sequence[Listing]) -> int:
        last = {item.listing_id: item for item in items}
        ids = releases_for(self.guild, (item.release for item in last.values()))
        now = clock.now()
        rows = [
            {
                "guild_id": self.guild.pk,
                "listing_id": item.listing_id,
                "release_id": ids[item.release.discogs_id],
                "created_at": now,
                **item.values,
            }
            for item in last.values()
        ]
        key = ["guild_id", "listing_id"]
        touch = {"edited_at": now}
        written = upsert(StockItem, rows, key=key, update=self._update, touch=touch)
        return sum(created for _, created in written)

    def count_new(self, items: Sequence[Listing]) -> int:
        numbers = {item.listing_id for item in items}
        if not self.terms.as_if_empty:
            stored = StockItem.objects.filter(guild=self.guild, listing_id__in=any_of(numbers))
            numbers -= set(stored.values_list("listing_id", flat=True))
        return self._seen.add(numbers)

    def _in_shop_currency(self, price: Decimal) -> dict[str, Any]:
        terms = self.terms
        if terms.rate is None:
            return {
                "price": price,
                "currency": terms.currency,
                "original_price": None,
                "original_currency": "",
            }
        return {
            "price": money.quantize(price * terms.rate),
            "currency": terms.shop_currency,
            "original_price": price,
            "original_currency": terms.currency,
        }

    def _quantity(self, row: Row) -> int | None:
        """Copies of the listing: one where an old export says nothing."""
        text = row.get("quantity")
        quantity = fields.whole(text) if text else 1
        if quantity is None:
            self.skip(row, "quantity", "not a whole number of copies")
        return quantity

    def _kept(self, row: Row) -> dict[str, Any]:
        """What a row can do without, each told when it is odd."""
        status = row.get("status")
        if status not in STOCK_STATUSES:
            self.tell(row, "status", "not a status known here; kept as written")
        grade = fields.media_grade(self, row, "media_condition")
        return {
            "status": status,
            "media_grade": grade,
            "media_rank": grade_rank(grade),
            "sleeve_grade": fields.sleeve_grade(self, row, "sleeve_condition"),
            "comments": row.get("comments"),
            "location": row.get("location"),
            "external_id": row.get("external_id"),
            "weight": fields.count(self, row, "weight"),
            "format_quantity": fields.count(self, row, "format_quantity"),
            "accept_offer": self._accept_offer(row),
            "listed_at": fields.moment(self, row, "listed"),
        }

    def _accept_offer(self, row: Row) -> bool:
        text = row.get("accept_offer")
        if text not in ("Y", "N", ""):
            self.tell(row, "accept_offer", "neither Y nor N; taken as N")
        return text == "Y"


def import_stock(job: JobRun) -> dict[str, Any]:
    """Import an inventory export. ``args``: path, currency, rate, dry_run, replace_demo."""
    path = job.file()
    with open_table(path, STOCK, name=file_name(job)) as table:
        terms = enter_shop(job.guild, job.args)
        report = fit_checkpoint(job, path)
        run_rows(job, StockImport(terms, table, report), currency=terms.currency)
    report.extra["currency"] = terms.shop_currency or terms.currency
    return report.to_json()


def _named(row: Row, release_id: int) -> Named:
    return Named(
        release_id,
        artist=row.get("artist"),
        title=row.get("title"),
        label=row.get("label"),
        catno=row.get("catno"),
        format=row.get("format"),
    )
