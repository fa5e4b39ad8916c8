"""Words of a question: cut, folded and stemmed, each with its place in the text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:['’&.\-/][^\W_]+)*['’]?|&|\+")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True)
class Word:
    """One word as written; ``plain`` is folded and without a possessive ending."""

    text: str
    plain: str
    start: int
    end: int

    @property
    def is_capital(self) -> bool:
        return self.text[:1].isupper()


def fold(text: str) -> str:
    """Lower case without accents, curly quotes made straight."""
    straight = text.replace("’", "'").replace("“", '"').replace("”", '"').replace("″", '"')
    marks = unicodedata.normalize("NFKD", straight)
    return "".join(c for c in marks if not unicodedata.combining(c)).casefold()


def lower(text: str) -> str:
    """Lower case of the same length, so that places in it are places in the text."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text.translate(_STRAIGHT))


_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "″": '"', "–": "-", "—": "-"})


def cut(text: str) -> list[Word]:
    """Every word of the text in order."""
    found = []
    for match in _WORD.finditer(text):
        plain = _POSSESSIVE.sub("", fold(match.group()))
        found.append(Word(match.group(), plain or match.group(), match.start(), match.end()))
    return found


def listed(text: str) -> frozenset[str]:
    """Words of a list that is easier to read as text."""
    return frozenset(text.split())


def stem(word: str) -> str:
    """A word without its commonest English endings; short words stay as they are."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word


_ENDINGS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("ings", ""),
    ("ing", ""),
    ("ied", "y"),
    ("ed", ""),
    ("ss", "ss"),
    ("us", "us"),
    ("s", ""),
)


def distance(left: str, right: str, *, most: int) -> int:
    """Edits (one letter more, less, other, or two swapped) between two words, or ``most + 1``."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        previous, row = row, [i]
        for j, b in enumerate(right, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before = previous
    return row[-1]
