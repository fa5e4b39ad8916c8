"""Import a seller's inventory export (CSV) into the stock."""

from __future__ import annotations

import argparse
from typing import Any

from apps.shop.importers.command import ImportCommand


class Command(ImportCommand):
    help = __doc__
    kind = "import_stock"
    file_help = "the inventory export, CSV"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--currency", required=True, help="what the prices are in; the file never says"
        )
        parser.add_argument(
            "--rate", default="", help="what one unit is worth in the shop's currency"
        )

    def job_args(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"currency": options["currency"], "rate": options["rate"]}
