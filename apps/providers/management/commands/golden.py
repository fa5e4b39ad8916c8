"""Print how many golden questions the house model turns into the right call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.providers.house import fixed_names
from apps.providers.house.scoring import Score, score

FOLDER = Path("evals") / "golden"
FILES = {"known": "known.yaml", "held_out": "held_out.yaml"}


class Command(BaseCommand):
    """Both figures; misses are listed for the known questions only, never for the held-out."""

    help = "Score the house model on the golden questions, held-out ones included."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        scores = {name: self._score(file) for name, file in FILES.items()}
        if options["json"]:
            self.stdout.write(json.dumps(_figures(scores), ensure_ascii=False))
            return
        for name, one in scores.items():
            label = name.replace("_", "-")
            self.stdout.write(
                f"{label}: {one.right} of {len(one.verdicts)} right ({one.percent:.1f} %)"
            )
        for line in _misses(scores["known"]):
            self.stdout.write(line)

    @staticmethod
    def _score(file: str) -> Score:
        path = Path(settings.BASE_DIR) / FOLDER / file
        if not path.is_file():
            raise CommandError(f"{FOLDER / file} is missing; it belongs to the project's files.")
        return score(path, load=fixed_names.load)


def _figures(scores: dict[str, Score]) -> dict[str, Any]:
    figures: dict[str, Any] = {
        name: {"right": one.right, "cases": len(one.verdicts), "percent": round(one.percent, 1)}
        for name, one in scores.items()
    }
    figures["known"]["misses"] = _misses(scores["known"])
    return figures


def _misses(known: Score) -> list[str]:
    return [
        f"{one.question!r}: got {one.tool or 'a question back'} {dict(one.arguments)}, "
        f"expected {[dict(way) for way in one.expected]}"
        for one in known.verdicts
        if not one.is_right
    ]
