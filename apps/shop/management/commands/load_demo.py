"""Fill an empty shop with the demo shop: invented artists, titles, customers and sales."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.guilds.models import Guild
from apps.shop import demo
from apps.shop.demo.loading import ITEMS


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--items", type=int, default=ITEMS, help="stock items to make")
        parser.add_argument("--seed", type=int, default=demo.SEED, help="same seed, same rows")
        parser.add_argument("--guild", type=int, help="guild number; the first one by default")

    def handle(self, *args: Any, **options: Any) -> None:
        guild = find_guild(options["guild"])
        try:
            loaded = demo.load(guild, items=options["items"], seed=options["seed"])
        except demo.NotEmpty as error:
            raise CommandError(f"{error}. If it is a demo, delete_demo empties it.") from error
        except ValueError as error:
            raise CommandError(f"{error}.") from error
        self.stdout.write(
            f"Demo shop: {loaded.releases:,} releases, {loaded.items:,} items,"
            f" {loaded.orders:,} orders. All of it is invented."
        )


def find_guild(number: int | None) -> Guild:
    """The guild of that number, or the first there is; an error in words when there is none."""
    guilds = Guild.objects.order_by("pk")
    guild = guilds.filter(pk=number).first() if number is not None else guilds.first()
    if guild is None:
        raise CommandError(
            "There is no such guild." if number else "There is no guild yet; run setup first."
        )
    return guild
