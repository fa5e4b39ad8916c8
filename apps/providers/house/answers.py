"""An answer composed from results: every figure and name in it stands in a result.

Text of rows is data. It is shown with brackets and Markdown signs defused, so a row can't cite
another row, link anywhere, or pass for words of the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.core.money import format_money
from apps.providers.house.transcript import Outcome

NAMED_ROWS = 3
LONGEST_CELL = 80
_AMOUNT = re.compile(r"-?\d+\.\d\d")
_REF = re.compile(r"^[a-z_]{1,30}:[\w.-]{1,60}$")


def compose(outcomes: Sequence[Outcome], question: str, readings: Sequence[str]) -> str:
    """The answer in Markdown: one part per result, then how terms were read."""
    parts = [_part(outcome, question) for outcome in outcomes]
    text = "\n\n".join(part for part in parts if part)
    told = " ".join(_notes(outcomes, readings))
    return f"{text}\n\n{told}".strip() if told else text


def _part(outcome: Outcome, question: str) -> str:
    result = outcome.result
    if result is None:
        return "The lookup came back with nothing I can read. Ask again, or narrow the question."
    kinds = {"table": _table, "figure": _figure, "text": _text}
    writer = kinds.get(str(result.get("kind")))
    return writer(result, question) if writer else _error(result)


def _error(result: Mapping[str, Any]) -> str:
    why = plain(str(result.get("error") or result.get("message") or "no reason was given"), 300)
    return f"That lookup did not work: {why.rstrip('.')}. Nothing was changed."


def _text(result: Mapping[str, Any], question: str) -> str:
    return f"{plain(str(result.get('text', '')), 2000)}{_cite(result)}"


def _figure(result: Mapping[str, Any], question: str) -> str:
    unit = f" {plain(str(result['unit']), 40)}" if result.get("unit") else ""
    value = plain(str(result.get("value", "")), 80)
    return f"{plain(str(result.get('label', '')), 120)}: **{value}**{unit}{_cite(result)}."


def _table(result: Mapping[str, Any], question: str) -> str:
    total = _whole(result.get("total_rows"))
    title = plain(str(result.get("title") or "Result"), 160)
    if not total:
        return (
            f"Nothing found in {_lower_first(title)}. Try a looser question: "
            "a wider price or span of days, another spelling, or one condition less."
        )
    head = f"**{total:,}** {'row' if total == 1 else 'rows'} in {_lower_first(title)}."
    totals = _totals(result)
    sentences = [head, f"{_upper_first(totals)}." if totals else ""]
    sentences += [_rows(result, total)] if result.get("rows") else []
    return " ".join(sentence for sentence in sentences if sentence)


def _lower_first(title: str) -> str:
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _totals(result: Mapping[str, Any]) -> str:
    totals = result.get("totals")
    totals = dict(totals) if isinstance(totals, Mapping) else {}
    currency = str(result.get("currency") or "")
    totals.pop("rows", None)
    for twin in ("sum", "copies"):
        # The same value under a name of the tool's own is told once, by that name.
        others = [value for name, value in totals.items() if name != twin]
        if twin in totals and totals[twin] in others:
            totals.pop(twin)
    least, greatest = totals.pop("least", None), totals.pop("greatest", None)
    ordered = sorted(totals.items(), key=_weight, reverse=True)
    said = [_total(name, value, currency) for name, value in ordered]
    if least is not None and greatest is not None:
        said.append(_between(least, greatest, currency))
    return ", ".join(part for part in said if part)


def _weight(total: tuple[str, Any]) -> tuple[bool, Decimal]:
    """Money before counts, the greatest first: the order in which totals are told."""
    name, value = total
    is_money = isinstance(value, str) and bool(_AMOUNT.fullmatch(value))
    return is_money or name == "sum", Decimal(value) if is_money else Decimal(0)


def _between(least: Any, greatest: Any, currency: str) -> str:
    low, high = _money(least, currency), _money(greatest, currency)
    return f"each {low}" if low == high else f"from {low} to {high}"


def _total(name: str, value: Any, currency: str) -> str:
    if value is None or isinstance(value, (dict, list)):
        return ""
    label = plain(name.replace("_", " "), 40)
    if name == "sum":
        return f"{_money(value, currency)} in all"
    if isinstance(value, str) and _AMOUNT.fullmatch(value):
        return f"{label} {_money(value, currency)}"
    number = _whole(value)
    if number is None:
        return f"{label} {plain(str(value), 60)}"
    return _counted(number, label)


def _counted(number: int, label: str) -> str:
    """ "1 copy", "56 units": a count before the name of what it counts."""
    if number == 1 and label.endswith("ies"):
        label = f"{label[:-3]}y"
    elif number == 1 and label.endswith("s") and not label.endswith("ss"):
        label = label[:-1]
    return f"{number:,} {label}"


def _rows(result: Mapping[str, Any], total: int) -> str:
    columns = [dict(c) for c in result.get("columns") or () if isinstance(c, Mapping)]
    currency = str(result.get("currency") or "")
    rows = [row for row in result["rows"] if isinstance(row, Mapping)]
    named = [_row(row, columns, currency) for row in rows[:NAMED_ROWS]]
    named = [text for text in named if text]
    if not named:
        return ""
    opening = "It is" if total == 1 else "They are" if total <= len(named) else "First"
    joined = "; ".join(named)
    return f"{opening} {joined}." if total <= len(named) else f"{opening}: {joined}."


def _row(row: Mapping[str, Any], columns: Sequence[Mapping[str, Any]], currency: str) -> str:
    texts = [_cell(row, column, currency) for column in columns if _kind(column) in _NAMING]
    texts = [text for text in texts if text][:2]
    figures = [_labelled(row, column, currency) for column in columns if _kind(column) in _COUNTING]
    figures = [text for text in figures if text][:2]
    said = ", ".join([" – ".join(texts), *figures] if texts else figures)
    return f"{said}{_cite(row)}" if said else ""


_NAMING = frozenset(("text", "date", "datetime"))
_COUNTING = frozenset(("money", "number", "days", "percent"))


def _kind(column: Mapping[str, Any]) -> str:
    return str(column.get("kind") or "text")


def _cell(row: Mapping[str, Any], column: Mapping[str, Any], currency: str) -> str:
    value = row.get(str(column.get("name")))
    if value in (None, "") or isinstance(value, (dict, list, tuple)):
        return ""
    kind = _kind(column)
    if kind == "money":
        return _money(value, currency)
    if kind == "datetime":
        return plain(str(value)[:10], 10)
    return plain(str(value), LONGEST_CELL)


def _labelled(row: Mapping[str, Any], column: Mapping[str, Any], currency: str) -> str:
    text = _cell(row, column, currency)
    kind = _kind(column)
    if not text or kind == "money":
        return text
    if kind == "days":
        days = _whole(row.get(str(column.get("name"))))
        return f"{text} days" if days is None else f"{days:,} days"
    if kind == "percent":
        return f"{text} %"
    label = plain(str(column.get("label") or ""), 40).lower()
    number = _whole(row.get(str(column.get("name"))))
    if number == 1:
        # One copy, one unit: not worth a word.
        return ""
    return f"{label} {text}".strip() if number is None else _counted(number, label).strip()


def _cite(row: Mapping[str, Any]) -> str:
    ref = str(row.get("ref") or "")
    return f" [{ref}]" if _REF.match(ref) else ""


def _money(value: Any, currency: str) -> str:
    try:
        return format_money(Decimal(str(value)), currency)
    except (InvalidOperation, ValueError):
        return plain(str(value), 40)


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return int(str(value))
    except ValueError:
        return None


def _notes(outcomes: Sequence[Outcome], readings: Sequence[str]) -> list[str]:
    """Each note, each cut and each reading once, as sentences."""
    said: dict[str, None] = {}
    for outcome in outcomes:
        result = outcome.result or {}
        for note in (*_listed(result, "notes"), *_listed(result, "cut")):
            said.setdefault(_sentence(plain(note, 240)))
    joined = " ".join(said).casefold()
    for reading in readings:
        if reading.casefold() not in joined:
            said.setdefault(_sentence(reading))
    return list(said)


def _listed(result: Mapping[str, Any], key: str) -> list[str]:
    found = result.get(key)
    return [str(item) for item in found] if isinstance(found, (list, tuple)) else []


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def plain(text: str, longest: int) -> str:
    """Text of a row as one harmless line: no brackets, no Markdown, no tags."""
    line = " ".join(text.split())
    line = line.replace("[", "(").replace("]", ")")
    line = re.sub(r"([\\`*_#<>|~])", r"\\\1", line)
    line = line.replace("://", "∶//")
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip(chr(92))}…"
