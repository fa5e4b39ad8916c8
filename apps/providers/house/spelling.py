"""Slips of the pen put right before a question is read: "relase", "undr", "saels"."""

from __future__ import annotations

from collections.abc import Callable, Collection

from apps.providers.house.words import Word, distance, listed

SHORTEST = 3
LONG = 7
_ALWAYS = listed(
    """
    under below above over between cheaper expensive cheapest dearest dollars dollar euros pounds
    days weeks months years week month year quarter yesterday today january february march april
    june july august september october november december monday tuesday wednesday thursday friday
    saturday sunday weekend release releases copies customers customer catalogue catalog revenue
    sales price priced prices records record stock items sold unsold least most than more less last
    this since first newest oldest longest better near mint genre format orders refunds refunded
    barcode missing wants waiting open filled dropped daily weekly monthly limit what which where
    when many much how the and for are our not have hasn't haven't show list cheap without tell
    """
)  # fmt: skip


class Spelling:
    """Knows the everyday words of questions and the tools' own words."""

    def __init__(self, known: Collection[str], is_plain: Callable[[str], bool]) -> None:
        words = {word for word in {*known, *_ALWAYS} if word.isalpha() and len(word) >= SHORTEST}
        self._by_initial: dict[str, list[str]] = {}
        for word in sorted(words):
            self._by_initial.setdefault(word[0], []).append(word)
        self._is_plain = is_plain

    def corrected(self, word: Word) -> str | None:
        """The word that was meant, or None when it is right, a name, or not to be guessed."""
        plain = word.plain
        if len(plain) < SHORTEST or not plain.isalpha() or self._is_plain(plain):
            return None
        if word.is_capital and word.start > 0 and not word.text.isupper():
            return None
        near = self._by_initial.get(plain[0], ())
        return next((known for known in near if is_slip(plain, known)), None)


def is_slip(word: str, known: str) -> bool:
    """Two letters swapped, one left out or doubled; in a long word any one letter."""
    if abs(len(word) - len(known)) > 1 or word == known:
        return False
    if known[:-1] == word and len(word) <= SHORTEST + 1:
        return False
    swapped = sorted(word) == sorted(known)
    if swapped and len(word) >= LONG - 2:
        return word[0] == known[0]
    doubled = len(word) == len(known) + 1 and any(
        word[:at] + word[at + 1 :] == known and word[at] == word[at - 1]
        for at in range(1, len(word))
    )
    if len(word) == SHORTEST and not swapped:
        return False
    sure = swapped or doubled or len(word) < len(known) or len(word) >= LONG
    return sure and distance(word, known, most=1) == 1
