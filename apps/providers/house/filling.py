"""Typed arguments of one tool, filled from a reading by the schema and its hints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apps.providers.house.choices import choose, phrases
from apps.providers.house.mentions import Mention, Price, Span
from apps.providers.house.names import FUZZY, Name
from apps.providers.house.reading import Reading, introduced
from apps.providers.house.spans import DAY
from apps.providers.types import ToolSpec

_ORDERING = re.compile(
    r"est\b|first|order|\bby\b|a-z|a to z|alphabet|most|listed|added|recent|arriv"
)
_FIRST = re.compile(r"(?: \w+){0,2} (?:first|at the top|on top|to start)\b")
_OF_PRICE = re.compile(r"cheap|bargain|expensive|pricey|costly|low|high")
_GUESSED = {"limit": "limit", "q": "text", "query": "text", "text": "text", "words": "text"}


@dataclass(frozen=True)
class Filled:
    """Arguments as plain JSON values, what of the question they use, and what is missing."""

    arguments: Mapping[str, Any]
    used: frozenset[str]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Field:
    """One argument: its hints, its schema, and the options it allows."""

    name: str
    fills: str
    hint: Mapping[str, Any]
    schema: Mapping[str, Any]

    @property
    def options(self) -> list[str]:
        for part in (self.schema, *self.schema.get("anyOf", ())):
            if isinstance(part, Mapping) and part.get("enum"):
                return [option for option in part["enum"] if isinstance(option, str)]
        return []

    @property
    def most(self) -> int | None:
        for part in (self.schema, *self.schema.get("anyOf", ())):
            if isinstance(part, Mapping) and part.get("maximum") is not None:
                return int(part["maximum"])
        return None

    @property
    def words(self) -> Mapping[str, list[str]]:
        return dict(self.hint.get("words") or {})


def fields_of(spec: ToolSpec) -> list[Field]:
    """The tool's arguments in order, with hints or what their schema suggests."""
    found = []
    for name, schema in dict(spec.parameters.get("properties") or {}).items():
        hint = spec.fills.get(name, {})
        field = Field(name, str(hint.get("fills", "")), hint, schema)
        if not field.fills:
            fills = "choice" if field.options else _GUESSED.get(name, "")
            field = Field(name, fills, hint, schema)
        found.append(field)
    return found


def fill(spec: ToolSpec, reading: Reading) -> Filled:
    """What the tool would be called with for this question."""
    fields = fields_of(spec)
    filler = _Filler(fields, reading)
    arguments: dict[str, Any] = {}
    # Text is what nothing else took, so it is filled last.
    for field in sorted(fields, key=lambda one: one.fills == "text"):
        value = filler.value(field)
        if value is not None:
            arguments[field.name] = value
    needed = spec.parameters.get("required") or ()
    missing = tuple(name for name in needed if name not in arguments)
    return Filled(arguments, frozenset(filler.used), missing)


def ignored(reading: Reading, used: frozenset[str]) -> list[str]:
    """What the question names and the arguments leave out, as written, in order."""
    left = [
        (mention.start, mention.end)
        for mention in reading.claims.mentions
        if mention.kind in ("quoted", "name", "money") and _key(mention) not in used
    ]
    taken = [(n.start, n.end) for n in reading.names if f"name:{n.start}" in used]
    left += [
        (name.start, name.end)
        for name in reading.names
        if name.rank > FUZZY and not any(a < name.end and name.start < b for a, b in taken)
    ]
    return list(dict.fromkeys(reading.text[start:end] for start, end in sorted(left)))


class _Filler:
    def __init__(self, fields: list[Field], reading: Reading) -> None:
        self.reading = reading
        self.kinds = {field.fills for field in fields}
        self.used: set[str] = set()
        self.taken: list[tuple[int, int]] = []
        self.names = self._chosen_names(fields)

    def value(self, field: Field) -> Any:
        kind, _, rest = field.fills.partition(":")
        readers: dict[str, Callable[[Field, str], Any]] = {
            "id": self._id,
            "money": self._money,
            "days": self._days,
            "date": self._date,
            "limit": self._limit,
            "vocabulary": self._vocabulary,
            "choice": self._choice,
            "flag": self._flag,
            "text": self._text,
        }
        reader = readers.get(kind)
        return reader(field, rest) if reader else None

    def _chosen_names(self, fields: list[Field]) -> dict[str, Name]:
        """One name per vocabulary the tool takes: the surest, longest, first said."""
        order = [field.hint.get("vocabulary") for field in fields if field.fills == "vocabulary"]
        candidates = sorted(
            (name for name in self.reading.names if name.vocabulary in order),
            key=lambda n: (n.start - n.end, -n.rank, order.index(n.vocabulary)),
        )
        chosen: dict[str, Name] = {}
        for name in candidates:
            if name.vocabulary not in chosen and not self._overlaps(chosen, name):
                chosen[name.vocabulary] = name
        return chosen

    @staticmethod
    def _overlaps(chosen: Mapping[str, Name], name: Name) -> bool:
        return any(n.start < name.end and name.start < n.end for n in chosen.values())

    def _id(self, field: Field, kind: str) -> int | None:
        found = self.reading.claims.of(f"id:{kind}") or list(self.reading.numbers)
        if not found:
            return None
        self.used.add(_key(found[0]))
        return int(found[0].value)

    def _money(self, field: Field, rest: str) -> str | bool | None:
        price = self._price()
        if rest == "max":
            return None if price.most is None else _plain(price.most)
        if rest == "min":
            return None if price.least is None else _plain(price.least)
        if rest == "max:included":
            return True if price.most is not None and price.most_included else None
        return True if price.least is not None and price.least_excluded else None

    def _price(self) -> Price:
        merged = Price()
        for mention in self.reading.claims.of("money"):
            self.used.add(_key(mention))
            one: Price = mention.value
            least = merged if merged.least is not None else one
            most = merged if merged.most is not None else one
            merged = Price(least.least, most.most, least.least_excluded, most.most_included)
        return merged

    def _days(self, field: Field, rest: str) -> int | None:
        for mention in self.reading.claims.of("span"):
            days = self._age(mention.value)
            if days:
                self.used.add(_key(mention))
                return min(days, field.most or days)
        return None

    def _age(self, span: Span) -> int | None:
        """Days that something has lasted: a bare length, or back to a day when denied."""
        if span.days and (span.first is None or self.reading.denies):
            return span.days
        if span.days and span.first and span.last and span.last < self.reading.today:
            return span.days
        if span.first and self.reading.denies:
            return (self.reading.today - span.first).days
        return None

    def _date(self, field: Field, which: str) -> str | None:
        spans = [self._dated(mention) for mention in self.reading.claims.of("span")]
        if not spans:
            return None
        first, last = spans[0].first, spans[0].last
        for span in spans[1:]:
            if first and last and span.first and span.last:
                first, last = min(first, span.first), max(last, span.last)
        found = first if which == "from" else last
        return found.isoformat() if found else None

    def _dated(self, mention: Mention) -> Span:
        self.used.add(_key(mention))
        span: Span = mention.value
        if span.first is None and span.last is None and span.days:
            today = self.reading.today
            days = min(span.days, today.toordinal() - 1)
            return Span(today - (days - 1) * DAY, today, span.days)
        return span

    def _limit(self, field: Field, rest: str) -> int | None:
        for mention in self.reading.claims.of("limit"):
            self.used.add(_key(mention))
            return min(int(mention.value), field.most or int(mention.value))
        return None

    def _vocabulary(self, field: Field, rest: str) -> str | None:
        name = self.names.get(str(field.hint.get("vocabulary")))
        if name is None:
            return None
        self.used.add(f"name:{name.start}")
        return name.name

    def _choice(self, field: Field, rest: str) -> str | None:
        for option, start, end in choose(self.reading.low, phrases(field.options, field.words)):
            phrase = self.reading.low[start:end]
            if self._is_free(start, end) and not self._is_said_by_a_bound(phrase, end):
                self.taken.append((start, end))
                self.used.add("words" if phrase in _said(field) else "choice")
                return option
        return self._choice_by_name(field)

    def _is_said_by_a_bound(self, phrase: str, end: int) -> bool:
        """ "cheap" or "slow" asks for no order where a price or a length of time says it."""
        if _ORDERING.search(phrase) or _FIRST.match(self.reading.low[end:]):
            return False
        kind = "money" if _OF_PRICE.search(phrase) else "span"
        takes = "money:max" if kind == "money" else "days"
        return takes in self.kinds and bool(self.reading.claims.of(kind))

    def _choice_by_name(self, field: Field) -> str | None:
        """Naming one genre to a tool that only groups by genre asks for the groups."""
        for name in self.reading.names:
            if name.vocabulary in field.options and name.rank > FUZZY:
                self.used.add(f"name:{name.start}")
                return name.vocabulary
        return None

    def _flag(self, field: Field, rest: str) -> bool | None:
        found = next(choose(self.reading.low, phrases((), field.words) | _said(field)), None)
        if found is None:
            return None
        self.used.add("words")
        self.taken.append(found[1:])
        return found[0] == "true"

    def _is_free(self, start: int, end: int) -> bool:
        names = self.names.values()
        return self.reading.claims.is_free(start, end) and not any(
            name.start < end and start < name.end for name in names
        )

    def _text(self, field: Field, rest: str) -> str | None:
        claims = self.reading.claims
        parts = [(m.start, m.end, str(m.value)) for m in (*claims.of("quoted"), *claims.of("name"))]
        self.used.update(_key(m) for m in (*claims.of("quoted"), *claims.of("name")))
        searched = [w for w in introduced(self.reading) if self._loose(w.start)]
        parts += [(w.start, w.end, _bare(w.text)) for w in searched]
        self.used.update(f"rest:{word.start}" for word in searched)
        words = " ".join(text for _start, _end, text in sorted(parts))
        return words or None

    def _loose(self, start: int) -> bool:
        return not any(low <= start < high for low, high in self.taken)


def _said(field: Field) -> dict[str, str]:
    return {phrase: option for option, said in field.words.items() for phrase in said}


def _bare(text: str) -> str:
    return text[:-2] if text[-2:] in ("'s", "’s") else text


def _plain(amount: Decimal) -> str:
    return f"{amount:f}"


def _key(mention: Mention) -> str:
    return f"{mention.kind}:{mention.start}"
