"""Import a want list export (CSV)."""

from __future__ import annotations

import argparse
from typing import Any

from apps.shop.importers.command import ImportCommand


class Command(ImportCommand):
    help = __doc__
    kind = "import_wants"
    file_help = "the want list export, CSV"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--customer", default="", help="whose wants they are")

    def job_args(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"customer": options["customer"]}
