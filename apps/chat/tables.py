"""A stored result as a page shows it: formatted cells, sorted rows, links to where rows open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from apps.core.money import format_money

NUMBERS = frozenset({"money", "number", "date", "datetime", "days", "percent"})
TOTALS = (
    ("copies", "copies"),
    ("sum", "together"),
    ("least", "from"),
    ("greatest", "to"),
)
# A panel is narrow: where a result has more columns, these stay in the copies and the row's drawer.
WIDEST = 7
MINOR = frozenset(
    {"label", "catno", "sleeve", "quantity", "location", "last_sold", "country", "genres", "status"}
)
# These leave first as the panel narrows.
NARROW = frozenset({"format", "listed"})
DRAWERS = frozenset({"stock", "release", "sale", "want"})


@dataclass(frozen=True)
class Cell:
    text: str
    number: bool = False
    code: bool = False
    minor: bool = False


@dataclass(frozen=True)
class Heading:
    label: str
    number: bool
    sorted: str
    href: str
    minor: bool = False


@dataclass(frozen=True)
class Row:
    cells: Sequence[Cell]
    href: str
    anchor: str


@dataclass(frozen=True)
class Total:
    label: str
    text: str
    id: str


@dataclass(frozen=True)
class TableView:
    """Everything that ``chat/_table.html`` shows of one result."""

    id: str
    title: str
    count: str
    total: int
    columns: Sequence[Heading]
    rows: Sequence[Row]
    totals: Sequence[Total]
    cut: Sequence[str]
    left_out: Sequence[str]
    as_of: str
    link: str
    csv: str
    md: str


def table_view(
    run_id: UUID, result: Mapping[str, Any], *, sort: str = "", descending: bool = False
) -> TableView:
    """A table as ``agents.presentation`` lists it, sorted by one of its columns.

    Its anchors are those that the answer's figures link to: ``<run>-r1-sum``.
    """
    columns, left_out = fitting(result.get("columns") or [])
    rows = sorted_rows(result, sort=sort, descending=descending)
    currency, name = result.get("currency", ""), f"{run_id}-{result['id']}"
    total = result.get("total_rows") or len(rows)
    return TableView(
        id=name,
        title=result.get("title", ""),
        count=count_words(len(rows), total),
        total=total,
        columns=_headings(run_id, result, columns, sort=sort, descending=descending),
        rows=[_row(row, columns, currency, name) for row in rows],
        totals=_totals(result.get("totals") or {}, currency, name),
        cut=result.get("cut") or [],
        left_out=left_out,
        as_of=as_of_words(result.get("as_of", "")),
        link=local_link(result.get("link", "")),
        csv=reverse("chat:table-csv", args=[run_id, result["step_id"]]) + _query(sort, descending),
        md=reverse("chat:table-md", args=[run_id, result["step_id"]]) + _query(sort, descending),
    )


def fitting(
    columns: Sequence[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Columns for a panel: artist and title as one item, and no minor ones where there are many.

    The second list holds the labels of what was left out.
    """
    names = {column["name"] for column in columns}
    shown = list(columns)
    if {"artist", "title"} <= names:
        item = {"name": "artist", "label": "Item", "kind": "text", "beside": "title"}
        rest = [column for column in columns if column["name"] not in ("artist", "title")]
        shown = [item, *rest]
    if len(shown) <= WIDEST:
        return shown, []
    left_out = [column.get("label", "") for column in shown if column["name"] in MINOR]
    return [column for column in shown if column["name"] not in MINOR], left_out


def _query(sort: str, descending: bool) -> str:
    return f"?{urlencode({'sort': sort, 'dir': 'desc' if descending else 'asc'})}" if sort else ""


def count_words(shown: int, total: int) -> str:
    """``8 of 47 rows``, or ``47 rows`` when all are shown."""
    if total > shown:
        return f"{shown} of {total:,} rows"
    return f"{shown:,} row" if shown == 1 else f"{shown:,} rows"


def local_link(link: str) -> str:
    """A link of this house only: never another host."""
    return link if link.startswith("/") and not link.startswith(("//", "/\\")) else ""


def as_of_words(text: str) -> str:
    """``12 Nov 2026, 10:42 WET``: the instant in the guild's zone, with the zone named."""
    moment = _instant(text)
    if moment is None:
        return text
    local = timezone.localtime(moment)
    return f"{date_format(local, 'j M Y, H:i')} {local.tzname()}"


def sorted_rows(
    result: Mapping[str, Any], *, sort: str, descending: bool
) -> list[Mapping[str, Any]]:
    """Rows by one column; empty cells last whichever way."""
    rows = list(result.get("rows") or [])
    kinds = {column["name"]: column.get("kind", "text") for column in result.get("columns") or []}
    if sort not in kinds:
        return rows
    filled = [row for row in rows if row.get(sort) not in (None, "")]
    empty = [row for row in rows if row.get(sort) in (None, "")]
    filled.sort(key=lambda row: _sort_key(row[sort], kinds[sort]), reverse=descending)
    return filled + empty


def _sort_key(value: Any, kind: str) -> tuple[int, Any]:
    if kind in ("money", "number", "days", "percent"):
        number = as_decimal(value)
        return (1, str(value)) if number is None else (0, number)
    return (0, str(value).casefold())


def as_decimal(value: Any) -> Decimal | None:
    """The value as a number; None when it is not one."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _headings(
    run_id: UUID,
    result: Mapping[str, Any],
    columns: Sequence[Mapping[str, Any]],
    *,
    sort: str,
    descending: bool,
) -> list[Heading]:
    base = reverse("chat:table", args=[run_id, result["step_id"]])
    return [
        Heading(
            label=column.get("label") or column["name"],
            number=column.get("kind") in NUMBERS,
            sorted=_direction(column["name"], sort, descending),
            href=base + _query(column["name"], column["name"] == sort and not descending),
            minor=column["name"] in NARROW,
        )
        for column in columns
    ]


def _direction(name: str, sort: str, descending: bool) -> str:
    """What ``aria-sort`` says of a column."""
    if name != sort:
        return ""
    return "descending" if descending else "ascending"


def _row(
    row: Mapping[str, Any], columns: Sequence[Mapping[str, Any]], currency: str, name: str
) -> Row:
    cells = [
        Cell(
            text=_text(row, column, currency),
            number=column.get("kind") in NUMBERS,
            code=column.get("kind") == "code",
            minor=column["name"] in NARROW,
        )
        for column in columns
    ]
    ref = str(row.get("ref") or "")
    return Row(
        cells=cells, href=drawer_url(ref), anchor=f"{name}-{ref.replace(':', '-')}" if ref else ""
    )


def _text(row: Mapping[str, Any], column: Mapping[str, Any], currency: str) -> str:
    text = show(row.get(column["name"]), column.get("kind", "text"), currency)
    beside = row.get(column.get("beside", "")) or ""
    return f"{text} — {beside}" if beside and row.get(column["name"]) else str(beside or text)


def drawer_url(ref: str) -> str:
    """Where a row such as ``stock:42`` opens; empty for a kind without a drawer."""
    kind, _, key = ref.partition(":")
    if kind in DRAWERS and key.isdigit():
        return reverse("chat:drawer", args=[kind, int(key)])
    return ""


def show(value: Any, kind: str, currency: str) -> str:
    """A cell for people: money with its sign, dates as ``3 Feb 2025``, days as ``647 d``."""
    if value in (None, ""):
        return "–"
    if kind in ("date", "datetime"):
        return _show_date(str(value), kind)
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    number = as_decimal(value)
    if number is None or kind in ("text", "code"):
        return str(value)
    return _show_number(number, kind, currency)


def _show_number(number: Decimal, kind: str, currency: str) -> str:
    if kind == "money":
        return format_money(number, currency)
    plain = f"{number.normalize():,f}"
    return {"days": f"{plain} d", "percent": f"{plain} %"}.get(kind, plain)


def _show_date(text: str, kind: str) -> str:
    moment = _instant(text)
    if moment is not None and kind == "datetime":
        return date_format(timezone.localtime(moment), "j M Y, H:i")
    if moment is not None and "T" in text:
        return date_format(timezone.localtime(moment), "j M Y")
    try:
        return date_format(date.fromisoformat(text[:10]), "j M Y")
    except ValueError:
        return text


def _instant(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return timezone.make_aware(moment) if timezone.is_naive(moment) else moment


def _totals(totals: Mapping[str, Any], currency: str, name: str) -> list[Total]:
    shown = []
    for key, label in TOTALS:
        if totals.get(key) in (None, ""):
            continue
        kind = "number" if key == "copies" else "money"
        text = show(totals[key], kind, currency)
        shown.append(Total(label=label, text=text, id=f"{name}-{key}"))
    return shown
