"""Import an orders export (CSV), with or without its order items."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from apps.shop.importers.command import ImportCommand


class Command(ImportCommand):
    help = __doc__
    kind = "import_orders"
    file_help = "the orders export, or the order items export alone, CSV"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("items", type=Path, nargs="?", help="the order items export, CSV")
        parser.add_argument("--currency", default="", help="where the file does not say")

    def job_args(self, options: dict[str, Any]) -> dict[str, Any]:
        items = options["items"]
        given = {"items_path": str(items.absolute())} if items else {}
        return given | ({"currency": options["currency"]} if options["currency"] else {})
