"""Order items: one line of an order a row, with the order's own total repeated on each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.core import clock
from apps.shop.importers import fields
from apps.shop.importers.order_fields import customers_named, order_currency, order_status
from apps.shop.importers.pipeline import RowImport
from apps.shop.importers.report import Problem
from apps.shop.importers.stubs import Named, releases_for
from apps.shop.importers.table import Row
from apps.shop.importers.upsert import any_of, upsert
from apps.shop.models import Sale, SaleItem, StockItem

UPDATED = [
    "release_id", "stock_item_id", "description", "price", "media_grade", "sleeve_grade",
    "location", "external_id", "removed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class OrderItem:
    """A row of the file, read: the order as this row tells it, and the item."""

    line: int
    order_number: str
    item_number: str
    buyer: str
    order: dict[str, Any]
    release: Named | None
    values: dict[str, Any]


class OrderItemsImport(RowImport[OrderItem]):
    """Items of orders. An order that is not there yet is made, its total taken once.

    An order's total is never touched again from here: the orders export knows better.
    """

    def parse(self, row: Row) -> OrderItem | None:
        for name in ("order_num", "item_id"):
            if not row.get(name):
                self.skip(row, name, "without it a second import could not find the item again")
                return None
        price = fields.price(self, row, "item_price")
        if price is None:
            return None
        order = {
            "ordered_at": fields.moment(self, row, "order_date"),
            **order_status(self, row),
            "total": fields.amount(self, row, "order_total"),
            "fee": fields.amount(self, row, "order_fee"),
            "currency": order_currency(self, row),
        }
        return OrderItem(
            row.line,
            row.get("order_num"),
            row.get("item_id"),
            row.get("buyer"),
            order,
            self._release(row),
            {"price": price, **self._described(row)},
        )

    def write(self, items: Sequence[OrderItem]) -> int:
        sales = self._sales(items)
        last = {(item.order_number, item.item_number): item for item in items}
        ids = releases_for(self.guild, [item.release for item in last.values() if item.release])
        listings = self._listings(last.values())
        rows = []
        for item in last.values():
            release = ids[item.release.discogs_id] if item.release else None
            listing = listings.get(item.item_number)
            rows.append(
                {
                    "guild_id": self.guild.pk,
                    "sale_id": sales[item.order_number],
                    "item_number": item.item_number,
                    "release_id": release,
                    "stock_item_id": listing[0] if listing and listing[1] == release else None,
                    "quantity": 1,
                    **item.values,
                }
            )
        key = ["sale_id", "item_number"]
        return sum(new for _, new in upsert(SaleItem, rows, key=key, update=UPDATED))

    def count_new(self, items: Sequence[OrderItem]) -> int:
        given = {(item.order_number, item.item_number) for item in items}
        if self.terms.as_if_empty:
            return len(given)
        numbers = [number for number, _ in given]
        stored = SaleItem.objects.filter(guild=self.guild, sale__order_number__in=numbers)
        return len(given - set(stored.values_list("sale__order_number", "item_number")))

    def _release(self, row: Row) -> Named | None:
        """The release, told when it is no id; a stub has the item's description for a title."""
        number = fields.whole(row.get("release_id"), fields.GREATEST_ID)
        if not number:
            self.tell(row, "release_id", "no Discogs release id; the item is kept without one")
            return None
        return Named(number, title=row.get("description"))

    def _described(self, row: Row) -> dict[str, Any]:
        graded = bool(row.get("media_condition"))
        return {
            "description": row.get("description"),
            "media_grade": fields.media_grade(self, row, "media_condition") if graded else "",
            "sleeve_grade": fields.sleeve_grade(self, row, "sleeve_condition"),
            "location": row.get("location"),
            "external_id": row.get("external_id"),
            "removed": row.get("item_removed").casefold() in ("y", "yes", "true", "1"),
        }

    def _sales(self, items: Sequence[OrderItem]) -> dict[str, int]:
        first: dict[str, OrderItem] = {}
        for item in items:
            known = first.setdefault(item.order_number, item)
            if known.order["total"] != item.order["total"]:
                why = f"another total than on line {known.line}; the first one counts"
                value = str(item.order["total"] or "")
                self.report.tell(Problem(item.line, self.heading("order_total"), value, why))
        buyers = customers_named(self.guild, {item.buyer for item in first.values()})
        rows = [self._sale_row(item, buyers) for item in first.values()]
        key = ["guild_id", "order_number"]
        upsert(Sale, rows, key=key, update=["status_text", "state"])
        found = Sale.objects.filter(guild=self.guild, order_number__in=list(first))
        return dict(found.values_list("order_number", "pk"))

    def _sale_row(self, item: OrderItem, buyers: dict[str, int]) -> dict[str, Any]:
        return {
            "guild_id": self.guild.pk,
            "order_number": item.order_number,
            "customer_id": buyers.get(item.buyer),
            "created_at": clock.now(),
            **item.order,
            "total": item.order["total"] or Decimal(0),
        }

    def _listings(self, items: Iterable[OrderItem]) -> dict[str, tuple[int, int]]:
        """Stock item and release by listing id: an item carries its listing's id."""
        numbers = [n for item in items if (n := fields.whole(item.item_number, fields.GREATEST_ID))]
        stored = StockItem.objects.filter(guild=self.guild, listing_id__in=any_of(numbers))
        rows = stored.values_list("listing_id", "pk", "release_id")
        return {str(listing): (pk, release) for listing, pk, release in rows}
