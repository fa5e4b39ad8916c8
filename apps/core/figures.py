"""The figure ledger: every figure of an answer is linked to a tool result, or flagged.

A figure is a number with its kind: money, percent, date, days or count. It is linked only to
a value of the same kind in a result (or in the question), so that a small count does not
pass because some price happens to hold the same digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

Kind = Literal["money", "percent", "date", "days", "count"]
MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july",
         "aug august", "sep sept september", "oct october", "nov november", "dec december"), 1)
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_SIGN = r"(?:[A-Z]{2,3}|A|CA|NZ|R|MX)?[$€£¥]|(?:USD|EUR|GBP|JPY|AUD|CAD)\s"
_TOKEN = re.compile(
    rf"""
    (?P<iso>\b\d{{4}}-\d{{2}}-\d{{2}}\b)
  | (?P<day>\b\d{{1,2}}\s(?:{_MONTH})\.?(?:\s\d{{4}})?\b)
  | (?P<sign>{_SIGN})\s?(?P<amount>\d[\d,]*(?:\.\d+)?)
  | (?P<number>(?<![\w.\-/:#])\d[\d,]*(?:\.\d+)?)
    (?P<after>\s?%|\s?(?:days?|d)\b|\s?(?:USD|EUR|GBP|dollars|euros)\b|[″"'](?!\w)|(?![\w/:]))
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """One figure as written: where it stands in the text, its kind and value."""

    start: int
    end: int
    text: str
    kind: Kind
    value: Decimal | date
    whole: bool = True


@dataclass(frozen=True)
class Link:
    """A figure and the anchor of what it came from; no anchor means it was not found."""

    token: Token
    anchor: str = ""


@dataclass
class Ledger:
    """Values that an answer may state, by kind, each with the anchor of its source."""

    values: dict[str, dict[Any, str]] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)

    def add(self, kind: str, value: Any, anchor: str) -> None:
        if value is not None and value != "":
            self.values.setdefault(kind, {}).setdefault(value, anchor)

    def find(self, token: Token) -> str:
        """The anchor of a value of the token's kind; empty when there is none."""
        known = self.values.get(token.kind, {})
        if token.value in known:
            return known[token.value]
        if token.kind == "money" and token.whole:
            return _rounded(known, token.value)
        return ""


def _rounded(known: Mapping[Any, str], value: Any) -> str:
    for amount, anchor in known.items():
        if abs(amount - value) < 1 and round(amount) == value:
            return anchor
    return ""


def scan(text: str) -> list[Token]:
    """Figures of a text, in order. Citations, code and list numbers are not figures."""
    hidden = re.sub(r"\[[a-z]+:\d+\]|`[^`\n]*`", lambda match: " " * len(match[0]), text)
    hidden = re.sub(r"(?m)^\s*\d+[.)]\s", lambda match: " " * len(match[0]), hidden)
    return [token for match in _TOKEN.finditer(hidden) if (token := _token(match))]


def _token(match: re.Match[str]) -> Token | None:
    start, end = match.span()
    if match["iso"] or match["day"]:
        day = _date(match["iso"] or match["day"])
        return Token(start, end, match[0], "date", day) if day else None
    digits = match["amount"] or match["number"]
    try:
        value = Decimal(digits.replace(",", "").rstrip("."))
    except InvalidOperation:
        return None
    after = (match["after"] or "").strip().lower()
    kind = _kind(match, after, digits)
    if kind is None:
        return None
    if match["number"] and kind == "count":
        end = match.end("number")
    return Token(start, end, match[0][: end - start], kind, value, "." not in digits)


def _kind(match: re.Match[str], after: str, digits: str) -> Kind | None:
    if match["sign"] or after in {"usd", "eur", "gbp", "dollars", "euros"}:
        return "money"
    if after == "%":
        return "percent"
    if after in {"d", "day", "days"}:
        return "days"
    if after in {'"', "″", "'"}:
        return None
    return "money" if re.search(r"\.\d\d$", digits) else "count"


def _date(text: str) -> date | None:
    try:
        if "-" in text:
            return date.fromisoformat(text)
        day, month, *year = text.replace(".", "").lower().split()
        return date(int(year[0]) if year else 1, MONTHS[month], int(day))
    except (ValueError, KeyError):
        return None


def from_question(question: str) -> Ledger:
    """Figures that the person gave: repeating them is no claim."""
    ledger = Ledger()
    for token in scan(question):
        for kind in ("money", "percent", "days", "count", "date"):
            if kind == token.kind or {kind, token.kind} <= {"money", "days", "count"}:
                ledger.add(kind, token.value, "question")
    return ledger


def add_result(ledger: Ledger, result: Mapping[str, Any], anchor: str) -> None:
    """Add a tool result (as :mod:`apps.core.tools` returns it) under the anchor's name."""
    kind = result.get("kind")
    if kind == "table":
        _add_table(ledger, result, anchor)
    elif kind == "figure":
        _add_value(ledger, "number", result.get("value"), anchor)
        _add_value(ledger, "money", result.get("value"), anchor)
    for name in ("notes", "cut"):
        for text in result.get(name) or ():
            _add_words(ledger, str(text), anchor)
    for token in scan(str(result.get("text", "")) + " " + str(result.get("title", ""))):
        ledger.add(token.kind, token.value, anchor)


def _add_table(ledger: Ledger, result: Mapping[str, Any], anchor: str) -> None:
    rows: Sequence[Mapping[str, Any]] = result.get("rows") or ()
    ledger.add("count", Decimal(result.get("total_rows", len(rows))), f"{anchor}-n")
    ledger.add("count", Decimal(len(rows)), f"{anchor}-n")
    for name, value in (result.get("totals") or {}).items():
        where = f"{anchor}-n" if name == "rows" else f"{anchor}-{name}"
        _add_value(ledger, "money" if isinstance(value, str) else "number", value, where)
    kinds = {column["name"]: column["kind"] for column in result.get("columns") or ()}
    for row in rows:
        where = f"{anchor}-{str(row.get('ref', '')).replace(':', '-')}".rstrip("-")
        for name, column_kind in kinds.items():
            _add_value(ledger, column_kind, row.get(name), where)


_SAME_KIND = {"money": "money", "number": "count", "days": "days", "percent": "percent"}


def _add_value(ledger: Ledger, column_kind: str, value: Any, anchor: str) -> None:
    if value is None or value == "" or isinstance(value, bool):
        return
    if column_kind in {"date", "datetime"}:
        day = _date(str(value)[:10])
        if day:
            ledger.add("date", day, anchor)
            ledger.add("date", day.replace(year=1), anchor)
    elif column_kind in _SAME_KIND:
        try:
            ledger.add(_SAME_KIND[column_kind], Decimal(str(value).replace(",", "")), anchor)
        except InvalidOperation:
            ledger.texts.add(str(value).casefold())
    else:
        ledger.texts.add(str(value).casefold())


def _add_words(ledger: Ledger, text: str, anchor: str) -> None:
    for token in scan(text):
        ledger.add(token.kind, token.value, anchor)


def check(text: str, ledgers: Iterable[Ledger]) -> list[Link]:
    """Every figure of an answer with the anchor that proves it, or with none."""
    known = list(ledgers)
    names = {name for ledger in known for name in ledger.texts}
    links = []
    for token in scan(text):
        if _part_of_a_name(text, token, names):
            continue
        anchor = next((found for ledger in known if (found := ledger.find(token))), "")
        links.append(Link(token, anchor))
    return links


def _part_of_a_name(text: str, token: Token, names: set[str]) -> bool:
    """Whether the digits belong to a title or a name, such as ``Plot 19``, from a result."""
    before = re.search(r"[\w'’&]+[^\w\n]{0,2}$", text[: token.start])
    after = re.match(r"[^\w\n]{0,2}[\w'’&]+", text[token.end :])
    around = [(before[0] if before else "") + token.text, token.text + (after[0] if after else "")]
    wanted = [words.strip(" *_.,;:—").casefold() for words in around if words != token.text]
    return any(words in name for words in wanted for name in names if len(words) > 2)
