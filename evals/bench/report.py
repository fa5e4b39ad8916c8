"""What was measured, and how it is shown: one Markdown table, or the same as JSON."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Measured:
    """One figure beside its reference; ``ratio`` is ours by the reference, None without one.

    ``unit`` is what ``ours`` and ``theirs`` are in. A ratio of rates would turn round, so
    every figure here is a cost: less is better.
    """

    benchmark: str
    case: str
    ours: float
    unit: str
    reference: str
    theirs: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return round(self.ours / self.theirs, 2) if self.theirs else None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of all values does not exceed; the only one of one."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def machine(postgres: str) -> dict[str, Any]:
    """What the figures depend on; the machine's name is nobody's business."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "postgres": postgres,
    }


def to_json(measured: Iterable[Measured], facts: dict[str, Any]) -> dict[str, Any]:
    return {"machine": facts, "results": [one.to_json() for one in measured]}


def to_markdown(measured: Iterable[Measured], facts: dict[str, Any]) -> str:
    """The machine in a line, then the table."""
    lines = [
        f"{facts['date']}, {facts['cores']} cores ({facts['system']}, load before the run "
        f"{facts['load_before']}), Python {facts['python']}, PostgreSQL {facts['postgres']}.",
        "",
        "| Benchmark | Case | Gatehouse | Reference | Ratio | Note |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_line, measured)])


def _line(one: Measured) -> str:
    theirs = "" if one.theirs is None else f": {_amount(one.theirs, one.unit)}"
    ratio = "–" if one.ratio is None else f"{one.ratio:.2f}"
    ours = _amount(one.ours, one.unit)
    cells = (one.benchmark, one.case, ours, one.reference + theirs, ratio, one.note)
    return f"| {' | '.join(cells)} |"


def _amount(value: float, unit: str) -> str:
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} {unit}"
