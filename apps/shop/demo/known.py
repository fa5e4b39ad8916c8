"""Pressings made by hand around one question: which drum and bass 12"s under 10 have not sold
in 90 days. Some belong to the answer; the others miss it on one condition alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from apps.shop.demo import names
from apps.shop.demo.pressings import LADDER, Copy, PastSale, Pressing

DNB = "Drum n Bass"


@dataclass(frozen=True)
class Known:
    """A pressing and why it does or does not belong. ``sold`` is days ago, status."""

    why: str
    belongs: bool
    price: str = "7.99"
    format_text: str = '12"'
    styles: tuple[str, ...] = (DNB,)
    listed_days: int = 200
    sold: tuple[tuple[int, str], ...] = ()
    status: str = "For Sale"
    quantity: int = 1
    edited_days: int = 0
    media: str = "Very Good Plus (VG+)"


HIT = Known("plain: listed long ago, never sold", belongs=True)
MISS = replace(HIT, belongs=False)

KNOWN = (
    HIT,
    replace(HIT, why="a cent under ten", price="9.99"),
    replace(HIT, why="listed 91 days ago", listed_days=91),
    replace(HIT, why="listed 90 days ago to the day", listed_days=90),
    replace(HIT, why="edited yesterday, listed a year ago", listed_days=365, edited_days=1),
    replace(HIT, why="last sold 91 days ago", listed_days=365, sold=((91, "Shipped"),)),
    replace(
        HIT,
        why="an order of last week was cancelled",
        listed_days=365,
        sold=((7, "Cancelled (Non-Paying Buyer)"),),
    ),
    replace(
        HIT, why="a sale of last week was refunded", listed_days=365, sold=((7, "Refund Sent"),)
    ),
    replace(HIT, why="an order of last week is not paid", sold=((6, "Invoice Sent"),)),
    replace(HIT, why="two 12s", format_text='2x12", Album'),
    replace(HIT, why='a 12" beside an LP', format_text='LP, Album + 12", EP'),
    replace(HIT, why="two styles", styles=("Jungle", DNB), price="4.50"),
    replace(HIT, why="three copies", quantity=3, price="3.00"),
    replace(HIT, why="worn", media="Good (G)", price="1.00"),
    replace(MISS, why="exactly ten", price="10.00"),
    replace(MISS, why="a cent over ten", price="10.01"),
    replace(MISS, why='a 7"', format_text='7", Single'),
    replace(MISS, why="an LP", format_text="LP, Album"),
    replace(MISS, why='a 10"', format_text='10", EP'),
    replace(MISS, why="a CD", format_text="CD, Album"),
    replace(MISS, why="another style", styles=("Jungle",)),
    replace(MISS, why="no style", styles=()),
    replace(MISS, why="listed 89 days ago", listed_days=89),
    replace(MISS, why="last sold 89 days ago", listed_days=365, sold=((89, "Shipped"),)),
    replace(
        MISS, why="sold last week", listed_days=365, sold=((400, "Shipped"), (7, "Shipped"))
    ),
    replace(MISS, why="paid last week", listed_days=365, sold=((7, "Payment Received"),)),
    replace(MISS, why="in progress", listed_days=365, sold=((2, "In Progress"),)),
    replace(
        MISS, why="sold a year ago, listed again last month", listed_days=30,
        sold=((365, "Shipped"),),
    ),
    replace(MISS, why="a draft", status="Draft"),
    replace(MISS, why="sold", status="Sold"),
    replace(MISS, why="expired", status="Expired"),
    replace(MISS, why="no copy left", quantity=0),
)  # fmt: skip


def pressings(rng: Random, *, first: int, midnight: datetime) -> Iterator[Pressing]:
    """The known pressings, numbered from ``first`` in the order of :data:`KNOWN`."""
    for at, known in enumerate(KNOWN):
        yield _pressing(rng, known, first + at, midnight)


def _pressing(rng: Random, known: Known, number: int, midnight: datetime) -> Pressing:
    label = rng.choice(names.LABELS)
    price, value = Decimal(known.price), Decimal("0.65") * LADDER[known.media]
    copy = Copy(
        price=price,
        media=known.media,
        sleeve="Generic",
        status=known.status,
        quantity=known.quantity,
        listed_at=midnight - timedelta(days=known.listed_days),
        edited_at=midnight - timedelta(days=known.edited_days or known.listed_days),
        location=f"K{rng.randint(1, 40)}",
        market_value=value,
    )
    return Pressing(
        number=number,
        title=names.title(rng),
        artists=[names.artist(rng, "Electronic")],
        labels=[(label, names.catalogue_number(rng, label))],
        format_text=known.format_text,
        genres=["Electronic"],
        styles=list(known.styles),
        country="UK",
        released=str(rng.randint(1993, 2012)),
        tracks=[("A", names.title(rng), "6:12"), ("B", names.title(rng), "5:48")],
        copies=[copy],
        sales=[
            PastSale(midnight - timedelta(days=days), price, known.media, status, alone=True)
            for days, status in known.sold
        ],
    )
