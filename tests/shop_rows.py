"""A small shop, written by hand, for tests of pages."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from apps.core import clock
from apps.guilds.models import Guild
from apps.shop.models import Customer, Release, Sale, SaleItem, Shop, StockItem, Want

TITLES = (
    ("Marrow & Pine", "Weathervane", "Brickfield", "BRK 404", "LP", "6.50", 647),
    ("Halden Row", "Nine Bridges", "Pier Nine", "PN-07", '7"', "3.00", 631),
    ("Odalys Fenn", "Kitchen Light", "Small Hours", "SH 33", "CD", "4.50", 611),
    ("Copper Weather", "Ferry Songs", "Brickfield", "BRK 391", "LP", "5.00", 594),
    ("Substation 9", "Low Voltage", "Fathom Wax", "FW 012", '12"', "8.50", 575),
    ("Night Allotment", "Plot 19", "Small Hours", "SH 19", '7"', "2.79", 532),
    ("Juno Abara", "Bright Errand", "Pier Nine", "PN-11", "CD", "24.00", 20),
)


def make_shop(guild: Guild, *, is_demo: bool = False, copies: int = 1) -> list[StockItem]:
    """Seven items of seven releases, one order, one want. ``copies`` repeats the items."""
    Shop.objects.create(guild=guild, currency="USD", is_demo=is_demo)
    items = [make_item(guild, *row, number=n) for n in range(copies) for row in TITLES]
    buyer = Customer.objects.create(guild=guild, name="Wren Aldous", initials="WA")
    make_sale(guild, items[-1], buyer)
    Want.objects.create(guild=guild, release=items[0].release, customer=buyer, notes="any press")
    return items


def make_item(
    guild: Guild, artist: str, title: str, label: str, catno: str, carrier: str,
    price: str, age: int, *, number: int = 0, **changes: Any,
) -> StockItem:  # fmt: skip
    release, _ = Release.objects.get_or_create(
        guild=guild, artist_display=artist, title=title,
        defaults={
            "artist_match": artist, "label_display": label, "catno_display": catno,
            "format_text": f"{carrier}, Album", "carriers": [carrier], "year": 1998,
            "genres": ["Electronic"], "styles": ["Drum n Bass"],
        },
    )  # fmt: skip
    values: dict[str, Any] = {
        "price": Decimal(price), "currency": "USD", "media_grade": "Very Good Plus (VG+)",
        "sleeve_grade": "Very Good (VG)", "media_rank": 6, "location": f"B-{number:02}",
        "listed_at": clock.now() - timedelta(days=age),
    }  # fmt: skip
    return StockItem.objects.create(guild=guild, release=release, **{**values, **changes})


def make_sale(guild: Guild, item: StockItem, buyer: Customer) -> Sale:
    sale = Sale.objects.create(
        guild=guild, order_number="77-1", customer=buyer, ordered_at=clock.now(),
        status_text="Shipped", state=Sale.State.COMPLETED, total=item.price, currency="USD",
    )  # fmt: skip
    SaleItem.objects.create(
        guild=guild, sale=sale, release=item.release, stock_item=item, price=item.price
    )
    return sale
