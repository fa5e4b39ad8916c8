"""Names that a question introduces: "called …", "by …", and runs of capital words."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from apps.providers.house.mentions import Claims, Mention
from apps.providers.house.words import Word, listed

if TYPE_CHECKING:
    from apps.providers.house.reading import Reader

_TITLED = frozenset(("called", "titled", "entitled", "named"))
_BY = frozenset(("by", "artist", "label"))
_ENDS = listed(
    "in on under over for with that which who below above at we do please from still since between "
    "priced costing is are has have was not and or up than cheaper sorted ordered to left i you "
    "there if"
)  # fmt: skip
_JOINERS = listed("of the and & de la le du von van der n in for to a")
_TIMES = frozenset(
    name.lower()
    for names in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr)
    for name in names
)
_STOPS = re.compile(r"[?!;,.:()\n]")


def name_phrases(
    text: str, words: Sequence[Word], claims: Claims, reader: Reader
) -> Iterator[Mention]:
    """Phrases that name an artist, a title or a label, as mentions of kind ``name``."""
    yield from _introduced(text, words, claims, reader)
    yield from _capital_runs(text, words, claims, reader)


def _is_titled(words: Sequence[Word]) -> bool:
    """Whether nearly every word has a capital, so that a capital tells nothing."""
    letters = [word for word in words if word.text[0].isalpha()]
    return len(letters) > 3 and sum(word.is_capital for word in letters) >= 0.7 * len(letters)


def _introduced(
    text: str, words: Sequence[Word], claims: Claims, reader: Reader
) -> Iterator[Mention]:
    for at, word in enumerate(words[:-1]):
        titled = word.plain in _TITLED
        if not titled and word.plain not in _BY:
            continue
        phrase = _phrase(text, words[at + 1 :], claims, reader, titled=titled)
        if phrase:
            yield _mention(text, phrase)


def _phrase(
    text: str, words: Sequence[Word], claims: Claims, reader: Reader, *, titled: bool
) -> list[Word]:
    phrase: list[Word] = []
    for word in words:
        if not claims.is_free(word.start, word.end) or _ends(text, phrase, word):
            break
        if phrase and _is_format(text, word, reader) and not titled:
            break
        phrase.append(word)
    if titled or not phrase:
        return phrase
    first = phrase[0]
    if first.plain == "the" and len(phrase) > 1:
        first = phrase[1]
    unknown = not reader.is_plain(first.plain) and not reader.index.find(first.text)
    return phrase if unknown and first.plain not in _TIMES and not first.plain.isdigit() else []


def _ends(text: str, phrase: Sequence[Word], word: Word) -> bool:
    if phrase and _STOPS.search(text[phrase[-1].end : word.start]):
        return True
    return word.plain in _ENDS and not word.is_capital


def _is_format(text: str, word: Word, reader: Reader) -> bool:
    """Whether a word after a name is a plural or a measure rather than part of the name."""
    closing = word.plain.endswith("s") or any(c.isdigit() for c in word.plain)
    return (closing or word.text.isupper()) and bool(
        reader.index.find(text[word.start : word.end + 1])
    )


def _capital_runs(
    text: str, words: Sequence[Word], claims: Claims, reader: Reader
) -> Iterator[Mention]:
    titled = _is_titled(words)
    run: list[Word] = []
    for word in [*words, None]:
        if word is not None and _continues(text, run, word, claims):
            run.append(word)
            continue
        name = _trimmed(text, run, reader, titled=titled)
        if name:
            yield _mention(text, name)
        run = [word] if word is not None and _may_open(word, claims) else []


def _may_open(word: Word, claims: Claims) -> bool:
    return word.is_capital and word.plain not in _TIMES and claims.is_free(word.start, word.end)


def _continues(text: str, run: Sequence[Word], word: Word, claims: Claims) -> bool:
    if not run or not claims.is_free(word.start, word.end):
        return False
    if _STOPS.search(text[run[-1].end : word.start]):
        return False
    return _may_open(word, claims) or word.plain in _JOINERS


def _trimmed(text: str, run: Sequence[Word], reader: Reader, *, titled: bool) -> list[Word]:
    """The run without everyday words at its ends; empty when vocabularies explain it all."""
    kept = list(run)
    while (
        kept
        and not _is_named(kept[0], titled=titled)
        and (reader.is_plain(kept[0].plain) or kept[0].plain in _JOINERS)
    ):
        if kept[0].plain == "the" and kept[0].is_capital and kept[0].start > 0 and len(kept) > 1:
            break
        kept.pop(0)
    while kept and (
        (
            not _is_named(kept[-1], titled=titled)
            and (reader.is_plain(kept[-1].plain) or kept[-1].plain in _JOINERS)
        )
        or (_is_format(text, kept[-1], reader) and not kept[-1].text.istitle())
    ):
        kept.pop()
    if sum(word.is_capital for word in kept) < 2:
        return []
    return [] if _explained(text, kept, reader) else kept


def _is_named(word: Word, *, titled: bool) -> bool:
    """Whether a capital inside a sentence marks a name, however everyday the word is."""
    return word.is_capital and word.start > 0 and len(word.text) > 1 and not titled


def _explained(text: str, run: Sequence[Word], reader: Reader) -> bool:
    said = text[run[0].start : run[-1].end]
    found = reader.index.find(said)
    offset = run[0].start
    return all(
        reader.is_plain(word.plain)
        or any(name.start <= word.start - offset < name.end for name in found)
        for word in run
    )


def _mention(text: str, phrase: Sequence[Word]) -> Mention:
    start, end = phrase[0].start, phrase[-1].end
    return Mention("name", start, end, re.sub(r"['’]s$", "", text[start:end]))
