"""What a question mentions: each mention has its place in the text and a typed value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class Price:
    """Bounds of a price; None is open."""

    least: Decimal | None = None
    most: Decimal | None = None
    least_excluded: bool = False
    most_included: bool = False


@dataclass(frozen=True)
class Span:
    """Days, both included; ``days`` is set when a length of time was named."""

    first: date | None = None
    last: date | None = None
    days: int | None = None


@dataclass(frozen=True)
class Mention:
    """``kind`` is ``id:release``, ``money``, ``span``, ``limit``, ``quoted`` or ``name``."""

    kind: str
    start: int
    end: int
    value: Any

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


class Claims:
    """Parts of a text that are already understood. Nothing is claimed twice."""

    def __init__(self) -> None:
        self.mentions: list[Mention] = []

    def add(self, mention: Mention) -> bool:
        """Claim the mention's place unless part of it is taken."""
        if not self.is_free(mention.start, mention.end):
            return False
        self.mentions.append(mention)
        return True

    def is_free(self, start: int, end: int) -> bool:
        return not any(mention.overlaps(start, end) for mention in self.mentions)

    def of(self, kind: str) -> list[Mention]:
        """Mentions of that kind in the order of the text."""
        found = [mention for mention in self.mentions if mention.kind == kind]
        return sorted(found, key=lambda mention: mention.start)
