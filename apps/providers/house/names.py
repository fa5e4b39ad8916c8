"""Names of vocabularies (genres, formats, grades) found in a question, typos allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apps.core.vocabulary import Vocabulary
from apps.providers.house.lexicon import COMMON, is_common
from apps.providers.house.numbers import WORDS, value_of
from apps.providers.house.spelling import is_slip
from apps.providers.house.words import distance, fold

EXACT, SYNONYM, PART, FUZZY = 4, 3, 2, 1
LONGEST = 5
_TOKEN = re.compile(r"[^\W_]+(?:'s\b)?|[+\"&]|''|-(?=\s|$|\))")
_AND = {"and": "n", "&": "n", "'n'": "n"}
_INCHES = {'"': "inch", "''": "inch", "inches": "inch", "inchers": "inch", "incher": "inch"}
_CUE = re.compile(
    r"^\W*(?:or|and) (?:better|above|up|higher|nicer|upwards)|^\W*(?:condition|grade|graded)|^\+|"
    r"^\W*minimum"
)
_NAMED = re.compile(r"(?:[A-Z]\w*|by|called) $")
_CAPITAL = re.compile(r" [A-Z][a-z]")
_CUE_BEFORE = re.compile(r"(?:at least|minimum|min|condition|graded?|grade of|from)\W*$")


@dataclass(frozen=True)
class Token:
    key: str
    start: int
    end: int


@dataclass(frozen=True)
class Name:
    """A vocabulary's name where the question says it; ``rank`` tells how surely."""

    vocabulary: str
    name: str
    start: int
    end: int
    rank: int

    @property
    def weight(self) -> tuple[int, int]:
        return (self.rank > FUZZY, self.end - self.start) if self.rank else (0, 0)


def tokens(text: str) -> list[Token]:
    """Words as they are compared: folded, "&" as "n", inch marks and plus signs as words."""
    found = []
    for match in _TOKEN.finditer(text):
        key = fold(match.group()).removesuffix("'s")
        key = _INCHES.get(key) or _AND.get(key) or {"+": "plus", "-": "minus"}.get(key, key)
        glued = re.fullmatch(r"(\d+)(in|inch|inches|inchers?)", key)
        key = f"{glued[1]}inch" if glued else _digits(key)
        found.append(Token(key, match.start(), match.end()))
    return found


def _digits(word: str) -> str:
    """ "twelves" and "twelve" as "12s" and "12"; other words as they are."""
    for plain, ending in (
        (word, ""),
        (word.removesuffix("s"), "s"),
        (word.removesuffix("es"), "s"),
    ):
        if (ending == "" or plain != word) and re.fullmatch(WORDS, plain) and " " not in plain:
            return f"{value_of(plain)}{ending}"
    return word


def key_of(text: str) -> str:
    return "".join(token.key for token in tokens(text))


class NameIndex:
    """Every spelling under which the names of some vocabularies are found."""

    def __init__(self, vocabularies: Mapping[str, Vocabulary]) -> None:
        self._keys: dict[str, dict[str, tuple[str, int]]] = {}
        for vocabulary, content in vocabularies.items():
            self._keys[vocabulary] = _keys(content)
        self._initials = {name: _by_initial(keys) for name, keys in self._keys.items()}

    def find(self, text: str) -> list[Name]:
        """Names said exactly, by a synonym or by part; several may share a place."""
        words = tokens(text)
        found: list[Name] = []
        for vocabulary, keys in self._keys.items():
            found.extend(_find(vocabulary, keys, words, text))
        return found

    def guess(self, text: str, start: int, end: int) -> list[Name]:
        """Names that the words at that place may be a typo of."""
        key = key_of(text[start:end])
        found: list[Name] = []
        if len(key) < 3 or any(c.isdigit() for c in key):
            return found
        for vocabulary, initials in self._initials.items():
            near = _nearest(key, initials.get(key[0], {}))
            if near:
                found.append(Name(vocabulary, near, start, end, FUZZY))
        return found

    def resolve(self, vocabulary: str, text: str) -> str:
        """The stored name for a spelling, or the text itself when none fits."""
        keys = self._keys.get(vocabulary, {})
        found = keys.get(key_of(text)) or keys.get(fold(text))
        return found[0] if found else text


def _nearest(key: str, keys: Mapping[str, tuple[str, int]]) -> str | None:
    most = 1 if len(key) < 8 else 2
    best = (most + 1, "")
    for known, (name, rank) in keys.items():
        if abs(len(known) - len(key)) > most:
            continue
        if len(known) < 4 or (len(key) < 5 and not is_slip(key, known)):
            continue
        if rank == PART and len(key) < 6:
            continue
        edits = 1 if is_slip(key, known) else distance(key, known, most=most)
        if edits < best[0]:
            best = (edits, name)
    return best[1] or None


def _by_initial(keys: Mapping[str, tuple[str, int]]) -> dict[str, dict[str, tuple[str, int]]]:
    initials: dict[str, dict[str, tuple[str, int]]] = {}
    for key, value in keys.items():
        initials.setdefault(key[0], {})[key] = value
    return initials


def _keys(content: Vocabulary) -> dict[str, tuple[str, int]]:
    keys: dict[str, tuple[str, int]] = {}
    for name in content.names:
        for spelling, rank in _spellings(name):
            keys.setdefault(spelling, (name, rank))
    for word, name in _telling_words(content.names):
        keys.setdefault(word, (name, PART))
    for name in content.names:
        keys[key_of(name)] = (name, EXACT)
    for spelling, name in content.synonyms.items():
        keys.setdefault(key_of(spelling) or spelling, (name, SYNONYM))
    for key, value in list(keys.items()):
        if not key.endswith("s") and len(key) > 1:
            keys.setdefault(f"{key}s", value)
            keys.setdefault(f"{key}es", value)
    return {key: value for key, value in keys.items() if key}


def _spellings(name: str) -> Iterator[tuple[str, int]]:
    """Other ways to say a name: its bracket, its parts, inches in words."""
    bracket = re.fullmatch(r"(.+?) \((.+)\)", name)
    if bracket:
        yield key_of(bracket[1]), EXACT
        for part in bracket[2].split(" or "):
            yield key_of(part), EXACT
    inches = re.fullmatch(r"(\d+)(?:\"|''| inch)", name)
    if inches:
        yield f"{inches[1]}s", EXACT
        yield f"{inches[1]}ers", EXACT
    parts = re.split(r"\s*[/,&]\s*", name)
    if len(parts) > 1:
        for part in parts:
            yield key_of(part), PART


def _telling_words(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Words that stand in one name alone: "indie" for Indie Rock."""
    holders: dict[str, list[str]] = {}
    for name in names:
        parts = [token.key for token in tokens(name)]
        for part in parts if len(parts) > 1 and "(" not in name else ():
            holders.setdefault(part, []).append(name)
    for part, found in holders.items():
        if len(found) == 1 and len(part) >= 5 and not is_common(part):
            yield part, found[0]


def _find(
    vocabulary: str, keys: Mapping[str, tuple[str, int]], words: list[Token], text: str
) -> Iterator[Name]:
    at = 0
    while at < len(words):
        for size in range(min(LONGEST, len(words) - at), 0, -1):
            window = words[at : at + size]
            known = keys.get("".join(word.key for word in window))
            if known and _is_meant(text, window, known[1]):
                yield Name(vocabulary, known[0], window[0].start, window[-1].end, known[1])
                at += size - 1
                break
        at += 1


def _is_meant(text: str, window: list[Token], rank: int) -> bool:
    """A letter, a bare number or an everyday word is a name only beside a cue."""
    start, end = window[0].start, window[-1].end
    if rank == PART and text[start].isupper() and start > 0 and "-" not in text[start:end]:
        return not _NAMED.search(text[:start]) and not _CAPITAL.match(text[end:])
    written = fold(text[start:end])
    if window[0].key == "n" or window[-1].key == "n":
        return False
    if written.isdigit() or (len(window) == 1 and re.fullmatch(WORDS, written)):
        return False
    if not (written in COMMON or len(written) == 1 or (len(window) == 1 and is_common(written))):
        return True
    return bool(_CUE.search(text[end:].lower()) or _CUE_BEFORE.search(text[:start].lower()))
