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

    def job_args(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"items_path": str(options["items"].absolute())} if options["items"] else {}
