"""Names that the guild's rows use, and how a name in a question finds the stored one.

Genres, styles and carriers are read from the rows; a spelling is tried as written, as a known
synonym, without punctuation, and at last by trigram similarity. Nothing near is an error that
names the nearest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass

from django.db import connections
from django.db.models import Count, F, Func

from apps.core import reading, vocabulary
from apps.core.tools import ToolError
from apps.core.vocabulary import Vocabulary
from apps.shop import names
from apps.shop.formats import VINYL, fold
from apps.shop.models import Release

COLUMNS = {"genre": "genres", "style": "styles", "format": "carriers"}
SYNONYMS = {
    "genre": names.GENRE_SYNONYMS,
    "style": names.STYLE_SYNONYMS,
    "format": names.CARRIER_SYNONYMS,
}
GRADES = tuple(names.GRADE_SYNONYMS)
# Counting every release's names takes a second for a million, so it is done once a minute.
FRESH_SECONDS = 60.0
ALIKE = 0.39
CLEARLY_AHEAD = 0.08
NEAREST = 5
# "tech dub" is no misspelling of "Dub": what is much shorter is another name.
LEAST_LENGTH = 0.6

_read: dict[tuple[object, ...], tuple[float, tuple[str, ...]]] = {}


@dataclass(frozen=True)
class Resolved:
    """The stored name, and a note when it is spelt otherwise than asked."""

    name: str
    note: str = ""


def register() -> None:
    """Offer the shop's vocabularies to whoever reads questions."""
    for kind in COLUMNS:
        vocabulary.register(kind, _loader(kind))
    vocabulary.register("grade", lambda guild_id: _grades())


def _loader(kind: str) -> Callable[[int], Vocabulary]:
    def load(guild_id: int) -> Vocabulary:
        stored = stored_names(kind, guild_id)
        if kind == "format":
            stored = (*stored, names.EVERY_VINYL)
        return Vocabulary(stored, dict(_synonyms(kind, stored)))

    return load


def _synonyms(kind: str, stored: Iterable[str]) -> Iterable[tuple[str, str]]:
    for name in stored:
        for spelling in SYNONYMS[kind].get(name, ()):
            yield spelling.casefold(), name
    if kind == "format":
        yield from ((spelling, names.EVERY_VINYL) for spelling in names.VINYL_SYNONYMS)


def _grades() -> Vocabulary:
    return Vocabulary(
        GRADES,
        {spelling: name for name, others in names.GRADE_SYNONYMS.items() for spelling in others},
    )


def stored_names(kind: str, guild_id: int, *, fresh: bool = False) -> tuple[str, ...]:
    """Names in the guild's releases, most used first; at most a minute old unless ``fresh``."""
    kept = _read.get(_key(kind, guild_id))
    if kept and not fresh and time.monotonic() - kept[0] < FRESH_SECONDS:
        return kept[1]
    inside = reading.alias() == reading.READER
    with nullcontext() if inside else reading.scope(guild_id):
        rows = (
            Release.objects.filter(guild_id=guild_id)
            .annotate(each=Func(F(COLUMNS[kind]), function="unnest"))
            .values("each")
            .annotate(times=Count("pk"))
            .order_by("-times", "each")
            .values_list("each", flat=True)
        )
        found = tuple(str(name) for name in rows)
    _read[_key(kind, guild_id)] = (time.monotonic(), found)
    return found


def _key(kind: str, guild_id: int) -> tuple[object, ...]:
    return connections.settings[reading.READER]["NAME"], kind, guild_id


def resolve(kind: str, text: str, guild_id: int) -> Resolved:
    """The stored genre, style or carrier meant by ``text``; else :class:`ToolError`."""
    found = find(kind, text, guild_id)
    if found is None:
        raise ToolError(_unknown(kind, text, guild_id))
    return found


def find(kind: str, text: str, guild_id: int, *, guess: bool = True) -> Resolved | None:
    """As :func:`resolve`, or None; without ``guess`` similarity does not count."""
    for name in _candidates(kind, text, guild_id):
        if _is_stored(kind, name, guild_id):
            return Resolved(name, _note(kind, text, name))
    stored = stored_names(kind, guild_id, fresh=_is_new(kind, text, guild_id))
    squashed = names.squash(text)
    for name in stored:
        if fold(name) == fold(text) or (squashed and names.squash(name) == squashed):
            return Resolved(name, _note(kind, text, name))
    return _alike(kind, text, stored) if guess else None


def carriers(text: str, guild_id: int) -> tuple[list[str], str]:
    """The carriers meant by a format's name, and a note on how it was read."""
    plain = fold(text)
    if plain in {names.EVERY_VINYL, *names.VINYL_SYNONYMS}:
        every = [name for name in stored_names("format", guild_id) if name in VINYL]
        return every or ["LP"], f"Vinyl was read as {', '.join(every) or 'LP'}."
    counted = plain.partition("x")
    if counted[0].strip().isdigit() and counted[2]:
        text = counted[2].strip()
    found = resolve("format", text, guild_id)
    if found.name == '12"':
        return [found.name], " ".join(
            filter(None, (found.note, '12" means the carrier 12"; LPs are listed apart.'))
        )
    return [found.name], found.note


def grade(text: str) -> str:
    """A grade's short name (``VG+``); :class:`ToolError` names the grades there are."""
    spelling = fold(text)
    for name, others in names.GRADE_SYNONYMS.items():
        if spelling in {fold(name), *others}:
            return name
    raise ToolError(
        f"There is no media grade {text[:40]!r}. Discogs grades, best first: {', '.join(GRADES)}."
    )


def rank(short: str) -> int:
    """8 for ``M`` down to 1 for ``P``, as ``StockItem.media_rank`` holds it."""
    return len(GRADES) - GRADES.index(short)


def _candidates(kind: str, text: str, guild_id: int) -> Iterator[str]:
    """The name itself, and the trade's name for it.

    Asking the rows for a name that none has is slow among a million, so a known synonym is
    tried first, unless the names read of late hold the text itself.
    """
    known = names.known_name(kind, text)
    kept = _read.get(_key(kind, guild_id))
    if known and known != text and not (kept and text in kept[1]):
        yield known
    yield text


def _is_stored(kind: str, name: str, guild_id: int) -> bool:
    holds = {f"{COLUMNS[kind]}__contains": [name]}
    return Release.objects.filter(guild_id=guild_id, **holds).exists()


def _is_new(kind: str, text: str, guild_id: int) -> bool:
    """Whether the kept list lacks the name, which an import may have brought since."""
    kept = _read.get(_key(kind, guild_id))
    squashed = names.squash(text)
    return kept is not None and all(names.squash(name) != squashed for name in kept[1])


def _alike(kind: str, text: str, stored: tuple[str, ...]) -> Resolved | None:
    ranked = _ranked(text, tuple(name for name in stored if _as_long(text, name)))
    if not ranked or ranked[0][1] < ALIKE:
        return None
    if len(ranked) > 1 and ranked[0][1] - ranked[1][1] < CLEARLY_AHEAD:
        return None
    return Resolved(ranked[0][0], _note(kind, text, ranked[0][0]))


def _as_long(text: str, name: str) -> bool:
    shorter, longer = sorted((len(names.squash(text)), len(names.squash(name))))
    return shorter >= LEAST_LENGTH * longer


def _ranked(text: str, stored: tuple[str, ...]) -> list[tuple[str, float]]:
    """Stored names by likeness: trigrams of the whole, of its best word, and of the letters."""
    with connections[reading.alias()].cursor() as cursor:
        cursor.execute(
            "SELECT name, greatest(similarity(lower(name), %s::text),"
            "  similarity(squashed, %s::text)) AS alike"
            " FROM unnest(%s::text[], %s::text[]) AS stored(name, squashed)"
            " ORDER BY alike DESC, name LIMIT %s",
            [
                fold(text),
                names.squash(text),
                list(stored),
                [names.squash(name) for name in stored],
                NEAREST,
            ],
        )
        return [(str(name), float(alike)) for name, alike in cursor.fetchall()]


def _note(kind: str, text: str, name: str) -> str:
    return "" if text == name else f"{kind.capitalize()} {text[:60]!r} was read as {name}."


def _unknown(kind: str, text: str, guild_id: int) -> str:
    stored = stored_names(kind, guild_id)
    if not stored:
        return f"No release of this shop has a {kind} yet, so {text[:60]!r} finds nothing."
    nearest = [name for name, _ in _ranked(text, stored)]
    return (
        f"No release of this shop has the {kind} {text[:60]!r}."
        f" Nearest names: {', '.join(nearest)}. Call again with one of them, or without {kind}."
    )
