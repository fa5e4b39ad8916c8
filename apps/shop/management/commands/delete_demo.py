"""Delete the demo shop, all of it; a real shop is refused."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.shop import demo
from apps.shop.management.commands.load_demo import find_guild


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--guild", type=int, help="guild number; the first one by default")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            gone = demo.delete(find_guild(options["guild"]))
        except demo.NothingToDelete as error:
            raise CommandError(f"{error}.") from error
        self.stdout.write(f"The demo shop is gone: {gone:,} rows.")
