"""Customers, the orders that hold the pressings' past sales, and want lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from random import Random

from apps.shop import formats
from apps.shop.demo import names
from apps.shop.demo.copying import Row, reserve, send
from apps.shop.demo.generating import CENT, ago
from apps.shop.demo.pressings import PastSale, Pressing
from apps.shop.models import Customer, Sale, SaleItem, Want

MOST_CUSTOMERS = 20_000
FEE = Decimal("0.09")
POSTAGE = Decimal("4.50")
POSTAGE_EACH = Decimal("0.75")

Line = tuple[PastSale, Pressing]


@dataclass(frozen=True)
class Order:
    """Lines bought at once by one customer."""

    row_id: int
    number: int
    customer_id: int
    lines: Sequence[Line]


def send_customers(guild_id: int, rng: Random, *, items: int, at: datetime) -> list[int]:
    """One customer for ten items, each under a name of their own; their keys."""
    count = min(max(items // 10, 3), MOST_CUSTOMERS)
    ids = reserve(Customer, count)
    people = _people(rng, count)
    send(
        Customer,
        (
            {
                "id": row_id,
                "guild_id": guild_id,
                "name": name,
                "email": f"{name.lower().replace(' ', '.').replace('..', '.')}@example.com",
                "initials": formats.initials(name),
                "created_at": at,
            }
            for row_id, name in zip(ids, people, strict=True)
        ),
    )
    return ids


def _people(rng: Random, count: int) -> list[str]:
    middles = [""] if count <= 1000 else ["", *(f"{letter}. " for letter in "ABCDEFGHIJKLMNOPQRS")]
    everyone = [
        f"{given} {middle}{family}"
        for given in names.GIVEN
        for middle in middles
        for family in names.PEOPLE
    ]
    return rng.sample(everyone, count) if count <= len(everyone) else everyone


def send_orders(
    guild_id: int,
    rng: Random,
    batch: Sequence[Pressing],
    customers: Sequence[int],
    *,
    currency: str,
    first: int,
    at: datetime,
) -> int:
    """Write the batch's past sales as orders, oldest first; the next free order number."""
    groups = list(_groups(rng, batch))
    orders = [
        Order(row_id, first + place, rng.choice(customers), lines)
        for place, (row_id, lines) in enumerate(
            zip(reserve(Sale, len(groups)), groups, strict=True)
        )
    ]
    send(Sale, (_sale(guild_id, order, currency, at) for order in orders))
    send(SaleItem, (row for order in orders for row in _items(guild_id, order)))
    return first + len(orders)


def _groups(rng: Random, batch: Sequence[Pressing]) -> Iterator[list[Line]]:
    lines = [(sale, pressing) for pressing in batch for sale in pressing.sales]
    lines.sort(key=lambda line: (line[0].at, line[1].number))
    group: list[Line] = []
    room = 1
    for line in lines:
        if group and (len(group) >= room or not _fits(group[0][0], line[0])):
            yield group
            group = []
        if not group:
            room = rng.choices((1, 2, 3, 4), (62, 22, 10, 6))[0]
        group.append(line)
    if group:
        yield group


def _fits(first: PastSale, sale: PastSale) -> bool:
    same_day = first.at.date() == sale.at.date()
    return same_day and first.status == sale.status and not (first.alone or sale.alone)


def _sale(guild_id: int, order: Order, currency: str, at: datetime) -> Row:
    goods = sum((sale.price for sale, _ in order.lines), Decimal())
    shipping = POSTAGE + POSTAGE_EACH * len(order.lines)
    first = order.lines[0][0]
    return {
        "id": order.row_id,
        "guild_id": guild_id,
        "order_number": f"DEMO-{order.number}",
        "customer_id": order.customer_id,
        "ordered_at": first.at,
        "status_text": first.status,
        "state": formats.order_state(first.status),
        "total": goods + shipping,
        "shipping": shipping,
        "fee": (goods * FEE).quantize(CENT),
        "tax": Decimal(),
        "currency": currency,
        "created_at": at,
    }


def _items(guild_id: int, order: Order) -> Iterator[Row]:
    for at, (sale, pressing) in enumerate(order.lines):
        artist = " & ".join(formats.display_name(name) for name in pressing.artists)
        yield {
            "guild_id": guild_id,
            "sale_id": order.row_id,
            "item_number": f"{order.number}-{at + 1}",
            "release_id": pressing.row_id,
            "stock_item_id": sale.copy.row_id if sale.copy else None,
            "description": f"{artist} - {pressing.title} ({pressing.format_text})",
            "price": sale.price,
            "quantity": 1,
            "media_grade": sale.media,
            "sleeve_grade": "",
            "location": "",
            "external_id": "",
            "removed": False,
        }


def send_wants(
    guild_id: int,
    rng: Random,
    batch: Sequence[Pressing],
    customers: Sequence[int],
    *,
    midnight: datetime,
    at: datetime,
) -> None:
    """One release in eight is wanted, by up to three customers."""
    rows = [
        {
            "guild_id": guild_id,
            "release_id": pressing.row_id,
            "customer_id": customer_id,
            "notes": rng.choice(("", "", "any condition", "VG+ or better, please")),
            "status": rng.choices(Want.Status.values, (75, 18, 7))[0],
            "added_at": ago(midnight, rng.randint(1, 700), rng),
            "created_at": at,
        }
        for pressing in batch
        if rng.random() < 0.125
        for customer_id in rng.sample(customers, rng.choices((1, 2, 3), (70, 22, 8))[0])
    ]
    send(Want, rows)
