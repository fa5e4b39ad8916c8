"""Orders and order items: two exports, an order's total counted once.

Buyers' addresses stand in the files and are not kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.core import clock, money
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
from apps.shop.importers.pipeline import RowImport, file_name, fit_checkpoint, run_rows
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
    """Import orders, order items, or both. ``args``: path, items_path, currency, dry_run,
    replace_demo.

    Either file may come alone and is told by its columns. Counts are of rows of both files.
    """
    files = {job.file(): file_name(job)}
    if job.args.get("items_path"):
        items = Path(str(job.args["items_path"]))
        files[items] = items.name
    _check(files)
    terms = enter_shop(job.guild, {**job.args, "currency": "", "rate": ""})
    terms.currency = _given_currency(job)
    report = fit_checkpoint(job, *files)
    for at, (path, name) in enumerate(files.items()):
        _import_file(job, path, name, terms, report, part=f"file{at}")
    return report.to_json()


def _given_currency(job: JobRun) -> str:
    """What orders are in when the file does not say; most exports do."""
    text = str(job.args.get("currency") or "")
    try:
        return money.check_currency(text) if text else ""
    except money.PriceError as error:
        raise JobError(f"Currency: {error}.") from None


def _check(files: dict[Path, str]) -> None:
    """Open every file before a row is written or a demo row deleted."""
    kinds = []
    for path, name in files.items():
        with open_table(path, ORDERS, ORDER_ITEMS, name=name) as table:
            kinds.append(table.kind)
    if len(kinds) == 2 and kinds != [ORDERS, ORDER_ITEMS]:
        raise JobError("Name the orders export first, the order items export second.")


def _import_file(
    job: JobRun, path: Path, name: str, terms: Terms, report: Report, *, part: str
) -> None:
    with open_table(path, ORDERS, ORDER_ITEMS, name=name) as table:
        currency = terms.shop_currency or first_currency(table) or terms.currency
        terms.shop_currency = currency
        work = OrdersImport if table.kind is ORDERS else OrderItemsImport
        run_rows(job, work(terms, table, report), currency=currency, part=part)
