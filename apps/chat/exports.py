"""A result as CSV or Markdown to take along, without anything that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .tables import show, sorted_rows

# A spreadsheet takes a cell that begins with one of these for a formula, wide forms included.
FORMULA = re.compile(r"^\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
PLAIN_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
BOM = "\ufeff"


def safe_cell(value: Any) -> str:
    """Text that a spreadsheet shows and never runs: a leading apostrophe disarms formulas."""
    text = "" if value is None else _flat(value)
    if PLAIN_NUMBER.fullmatch(text) or not FORMULA.match(text):
        return text
    return f"'{text}"


def to_csv(
    result: Mapping[str, Any], *, sort: str = "", descending: bool = False, bom: bool = False
) -> str:
    """RFC 4180: CRLF, a header, quotes where needed. Amounts are bare, their currency is named."""
    columns = result.get("columns") or []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe_cell(heading(column, result.get("currency", ""))) for column in columns])
    for row in sorted_rows(result, sort=sort, descending=descending):
        writer.writerow([safe_cell(row.get(column["name"])) for column in columns])
    return (BOM if bom else "") + out.getvalue()


def heading(column: Mapping[str, Any], currency: str) -> str:
    """A column's label; money names its currency."""
    label = str(column.get("label") or column["name"])
    return f"{label} ({currency})" if column.get("kind") == "money" and currency else label


def to_markdown(result: Mapping[str, Any], *, sort: str = "", descending: bool = False) -> str:
    """A table of Markdown; what could be markup is escaped, so nothing of a row is rendered."""
    columns: Sequence[Mapping[str, Any]] = result.get("columns") or []
    currency = result.get("currency", "")
    number = {"money", "number", "days", "percent"}
    lines = [
        _line([_escape(str(column.get("label") or column["name"])) for column in columns]),
        _line(["---:" if column.get("kind") in number else "---" for column in columns]),
    ]
    for row in sorted_rows(result, sort=sort, descending=descending):
        cells = [show(row.get(c["name"]), c.get("kind", "text"), currency) for c in columns]
        lines.append(_line([_escape(cell) for cell in cells]))
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", " ".join(text.split()))


def _flat(value: Any) -> str:
    return ", ".join(str(part) for part in value) if isinstance(value, list) else str(value)
