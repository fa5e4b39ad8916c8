"""Orders and order items: two exports, an order's total counted once.

Buyers' addresses stand in the files and are not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.core import clock
from apps.jobs.errors import JobError
from apps.jobs.running import JobRun
from apps.shop.importers import fields
from apps.shop.importers.gate import Terms, enter_shop
from apps.shop.importers.order_fields import (
    customers_named,
    first_currency,
    order_currency,
    order_status,
)
from apps.shop.importers.order_items import OrderItemsImport
from apps.shop.importers.pipeline import RowImport, fit_checkpoint, run_rows
from apps.shop.importers.report import Report
from apps.shop.importers.table import ORDER_ITEMS, ORDERS, Row, open_table
from apps.shop.importers.upsert import upsert
from apps.shop.models import Sale

UPDATED = [
    "customer_id", "ordered_at", "status_text", "state", "total", "shipping", "fee", "tax",
    "currency",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Order:
    """A row of the orders file, read."""

    line: int
    number: str
    buyer: str
    values: dict[str, Any]


class OrdersImport(RowImport[Order]):
    def parse(self, row: Row) -> Order | None:
        number = row.get("order_num")
        if not number:
            self.skip(row, "order_num", "an order without a number can't be found again")
            return None
        total = fields.price(self, row, "total")
        if total is None:
            return None
        values = {
            "ordered_at": fields.moment(self, row, "order_date"),
            **order_status(self, row),
            "total": total,
            "shipping": fields.amount(self, row, "shipping"),
            "fee": fields.amount(self, row, "fee"),
            "tax": fields.amount(self, row, "tax"),
            "currency": order_currency(self, row),
        }
        return Order(row.line, number, row.get("buyer"), values)

    def write(self, items: Sequence[Order]) -> int:
        last = {item.number: item for item in items}
        buyers = customers_named(self.guild, {item.buyer for item in last.values()})
        rows = [
            {
                "guild_id": self.guild.pk,
                "order_number": item.number,
                "customer_id": buyers.get(item.buyer),
                "created_at": clock.now(),
                **item.values,
            }
            for item in last.values()
        ]
        key = ["guild_id", "order_number"]
        return sum(new for _, new in upsert(Sale, rows, key=key, update=UPDATED))

    def count_new(self, items: Sequence[Order]) -> int:
        numbers = {item.number for item in items}
        if self.terms.as_if_empty:
            return len(numbers)
        stored = Sale.objects.filter(guild=self.guild, order_number__in=list(numbers))
        return len(numbers - set(stored.values_list("order_number", flat=True)))


def import_orders(job: JobRun) -> dict[str, Any]:
    """Import orders, order items, or both. ``args``: path, items_path, dry_run, replace_demo.

    Either file may come alone and is told by its columns. Counts are of rows of both files.
    """
    paths = [job.file()]
    if job.args.get("items_path"):
        paths.append(Path(str(job.args["items_path"])))
    _check(paths)
    terms = enter_shop(job.guild, job.args)
    report = fit_checkpoint(job, *paths)
    for at, path in enumerate(paths):
        _import_file(job, path, terms, report, part=f"file{at}")
    return report.to_json()


def _check(paths: list[Path]) -> None:
    """Open every file before a row is written or a demo row deleted."""
    kinds = []
    for path in paths:
        with open_table(path, ORDERS, ORDER_ITEMS) as table:
            kinds.append(table.kind)
    if len(kinds) == 2 and kinds[1] is not ORDER_ITEMS:
        raise JobError(
            f"{paths[1].name} is an {kinds[1].name}; name the orders first, the items second."
        )


def _import_file(job: JobRun, path: Path, terms: Terms, report: Report, *, part: str) -> None:
    with open_table(path, ORDERS, ORDER_ITEMS) as table:
        currency = terms.shop_currency or first_currency(table)
        terms.shop_currency = currency
        work = OrdersImport if table.kind is ORDERS else OrderItemsImport
        run_rows(job, work(terms, table, report), currency=currency, part=part)
