"""What the record trade writes, read exactly: no Django, no guesses.

A word that is not known is kept verbatim and left to the caller to report.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from apps.shop.format_strings import (
    CARRIER_NAMES,
    VINYL,
    FormatPart,
    carrier_of,
    carriers_of,
    parse_format,
)

__all__ = [
    "CARRIER_NAMES",
    "MEDIA_GRADES",
    "ORDER_STATES",
    "SLEEVE_GRADES",
    "STOCK_STATUSES",
    "UNKNOWN_STATE",
    "VINYL",
    "FormatPart",
    "MomentError",
    "carrier_of",
    "carriers_of",
    "display_name",
    "fold",
    "grade_rank",
    "grade_short",
    "initials",
    "order_state",
    "parse_format",
    "parse_moment",
    "year_of",
]

MEDIA_GRADES = {
    "Mint (M)": 8,
    "Near Mint (NM or M-)": 7,
    "Very Good Plus (VG+)": 6,
    "Very Good (VG)": 5,
    "Good Plus (G+)": 4,
    "Good (G)": 3,
    "Fair (F)": 2,
    "Poor (P)": 1,
}
SLEEVE_GRADES = frozenset(MEDIA_GRADES) | {"Generic", "Not Graded", "No Cover"}
STOCK_STATUSES = frozenset({"For Sale", "Draft", "Sold", "Expired"})
ORDER_STATES = {
    "New Order": "open",
    "Buyer Contacted": "open",
    "Invoice Sent": "open",
    "Payment Pending": "open",
    "Payment Received": "completed",
    "In Progress": "completed",
    "Shipped": "completed",
    "Refund Sent": "refunded",
    "Cancelled (Non-Paying Buyer)": "cancelled",
    "Cancelled (Item Unavailable)": "cancelled",
    "Cancelled (Per Buyer's Request)": "cancelled",
}
UNKNOWN_STATE = "unknown"

_SHORT = ("P", "F", "G", "G+", "VG", "VG+", "NM", "M")
_SUFFIX = re.compile(r"(?<=\S) \(\d+\)(?=$|\*|,| [/&+x]| (?:feat|ft|vs|with|and)\b)", re.IGNORECASE)
_VARIATION = re.compile(r"(?<=\S)\*(?=$|,| )")
_DATE = re.compile(r"(\d{4})(?:-\d{2}){0,2}")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?)?")


class MomentError(ValueError):
    """The text is no date and time that can be read in only one way."""


def fold(text: str) -> str:
    """Lower-case words without accents or doubled spaces: what search compares."""
    if text.isascii():
        return " ".join(text.lower().split())
    plain = unicodedata.normalize("NFKD", text)
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).casefold().split())


def display_name(name: str) -> str:
    """An artist's or label's name for people: without " (2)" and the variation mark ``*``.

    Several names joined in one text each lose theirs. Matching uses the name as written.
    """
    if "(" not in name and "*" not in name:
        return name.strip()
    shown = _VARIATION.sub("", _SUFFIX.sub("", name.strip()))
    return shown or name.strip()


def initials(name: str) -> str:
    """At most three capitals of a buyer's name, ``?`` for none: all that a tool may show."""
    words = re.findall(r"[^\W\d_]+", name)
    return "".join(word[0].upper() for word in words[:3]) or "?"


def grade_rank(grade: str) -> int | None:
    """8 for Mint down to 1 for Poor; None for anything but an exact media grade."""
    return MEDIA_GRADES.get(grade)


def grade_short(grade: str) -> str:
    """``VG+`` for an exact media grade; any other text as it is."""
    rank = MEDIA_GRADES.get(grade)
    return grade if rank is None else _SHORT[rank - 1]


def order_state(status: str) -> str:
    """What an order status means for sales; ``unknown`` when Discogs' list lacks it."""
    return ORDER_STATES.get(status.strip(), UNKNOWN_STATE)


def year_of(released: str) -> int | None:
    """The year of a partial date (``1999-03-00``, ``2012``); None for ``0``, empty or odd text."""
    match = _DATE.fullmatch(released.strip())
    year = int(match[1]) if match else 0
    return year if 1850 <= year <= 2200 else None


def parse_moment(text: str, zone: ZoneInfo) -> datetime:
    """An instant in UTC; a time without a zone is read in ``zone``.

    Spreadsheets write ``23/04/2023 04:38``: taken when only one order of day and month is
    possible, else :class:`MomentError`.
    """
    raw = text.strip()
    try:
        moment = datetime.fromisoformat(raw)
    except ValueError:
        moment = _slashed(raw, zone)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise MomentError("not a date of any real listing") from None


def _slashed(raw: str, zone: ZoneInfo) -> datetime:
    match = _SLASHED.fullmatch(raw)
    if match is None:
        raise MomentError("not a date such as 2026-08-25 07:04:22")
    first, second, year, hour, minute, second_of = (int(part or 0) for part in match.groups())
    if first <= 12 and second <= 12 and first != second:
        raise MomentError("day and month can't be told apart; write 2026-08-25 07:04:22")
    month, day = (second, first) if second <= 12 else (first, second)
    try:
        return datetime(year, month, day, hour, minute, second_of, tzinfo=zone)
    except ValueError:
        raise MomentError("no such day or hour in the calendar") from None
