"""One question, read once: what it mentions, which names it says, and which words are left."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date

from apps.providers.house.lexicon import NEGATIONS, concept, is_common
from apps.providers.house.mentions import Claims, Mention
from apps.providers.house.names import PART, SYNONYM, Name, NameIndex
from apps.providers.house.numbers import limits, prices
from apps.providers.house.phrases import name_phrases
from apps.providers.house.spans import spans
from apps.providers.house.spelling import Spelling
from apps.providers.house.words import Word, cut, fold, listed, lower

_QUOTED = (
    re.compile(r"(?<![\w\"])\"(?P<text>[^\"\n]{2,120}?)\"(?!\w)"),
    re.compile(r"(?<![\w'])'(?P<text>[^'\n]{2,120}?(?:'\w[^'\n]*?)?)'(?!\w)"),
)
_ASKS = re.compile(r"\b(?:which|what|what's|the|by|its|of|per)\s+$")
_THE = re.compile(r"\b(?:the|this|whole)\s+$")
_GOODS = re.compile(
    r"\s*(?:$|[?.!]|(?:music|records?|lps?|cds?|vinyl|tapes?|stock|section|stuff|wants?)\b)"
)
_SAYS = re.compile(r"\s+(?:is|was|does|did|of|are|and year)\b|,")
_BARE_NUMBER = re.compile(r"(?<![\w.,$€£¥#-])\d{1,18}(?![\w\"'-]|[.,]\d|\s?(?:inch|%))")


@dataclass(frozen=True)
class Reading:
    """The question with everything that was understood in it."""

    text: str
    low: str
    words: tuple[Word, ...]
    claims: Claims
    names: tuple[Name, ...]
    today: date
    numbers: tuple[Mention, ...]
    rest: tuple[Word, ...] = ()

    @property
    def concepts(self) -> frozenset[str]:
        return frozenset(concept(word.plain) for word in self.words)

    @property
    def denies(self) -> bool:
        """Whether the question says that something has not happened."""
        return "unsold" in self.concepts or any(
            word.plain in NEGATIONS or word.plain.endswith("n't") for word in self.words
        )


class Reader:
    """Reads questions with the guild's names, relative to today."""

    def __init__(
        self, *, index: NameIndex, kinds: Collection[str], known: Collection[str], today: date
    ) -> None:
        self.index = index
        self.kinds = sorted(kinds)
        self.known = frozenset(known)
        self.today = today
        self.spelling = Spelling(self.known, self.is_plain)

    def read(self, text: str) -> Reading:
        text = self._spelt(text)
        low = lower(text)
        words = tuple(cut(text))
        claims = Claims()
        for mention in (*self._quoted(low, text), *self._ids(low)):
            claims.add(mention)
        for mention in name_phrases(text, words, claims, self):
            claims.add(mention)
        names = tuple(self._names(text, claims))
        self._claim_amounts(low, claims, names)
        names += tuple(self._guesses(text, words, claims, names))
        numbers = tuple(self._numbers(low, claims, names))
        rest = tuple(self._rest(words, claims, names))
        return Reading(text, low, words, claims, names, self.today, numbers, rest)

    def _spelt(self, text: str) -> str:
        """The text with slips put right; quoted words and names of vocabularies stay."""
        quoted = [match.span() for pattern in _QUOTED for match in pattern.finditer(lower(text))]
        said = [(name.start, name.end) for name in self.index.find(text)] + quoted
        for word in reversed(cut(text)):
            if any(start < word.end and word.start < end for start, end in said):
                continue
            fixed = self.spelling.corrected(word)
            if fixed and not self.index.guess(text, word.start, word.end):
                text = text[: word.start] + fixed + text[word.end :]
        return text

    def _quoted(self, low: str, text: str) -> Iterator[Mention]:
        for pattern in _QUOTED:
            for match in pattern.finditer(low):
                said = text[match.start("text") : match.end("text")].strip()
                whole = [n for n in self.index.find(said) if n.end - n.start == len(said)]
                if said and not whole:
                    yield Mention("quoted", match.start(), match.end(), said)

    def _ids(self, low: str) -> Iterator[Mention]:
        for kind in self.kinds:
            for pattern in _id_patterns(kind):
                for match in pattern.finditer(low):
                    yield Mention(f"id:{kind}", match.start(), match.end(), int(match["id"]))
        for match in _BARE_NUMBER.finditer(low):
            if self.kinds and len(match.group()) >= 5:
                yield Mention(f"id:{self.kinds[0]}", match.start(), match.end(), int(match.group()))

    def _names(self, text: str, claims: Claims) -> Iterator[Name]:
        for name in self.index.find(text):
            if claims.is_free(name.start, name.end) and self._is_meant(name, text):
                yield name

    def _is_meant(self, name: Name, text: str) -> bool:
        """A part of a name that is also a word of the tools ("country") needs its place."""
        said = text[name.start : name.end]
        if name.rank <= SYNONYM and " " not in said and _THE.search(text[: name.start].lower()):
            return bool(_GOODS.match(text[name.end :].lower()))
        if name.rank != PART or fold(said) not in self.known:
            return True
        return not (
            _ASKS.search(text[: name.start].lower()) or _SAYS.match(text[name.end :].lower())
        )

    def _claim_amounts(self, low: str, claims: Claims, names: tuple[Name, ...]) -> None:
        taken = [(name.start, name.end) for name in names]
        for source in (spans(low, self.today), limits(low), prices(low)):
            for mention in source:
                if not any(mention.overlaps(start, end) for start, end in taken):
                    claims.add(mention)

    def _guesses(
        self, text: str, words: tuple[Word, ...], claims: Claims, names: tuple[Name, ...]
    ) -> Iterator[Name]:
        free = [w for w in words if self._is_free(w, claims, names) and not self._is_plain(w)]
        taken: set[int] = set()
        for size in (3, 2):
            for at in range(len(words) - size + 1):
                run = words[at : at + size]
                if run[0] in free or (run[-1] in free and size == 2):
                    found = self.index.guess(text, run[0].start, run[-1].end)
                    taken.update(word.start for word in run if found)
                    yield from found
        for word in free:
            if word.start not in taken:
                yield from self.index.guess(text, word.start, word.end)

    def _numbers(self, low: str, claims: Claims, names: tuple[Name, ...]) -> Iterator[Mention]:
        for match in _BARE_NUMBER.finditer(low):
            start, end = match.span()
            if claims.is_free(start, end) and not any(n.start < end > start < n.end for n in names):
                yield Mention("number", start, end, int(match.group()))

    def _rest(
        self, words: tuple[Word, ...], claims: Claims, names: tuple[Name, ...]
    ) -> Iterator[Word]:
        """Words that nothing explains: most likely an artist, a title or a label."""
        for word in words:
            if not self._is_free(word, claims, names) or self._is_plain(word):
                continue
            if not word.plain.isdigit():
                yield word

    def _is_plain(self, word: Word) -> bool:
        return self.is_plain(word.plain) or len(word.plain) < 2

    def is_plain(self, plain: str) -> bool:
        """Whether a folded word is an everyday one or one of the tools' own."""
        return is_common(plain) or plain in self.known or concept(plain) in self.known

    @staticmethod
    def _is_free(word: Word, claims: Claims, names: tuple[Name, ...]) -> bool:
        return claims.is_free(word.start, word.end) and not any(
            name.start < word.end and word.start < name.end for name in names
        )


def _id_patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    word = re.escape(kind)
    mark = r"(?:\s*(?:id|no\.?|nr\.?|num(?:ber)?|#|:|-))*\s*#?"
    return (
        re.compile(rf"\b{word}s?{mark}\s*(?P<id>\d{{1,18}})\b(?![.,]\d)"),
        re.compile(rf"/{word}s?/(?P<id>\d{{1,18}})\b"),
        re.compile(r"(?<!\w)#\s?(?P<id>\d{1,18})\b"),
        re.compile(rf"\b{word[0]}(?P<id>\d{{2,18}})\b"),
        re.compile(r"\bid\s*:?\s*(?P<id>\d{1,18})\b"),
        re.compile(r"(?<!catalogue )(?<!catalog )(?<!cat )\bnumber (?P<id>\d{3,18})\b"),
    )


def introduced(reading: Reading) -> list[Word]:
    """Words that nothing explains and that stand where a name stands.

    A capital or a digit tells enough. A lower-case word must open the question, follow a word
    such as "by" or "any", or stand right before what is for sale ("kraftwerk lps").
    """
    kept: list[Word] = []
    places = {word.start: at for at, word in enumerate(reading.words)}
    rest = set(reading.rest)
    for word in reading.rest:
        at = places[word.start]
        before = reading.words[at - 1] if at else None
        if (
            _tells(word)
            or before is None
            or before in kept
            or before.plain in _LEADS
            or (before.plain == "for" and at > 1 and concept(reading.words[at - 2].plain) in _SEEKS)
            or _runs_to_goods(reading, at, rest)
        ):
            kept.append(word)
    return kept


def _tells(word: Word) -> bool:
    return (word.is_capital and word.start > 0) or any(c.isdigit() for c in word.text)


def _runs_to_goods(reading: Reading, at: int, rest: set[Word]) -> bool:
    """Whether unexplained words run on to a vocabulary's name or a word such as "records"."""
    while at < len(reading.words) and reading.words[at] in rest:
        at += 1
    if at >= len(reading.words):
        return False
    word = reading.words[at]
    named = any(name.start == word.start for name in reading.names)
    return named or concept(word.plain) in ("item", "stock", "release", "copy", "single", "track")


_SEEKS = frozenset(("search", "look", "want", "stock", "catalog", "hunt"))
_LEADS = listed("by from called titled named label artist any got have find search band")
