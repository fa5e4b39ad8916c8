"""What an import did, and every row that it could not take as it stood."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

MOST_PROBLEMS = 1000
LONGEST_VALUE = 80

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing about one field. ``line`` is where the row starts; 0 means the whole file."""

    line: int
    field: str
    value: str
    why: str


@dataclass
class Report:
    """Counts and problems: ``created + updated + skipped == read``.

    A problem does not always skip its row: an unknown grade is kept and told. The first
    thousand problems are listed, ``errors_total`` counts all.
    """

    read: int = 0
    created: int = 0
    updated: int = 0
    skipped: int = 0
    errors_total: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, stored: dict[str, Any]) -> Report:
        """The report as a checkpoint kept it; an empty one for ``{}``."""
        names = set(cls.__dataclass_fields__) - {"extra"}
        known = {name: stored[name] for name in names if name in stored}
        extra = {name: value for name, value in stored.items() if name not in known}
        return cls(**known, extra=extra)

    def tell(self, problem: Problem) -> None:
        """List a problem while there is room, and count it."""
        self.errors_total += 1
        if len(self.errors) < MOST_PROBLEMS:
            told = asdict(problem)
            told["value"] = shown(problem.value)
            self.errors.append(told)

    def skip(self, problem: Problem) -> None:
        """A row that could not be imported."""
        self.skipped += 1
        self.tell(problem)

    def to_json(self) -> dict[str, Any]:
        values = asdict(self)
        return values.pop("extra") | values


def shown(value: str) -> str:
    """A value as a report may quote it: cut, and with control characters made visible."""
    cut = value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", cut)
