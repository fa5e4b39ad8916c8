"""What the shop's read tools take. Hints say which part of a question fills a field."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from apps.core.tools import ToolArgs

GREATEST_ID = 2**63 - 1
GREATEST_PRICE = Decimal("9999999999")

Text = Annotated[str, Field(max_length=200)]
Name = Annotated[str, Field(max_length=100)]
Price = Annotated[Decimal, Field(ge=0, le=GREATEST_PRICE)]
RowId = Annotated[int, Field(ge=1, le=GREATEST_ID)]


def _hint(
    fills: str, vocabulary: str = "", *, words: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    hint: dict[str, Any] = {"fills": fills}
    if vocabulary:
        hint["vocabulary"] = vocabulary
    if words:
        hint["words"] = words
    return hint


# Under which words staff ask for a choice, besides its own name.
ORDERS = {
    "age": [
        "slow", "slowest", "slow moving", "longest", "stalest", "dead", "gathering dust",
        "shelf warmers", "stuck", "sitting longest", "oldest stock", "longest unsold", "oldest",
        "oldest first", "longest first", "slowest first",
    ],
    "listed": [
        "oldest listing", "oldest listings", "first listed", "listed first", "by date",
        "by listing date", "date listed",
    ],
    "-listed": [
        "arrivals", "just in", "new in", "fresh in", "latest additions", "newly listed",
        "recently listed", "last listed", "recently added", "just listed",
    ],
    "artist": [
        "a to z", "a-z", "alphabetical", "alphabetically", "alphabetical order",
    ],
}  # fmt: skip
EVERY_STATUS = {
    "false": [
        "including sold", "include sold", "with sold", "sold as well", "sold and unsold",
        "sold or unsold", "unsold and sold", "both sold", "sold too", "sold also",
        "sold included", "sold or not", "sold ones too", "sold copies included",
        "sold copies too", "sold items too", "sold ones included", "even sold", "and sold",
        "already sold", "plus sold", "also sold", "whether sold", "any status", "every status",
        "all statuses", "whatever status", "whatever the status", "whatever its status",
        "regardless of status", "not just in stock", "in stock or not",
        "whether or not in stock", "whether in stock", "in stock or sold", "not only in stock",
        "drafts", "draft", "ever had", "ever stocked", "ever listed", "out of stock",
        "no longer in stock", "sold out", "expired",
    ]
}  # fmt: skip
STATUSES = {
    "open": [
        "outstanding", "unfilled", "unfulfilled", "still waiting", "still looking", "still want",
        "still wants", "still wanted", "still after", "still open", "pending", "not filled",
        "not yet filled", "haven't filled", "not found yet", "active", "unmet", "unanswered",
    ],
    "filled": [
        "fulfilled", "satisfied", "completed", "found for them", "done", "closed", "delivered",
        "already found", "already filled",
    ],
    "dropped": [
        "given up", "abandoned", "cancelled", "canceled", "withdrawn", "no longer wanted",
        "no longer want", "no longer wants", "called off", "lost interest", "gave up",
    ],
}  # fmt: skip


class StockSearch(ToolArgs):
    """Which stock items to list. What is left out does not restrict."""

    q: Text | None = Field(
        None,
        description="Words found in artist, title, label or catalogue number",
        json_schema_extra=_hint("text"),
    )
    genre: Name | None = Field(
        None,
        description="Genre, in any spelling: Electronic, hip hop",
        json_schema_extra=_hint("vocabulary", "genre"),
    )
    style: Name | None = Field(
        None,
        description="Style, in any spelling: Drum n Bass, DnB, techno",
        json_schema_extra=_hint("vocabulary", "style"),
    )
    format: Name | None = Field(
        None,
        description='Carrier anywhere in the set: LP, 12", 7", CD, Cassette, or vinyl for all',
        json_schema_extra=_hint("vocabulary", "format"),
    )
    grade_min: Name | None = Field(
        None,
        description="Lowest media grade: M, NM, VG+, VG, G+, G, F, P",
        json_schema_extra=_hint("vocabulary", "grade"),
    )
    price_min: Price | None = Field(
        None,
        description="Least price, itself included unless exclude_min",
        json_schema_extra=_hint("money:min"),
    )
    price_max: Price | None = Field(
        None,
        description="Price below which items are listed: 'under 10' leaves out 10.00",
        json_schema_extra=_hint("money:max"),
    )
    include_max: bool = Field(
        False,
        description="True for 'up to' or 'at most': price_max itself belongs",
        json_schema_extra=_hint("money:max:included"),
    )
    exclude_min: bool = Field(
        False,
        description="True for 'over' or 'more than': price_min itself is left out",
        json_schema_extra=_hint("money:min:excluded"),
    )
    in_stock: bool = Field(
        True,
        description="Only items for sale with copies left; false lists every status",
        json_schema_extra=_hint("flag", words=EVERY_STATUS),
    )
    not_sold_days: Annotated[int, Field(ge=1, le=36500)] | None = Field(
        None,
        description="No sale of the release, and listed, at least this many days ago",
        json_schema_extra=_hint("days"),
    )
    sort: Literal["price", "-price", "listed", "-listed", "artist", "age"] | None = Field(
        None,
        description="Order; '-' is greatest or newest first; age is longest unsold first",
        json_schema_extra=_hint("choice", words=ORDERS),
    )
    limit: Annotated[int, Field(ge=1, le=200)] = Field(
        50, description="Rows to return; totals cover every match", json_schema_extra=_hint("limit")
    )


class ReleaseLookup(ToolArgs):
    """Which release: by number, or by words."""

    release_id: RowId | None = Field(
        None,
        description="Discogs release number, or the shop's own",
        json_schema_extra=_hint("id:release"),
    )
    q: Text | None = Field(
        None,
        description="Words found in artist, title, label or catalogue number",
        json_schema_extra=_hint("text"),
    )


class StockForRelease(ToolArgs):
    """Which release's copies."""

    release_id: RowId = Field(
        description="Discogs release number, or the shop's own",
        json_schema_extra=_hint("id:release"),
    )


class SalesSummary(ToolArgs):
    """Which days, both included, in the shop's time zone; left out means open."""

    date_from: date | None = Field(
        None, description="First day, included", json_schema_extra=_hint("date:from")
    )
    date_to: date | None = Field(
        None, description="Last day, included", json_schema_extra=_hint("date:to")
    )
    group_by: Literal["day", "week", "month", "genre", "format"] | None = Field(
        None, description="One row per what", json_schema_extra=_hint("choice")
    )


class CustomerWants(ToolArgs):
    """Which want list entries."""

    release_id: RowId | None = Field(
        None,
        description="Discogs release number, or the shop's own",
        json_schema_extra=_hint("id:release"),
    )
    genre: Name | None = Field(
        None,
        description="Genre, in any spelling",
        json_schema_extra=_hint("vocabulary", "genre"),
    )
    status: Literal["open", "filled", "dropped"] | None = Field(
        None,
        description="Only wants of this status",
        json_schema_extra=_hint("choice", words=STATUSES),
    )


class CatalogHealth(ToolArgs):
    """Nothing to choose: the whole catalogue is counted."""
