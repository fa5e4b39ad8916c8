"""Which tool a question is for: the nearest example questions, and what its arguments can take."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from apps.providers.house.filling import Filled, fill
from apps.providers.house.lexicon import (
    FAMILY,
    NEGATIONS,
    REQUESTS,
    concept,
)
from apps.providers.house.names import FUZZY
from apps.providers.house.reading import Reader, Reading
from apps.providers.house.words import Word, listed
from apps.providers.types import ToolSpec

Features = Mapping[str, float]

_QUIET = listed(
    "a an the of in on at to for from by with and or but is are was were be been do does did we "
    "you "
    "i it its this that there these those our us my your me so if as can could would will please "
    "just also some any all than then into out up off over under have has had got"
)  # fmt: skip
_FAINT = listed("what which how who whom where when why count one much") | REQUESTS
_HAVING = frozenset(("have", "got", "has", "get"))
_WE = frozenset(("we", "we've", "you", "any", "anything", "there"))
_CHARGED = re.compile(r" (?:is|are|does|do we (?:ask|charge|want)|for)\b(?! .*worth)")
_NEAR_WORDS = 4
UNTOLD = 0.12


@dataclass(frozen=True)
class Match:
    """One tool with its filled arguments; ``score`` orders, ``likeness`` is the bare cosine."""

    spec: ToolSpec
    filled: Filled
    score: float
    likeness: float
    shared: int


class Matcher:
    """Compares a question with every tool's example questions."""

    def __init__(self, tools: Sequence[ToolSpec], reader: Reader) -> None:
        self.tools = tools
        self.reader = reader
        examples = {
            tool.name: [counted(reader.read(text)) for text in tool.examples] for tool in tools
        }
        for tool in tools:
            examples[tool.name].append(
                counted(reader.read(f"{_spaced(tool.name)}. {tool.description}"))
            )
        self._weights = _weights([one for many in examples.values() for one in many])
        self._examples = {
            name: [self._weighed(one) for one in many] for name, many in examples.items()
        }
        self._telling = {name: Telling(name, examples) for name in examples}
        self._profiles = {name: _profile(many) for name, many in self._examples.items()}

    def rank(self, reading: Reading) -> list[Match]:
        """Every tool, best first. The order is total: a tie is broken by name."""
        features = self._weighed(counted(reading))
        matches = [self._match(tool, reading, features) for tool in self.tools]
        return sorted(matches, key=lambda match: (-match.score, match.spec.name))

    def _match(self, tool: ToolSpec, reading: Reading, features: Features) -> Match:
        near = sorted((cosine(features, one) for one in self._examples[tool.name]), reverse=True)
        best, second = near[0], near[1] if len(near) > 1 else 0.0
        profile = self._profiles[tool.name]
        likeness = 0.5 * best + 0.15 * second + 0.35 * cosine(features, profile)
        filled = fill(tool, reading)
        untold = self._telling[tool.name].lack(features)
        shared = sum(
            1 for f, w in features.items() if f in profile and w > 0.5 and not f.startswith("<")
        )
        return Match(tool, filled, likeness + fit(reading, filled) - untold, likeness, shared)

    def _weighed(self, counts: Counter[str]) -> dict[str, float]:
        most = max(self._weights.values(), default=1.0)
        return {
            word: (1 + math.log(count)) * self._weights.get(word, most) * _loudness(word)
            for word, count in counts.items()
        }


def counted(reading: Reading) -> Counter[str]:
    """Features of a question: families of words, what is mentioned, pairs of neighbours."""
    items = sorted([*_slots(reading), *_plain_words(reading)])
    features = [feature for _place, feature in items]
    pairs = [f"{a} {b}" for a, b in pairwise(features) if a != b]
    return Counter([*features, *pairs])


def _slots(reading: Reading) -> Iterable[tuple[int, str]]:
    for mention in reading.claims.mentions:
        kind = "name" if mention.kind == "quoted" else mention.kind
        if kind == "span":
            kind = "length" if mention.value.first is None and mention.value.last is None else kind
        yield mention.start, f"<{kind}>"
    seen: set[int] = set()
    for name in reading.names:
        if name.start not in seen:
            yield name.start, f"<{name.vocabulary}>"
            seen.add(name.start)
    for word in reading.rest:
        if word.is_capital and word.start > 0:
            yield word.start, "<name>"


def _plain_words(reading: Reading) -> Iterable[tuple[int, str]]:
    denied = -10
    for at, word in enumerate(reading.words):
        if word.plain in NEGATIONS or word.plain.endswith("n't"):
            denied = at
            if word.plain in FAMILY:
                yield word.start, concept(word.plain)
            continue
        if not reading.claims.is_free(word.start, word.end) or _is_named(reading, word):
            continue
        if word.plain == "much" and _CHARGED.match(reading.low[word.end :]):
            yield word.start, "price"
            continue
        family = concept(word.plain)
        if family in ("sell", "move") and at - denied <= _NEAR_WORDS:
            family = "unsold"
        elif word.plain in _HAVING and _WE & {
            w.plain for w in reading.words[max(at - 2, 0) : at + 3]
        }:
            family = "hold"
        elif word.plain in _QUIET:
            continue
        yield word.start, family


def _is_named(reading: Reading, word: Word) -> bool:
    if any(name.start < word.end and word.start < name.end for name in reading.names):
        return True
    return word.is_capital and word.start > 0 and word in reading.rest


def fit(reading: Reading, filled: Filled) -> float:
    """How well the arguments take what was mentioned: less for what would be ignored."""
    score = -0.5 * bool(filled.missing)
    for mention in reading.claims.mentions:
        cost = _COSTS.get(mention.kind.partition(":")[0], 0.05)
        is_used = f"{mention.kind}:{mention.start}" in filled.used
        score += 0.03 if is_used else -cost
    score += _fit_of_names(reading, filled)
    score += 0.06 * ("words" in filled.used) + 0.02 * ("choice" in filled.used)
    loose = [word for word in reading.rest if f"rest:{word.start}" not in filled.used]
    return score - 0.03 * min(len(loose), 3)


def _fit_of_names(reading: Reading, filled: Filled) -> float:
    starts = {name.start for name in reading.names if name.rank > FUZZY}
    used = {start for start in starts if f"name:{start}" in filled.used}
    return 0.03 * len(used) - 0.12 * len(starts - used)


_COSTS = {"id": 0.5, "money": 0.25, "span": 0.12, "quoted": 0.12, "name": 0.1, "limit": 0.03}


def cosine(left: Features, right: Features) -> float:
    """Likeness of two weighed bags of features, 0 to 1."""
    small, large = (left, right) if len(left) < len(right) else (right, left)
    product = sum(weight * large[word] for word, weight in small.items() if word in large)
    return product / (_norm(left) * _norm(right)) if product else 0.0


def _norm(features: Features) -> float:
    return math.sqrt(sum(weight * weight for weight in features.values()))


def _weights(bags: Sequence[Counter[str]]) -> dict[str, float]:
    """Inverse document frequency over all example questions."""
    seen = Counter(word for bag in bags for word in bag)
    return {word: math.log((1 + len(bags)) / (1 + n)) + 1 for word, n in seen.items()}


def _loudness(word: str) -> float:
    if " " in word:
        return 0.4
    if word in _FAINT:
        return 0.25
    if word in ("hold", "item"):
        return 0.5
    return 0.7 if word.startswith("<") else 1.0


def _profile(bags: Sequence[Features]) -> Features:
    total: dict[str, float] = {}
    for bag in bags:
        size = _norm(bag) or 1.0
        for word, weight in bag.items():
            total[word] = total.get(word, 0.0) + weight / size
    return {word: math.sqrt(weight) for word, weight in total.items()}


class Telling:
    """Words that are this tool's more than any other's, and how many of its examples hold one.

    A question without any of them is hardly for a tool whose every example has one.
    """

    def __init__(self, name: str, examples: Mapping[str, Sequence[Counter[str]]]) -> None:
        own = _holding(examples[name])
        everywhere = sum((_holding(bags) for bags in examples.values()), Counter[str]())
        self.words = frozenset(
            word for word, n in own.items() if n >= 2 and n >= 0.5 * everywhere[word]
        )
        told = sum(bool(self.words & bag.keys()) for bag in examples[name])
        self.share = told / len(examples[name])

    def lack(self, features: Features) -> float:
        return 0.0 if self.words & features.keys() else UNTOLD * self.share


def _holding(bags: Sequence[Counter[str]]) -> Counter[str]:
    return Counter(
        word
        for bag in bags
        for word in bag
        if " " not in word and word not in _FAINT and not word.startswith("<")
    )


def _spaced(name: str) -> str:
    return name.replace("_", " ")
