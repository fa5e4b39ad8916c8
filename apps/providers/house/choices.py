"""Which option of an argument a question asks for: by its name, its hinted words, or an order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

# General English for an order by the thing named: least first, greatest first.
_ORDERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "price": (
        ("cheapest", "cheap first", "lowest price", "lowest priced", "lowest-priced", "bargain",
         "least expensive", "by price", "price ascending", "low to high", "cheaper first",
         "sorted by price", "price low", "bargains", "cheap", "lowest"),
        ("dearest", "most expensive", "priciest", "highest priced", "highest-priced", "costliest",
         "highest price", "expensive first", "dear first", "high to low", "most valuable",
         "price descending", "highest", "most costly", "expensive", "pricey", "top priced"),
    ),
    "date": (
        ("oldest", "earliest", "oldest first"),
        ("newest", "latest", "most recent", "recent", "newest first", "most recently", "recently"),
    ),
    "age": (("youngest",), ("oldest", "longest", "longest first", "oldest first", "slowest")),
}  # fmt: skip
_DATED = frozenset(("date", "listed", "added", "created", "updated", "time", "when", "arrived"))
_FILLERS = (
    "the|all|any|those|these|that|which|ones|are|is|were|was|already|copies|items|records|also|"
    "they|they're|it's|it|if|been|have|has|of|its|their|our|even|them"
)
_ADVERBS = {"day": "daily", "hour": "hourly", "year": "yearly", "quarter": "quarterly"}


def phrases(options: Sequence[str], words: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """From each phrase to the option it asks for; hinted words win over derived ones."""
    found: dict[str, str] = {}
    for option in options:
        for phrase in words.get(option, ()):
            found.setdefault(phrase.lower(), option)
    for option in options:
        for phrase in _derived(option, options):
            found.setdefault(phrase, option)
    return found


def _derived(option: str, options: Sequence[str]) -> Iterator[str]:
    name = option.lstrip("-+").replace("_", " ")
    kind = "date" if name in _DATED else name
    if kind in _ORDERS:
        least, greatest = _ORDERS[kind]
        lone = f"-{name}" not in options and kind == "age"
        yield from greatest if option.startswith("-") or lone else least
        yield from () if option.startswith("-") else (f"by {name}", f"order of {name}")
        return
    if any(other.startswith("-") for other in options):
        yield from (f"by {name}", f"{name} order", f"order of {name}")
        return
    yield from (name, f"by {name}", f"{name} by {name}", f"per {name}", f"{name}s")
    yield _ADVERBS.get(name, f"{name}ly")


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str]:
    words = [re.escape(word) for word in re.split(r"[\s-]+", phrase)]
    between = rf"[\s-]+(?:(?:{_FILLERS})[\s-]+){{0,2}}"
    return re.compile(rf"(?<![\w-]){between.join(words)}(?![\w]|-\w)")


def choose(text: str, options: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
    """Options asked for in lower-case text with their places, longest phrase first."""
    found = []
    for phrase, option in options.items():
        match = _pattern(phrase).search(text)
        if match:
            found.append((option, match.start(), match.end()))
    yield from sorted(found, key=lambda item: (item[1] - item[2], item[1]))
