"""Fields of a row, read exactly or refused in words."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from apps.core import money
from apps.shop import formats
from apps.shop.importers.pipeline import RowImport
from apps.shop.importers.table import Row

GREATEST_ID = 2**63 - 1
GREATEST_COUNT = 2**31 - 1
GREATEST_PRICE = Decimal("9999999999.99")


def whole(text: str, greatest: int = GREATEST_COUNT) -> int | None:
    """A plain whole number from 0 to ``greatest``; None for anything else."""
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        return None
    number = int(text)
    return number if number <= greatest else None


def row_id(work: RowImport[Any], row: Row, field: str) -> int | None:
    """A Discogs id, or None with the row skipped and told."""
    number = whole(row.get(field), GREATEST_ID)
    if number:
        return number
    work.skip(row, field, "not a whole number above zero; look the id up on Discogs")
    return None


def price(work: RowImport[Any], row: Row, field: str) -> Decimal | None:
    """A price, or None with the row skipped and told."""
    try:
        return money.parse_price(row.get(field))
    except money.PriceError as error:
        work.skip(row, field, str(error))
        return None


def amount(work: RowImport[Any], row: Row, field: str) -> Decimal | None:
    """An amount that a row can do without: None when empty, or odd and told."""
    if not row.get(field):
        return None
    try:
        return money.parse_price(row.get(field))
    except money.PriceError as error:
        work.tell(row, field, f"{error}; left empty")
        return None


def count(work: RowImport[Any], row: Row, field: str) -> int | None:
    """A count that a row can do without: None when empty, or odd and told."""
    text = row.get(field)
    number = whole(text)
    if text and number is None:
        work.tell(row, field, "not a whole number; left empty")
    return number


def moment(work: RowImport[Any], row: Row, field: str) -> datetime | None:
    """An instant; without a zone it is read in the guild's. None when empty, or odd and told."""
    text = row.get(field)
    if not text:
        return None
    try:
        return formats.parse_moment(text, work.zone)
    except formats.MomentError as error:
        work.tell(row, field, f"{error}; the date was left empty")
        return None


def media_grade(work: RowImport[Any], row: Row, field: str) -> str:
    """A media grade as written; one that Discogs does not know is told."""
    grade = row.get(field)
    if grade not in formats.MEDIA_GRADES:
        why = "not a media grade of Discogs; kept as written" if grade else "no media grade given"
        work.tell(row, field, why)
    return grade


def sleeve_grade(work: RowImport[Any], row: Row, field: str) -> str:
    """A sleeve grade as written; one that Discogs does not know is told."""
    grade = row.get(field)
    if grade and grade not in formats.SLEEVE_GRADES:
        work.tell(row, field, "not a sleeve grade of Discogs; kept as written")
    return grade
