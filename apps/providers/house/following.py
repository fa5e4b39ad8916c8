"""A question that goes on from the one before: "and over $50?", "only LPs", "by genre then"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.providers.house.filling import Field, fields_of, fill
from apps.providers.house.lexicon import is_common
from apps.providers.house.matching import Match
from apps.providers.house.reading import Reader, Reading
from apps.providers.house.transcript import Transcript, arguments_of
from apps.providers.types import ToolSpec

__all__ = ["arguments_of", "follow", "lent"]

_OPENS = re.compile(
    r"^\W*(?:and|or|but|only|just|what about|how about|same|also|now|instead|then|ok(?:ay)?,? "
    r"(?:and|now)|"
    r"of (?:those|these|them)|those|these|them|which of (?:those|them|these)|sort(?:ed)?(?: them|"
    r" that| it| those)? by|"
    r"without|with|in|under|over|from|by|per|this time|not|except|any|more than|less than|up to|"
    r"cheapest first|dearest first|newest first|oldest first|last|this|for|the same|make (?:it|"
    r"that)|"
    r"show (?:only|just|them|those))\b"
)
_POINTS = re.compile(
    r"\b(?:those|these|them|that one|the same|it|instead|that release|that album)\b"
)
_FAMILIES = ("money", "date")
SHORT = 7


def follow(
    tools: Sequence[ToolSpec],
    said: Transcript,
    reading: Reading,
    ranked: Sequence[Match],
    reader: Reader,
) -> tuple[ToolSpec, dict[str, Any]] | None:
    """The earlier call with what the fragment changes, or None when it stands alone."""
    call = said.earlier_call
    spec = next((tool for tool in tools if call and tool.name == call.name), None)
    if call is None or spec is None or not _is_fragment(reading, ranked, spec):
        return None
    filled = fill(spec, reading)
    if not filled.arguments:
        return None
    base = arguments_of(call)
    return spec, merged(fields_of(spec), base, filled.arguments)


def lent(
    tools: Sequence[ToolSpec], said: Transcript, reading: Reading, ranked: Sequence[Match]
) -> tuple[ToolSpec, dict[str, Any]] | None:
    """The likeliest call with the number that "it" stands for, taken from the call before."""
    call = said.earlier_call
    best = max(ranked, key=lambda match: match.likeness, default=None)
    if call is None or best is None or not best.filled.missing or not best.shared:
        return None
    before = next((tool for tool in tools if tool.name == call.name), None)
    if before is None or reading.claims.of("name") or reading.claims.of("quoted"):
        return None
    said_before = arguments_of(call)
    known = {field.fills: said_before.get(field.name) for field in fields_of(before)}
    wanted = [field for field in fields_of(best.spec) if field.name in best.filled.missing]
    found = {field.name: known.get(field.fills) for field in wanted if field.fills}
    if len(found) < len(wanted) or any(value is None for value in found.values()):
        return None
    return best.spec, {**best.filled.arguments, **found}


def _is_fragment(reading: Reading, ranked: Sequence[Match], spec: ToolSpec) -> bool:
    """Short, and either opened like a continuation or without a subject of its own."""
    if len(reading.words) > SHORT:
        return bool(_POINTS.search(reading.low) and _OPENS.match(reading.low))
    opened = bool(_OPENS.match(reading.low) or _POINTS.search(reading.low))
    if ranked and ranked[0].spec.name != spec.name and ranked[0].likeness > 0.45:
        return False
    subject = any(
        reading.claims.is_free(word.start, word.end) and not is_common(word.plain)
        for word in reading.words
    )
    return opened or (not subject and len(reading.words) <= 4)


def merged(
    fields: Sequence[Field], base: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, Any]:
    """The base with new arguments over it; prices and dates are replaced as a pair."""
    names = {field.name: field.fills.partition(":")[0] for field in fields}
    fresh = {names.get(name) for name in new}
    kept = {
        name: value
        for name, value in base.items()
        if name in names and not (names[name] in fresh and names[name] in _FAMILIES)
    }
    return {**kept, **new}
