"""Small rows made by hand for the tools' tests."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from itertools import count
from typing import Any

from apps.guilds.models import Guild
from apps.shop.formats import carriers_of, grade_rank, order_state
from apps.shop.models import Customer, Release, Sale, SaleItem, StockItem

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
_numbers = count(1)


def release(guild: Guild, title: str = "Night Kilns", **fields: Any) -> Release:
    text = fields.pop("format_text", "LP, Album")
    usual = {"genres": ["Electronic"], "styles": ["Drum n Bass"], "artist_display": "Emberlin"}
    return Release.objects.create(
        guild=guild,
        title=title,
        format_text=text,
        carriers=list(carriers_of(text)),
        **(usual | fields),
    )


def item(of: Release, price: str = "8.00", **fields: Any) -> StockItem:
    grade = fields.setdefault("media_grade", "Very Good Plus (VG+)")
    usual = {"listed_at": datetime(2026, 1, 1, tzinfo=UTC), "currency": "USD"}
    return StockItem.objects.create(
        guild=of.guild,
        release=of,
        price=Decimal(price),
        media_rank=grade_rank(grade),
        **(usual | fields),
    )


def sale(
    guild: Guild,
    at: datetime | None,
    *lines: tuple[Release | None, str],
    status: str = "Shipped",
    **fields: Any,
) -> Sale:
    """An order with a line per release and price."""
    goods = sum((Decimal(price) for _, price in lines), Decimal())
    made = Sale.objects.create(
        guild=guild,
        order_number=f"T-{next(_numbers)}",
        ordered_at=at,
        status_text=status,
        state=order_state(status),
        **({"total": goods, "currency": "USD"} | fields),
    )
    for of, price in lines:
        SaleItem.objects.create(
            guild=guild, sale=made, release=of, price=Decimal(price), description="a record"
        )
    return made


def customer(guild: Guild, name: str = "Hestrin Foxhallow") -> Customer:
    letters = "".join(word[0] for word in name.split())
    return Customer.objects.create(
        guild=guild, name=name, email="someone@example.com", initials=letters
    )
