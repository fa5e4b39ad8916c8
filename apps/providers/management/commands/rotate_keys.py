"""Seal every kept secret anew with the first key of SEALING_KEYS."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.sealing import SealingError
from apps.providers.command_line import as_json
from apps.providers.rotation import BATCH, Report, rotate


class Command(BaseCommand):
    """Exit code 1 when a value does not open or a column of bytes is not accounted for."""

    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--batch", type=int, default=BATCH, help="rows in one transaction")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch"] < 1:
            raise CommandError("--batch is a number of rows, one or more.")
        try:
            report = rotate(batch=options["batch"], tell=self._tell)
        except SealingError as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(as_json(_figures(report)))
        else:
            self._print(report)
        if not report.is_whole:
            sys.exit(1)

    def _tell(self, table: str, done: int, total: int) -> None:
        self.stderr.write(self.style.HTTP_INFO(f"{table}: {done} of {total}"))

    def _print(self, report: Report) -> None:
        words = f"{report.resealed} sealed anew with {report.current_key!r}; "
        words += f"{report.current} had been before."
        self.stdout.write(self.style.SUCCESS(words) if report.is_whole else words)
        for line in report.broken:
            self.stdout.write(self.style.ERROR(f"Does not open: {line}"))
        for column in report.uncovered:
            self.stdout.write(self.style.ERROR(f"Not covered: {column} belongs to no sealed row"))
        for key, count in report.needed.items():
            missing = "" if key in report.ring else ", and is missing from SEALING_KEYS"
            line = f"Key {key!r} is needed by {count}{missing}"
            self.stdout.write(self.style.ERROR(line) if missing else line)
        for key in report.removable:
            self.stdout.write(f"Key {key!r} is needed by nothing: it may be taken out.")


def _figures(report: Report) -> dict[str, Any]:
    return {
        "current_key": report.current_key,
        "resealed": report.resealed,
        "current": report.current,
        "broken": report.broken,
        "needed": report.needed,
        "removable": report.removable,
        "uncovered": report.uncovered,
    }
