"""What orders and order items have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from apps.core import clock, money
from apps.guilds.models import Guild
from apps.shop.formats import UNKNOWN_STATE, initials, order_state
from apps.shop.importers.pipeline import RowImport
from apps.shop.importers.table import Row, Table
from apps.shop.importers.upsert import upsert
from apps.shop.models import Customer


def order_status(work: RowImport[Any], row: Row) -> dict[str, str]:
    """The status as written and what it means; one that Discogs' list lacks is told."""
    text = row.get("status")
    state = order_state(text)
    if state == UNKNOWN_STATE:
        work.tell(row, "status", "not an order status known here; kept, and counted nowhere")
    return {"status_text": text, "state": state}


def order_currency(work: RowImport[Any], row: Row) -> str:
    """The order's currency, else the import's, else the shop's; another one is told."""
    shop = work.terms.shop_currency
    if not row.get("currency"):
        return work.terms.currency or shop
    try:
        code = money.check_currency(row.get("currency"))
    except money.PriceError as error:
        work.tell(row, "currency", f"{error}; left empty")
        return ""
    if shop and code != shop:
        work.tell(row, "currency", f"the shop counts in {shop}; the order is kept in {code}")
    return code


def first_currency(table: Table) -> str:
    """The currency that the first row names, which an empty shop takes; empty when none."""
    row = next(table.rows(), None)
    try:
        return money.check_currency(row.get("currency")) if row else ""
    except money.PriceError:
        return ""


def customers_named(guild: Guild, names: Iterable[str]) -> dict[str, int]:
    """Customer id by name, made where there is none; an empty name is nobody."""
    wanted = sorted({name for name in names if name})
    rows = [
        {
            "guild_id": guild.pk,
            "name": name,
            "email": "",
            "initials": initials(name),
            "created_at": clock.now(),
        }
        for name in wanted
    ]
    upsert(Customer, rows, key=["guild_id", "name"])
    found = Customer.objects.filter(guild=guild, name__in=wanted)
    return dict(found.values_list("name", "pk"))
