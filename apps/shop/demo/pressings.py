"""What a demo release is before it becomes rows: the pressing, its copies and its past sales."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from apps.shop.formats import MEDIA_GRADES

# The price of each grade, in steps: Mint is 19 steps, Poor is one.
LADDER = dict(zip(MEDIA_GRADES, (19, 17, 13, 9, 5, 3, 2, 1), strict=True))
GRADE_WEIGHTS = (3, 27, 38, 18, 8, 4, 1, 1)


@dataclass
class Copy:
    """One listing of a pressing."""

    price: Decimal
    media: str
    listed_at: datetime
    sleeve: str = ""
    status: str = "For Sale"
    quantity: int = 1
    edited_at: datetime | None = None
    location: str = ""
    comments: str = ""
    market_value: Decimal | None = None
    lowest_competitor: Decimal | None = None
    cost: Decimal | None = None
    row_id: int = 0


@dataclass
class PastSale:
    """One line of an order. ``alone`` keeps it in an order of its own."""

    at: datetime
    price: Decimal
    media: str
    status: str
    copy: Copy | None = None
    alone: bool = False


@dataclass
class Pressing:
    """A release with everything that hangs on it; ``artists`` and labels as Discogs writes them."""

    number: int
    title: str
    artists: list[str]
    labels: list[tuple[str, str]]
    format_text: str
    genres: list[str]
    styles: list[str]
    country: str = ""
    released: str = ""
    tracks: list[tuple[str, str, str]] = field(default_factory=list)
    identifiers: list[tuple[str, str]] = field(default_factory=list)
    has_master: bool = True
    has_image: bool = True
    copies: list[Copy] = field(default_factory=list)
    sales: list[PastSale] = field(default_factory=list)
    row_id: int = 0
