"""Bring an installation up to date: logins, migrations, the first guild and staff user."""

from __future__ import annotations

import argparse
import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import call_command, get_commands
from django.core.management.base import BaseCommand

from apps.audit.models import Event
from apps.core import proof, reading
from apps.guilds import operations
from apps.guilds.models import Guild


class Command(BaseCommand):
    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--demo", action="store_true", help="load the demo shop when the shop is empty"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with _alone():
            self._set_up(demo=options["demo"])

    def _set_up(self, *, demo: bool) -> None:
        if settings.SUPERUSER_DATABASE_URL:
            call_command("create_roles", stderr=self.stderr)
        call_command("migrate", database=reading.OWNER, verbosity=0, interactive=False)
        guild, _user = operations.ensure_first_guild()
        proof.prove()
        if demo and "load_demo" in get_commands():
            self._load_demo(guild)

    def _load_demo(self, guild: Any) -> None:
        if not _never_used(guild):
            return
        self.stderr.write("Loading the demo shop …")
        call_command("load_demo", stdout=self.stderr, stderr=self.stderr)


@contextmanager
def _alone() -> Iterator[None]:
    """One set-up at a time on this machine: that of a killed start may still be migrating.

    The kernel frees the lock of a process that dies. Where nothing can be written there is no
    lock, and whoever deploys runs the set-up once.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            settings.VAR.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context((settings.VAR / "migrate.lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _never_used(guild: Guild) -> bool:
    """Whether the shop has no row and never had: a demo shop that was deleted stays away."""
    names = ("Shop", "Release", "StockItem", "Sale", "Customer", "Want")
    used = any(apps.get_model("shop", name).objects.filter(guild=guild).exists() for name in names)
    deleted = Event.objects.filter(guild_id=guild.pk, kind="shop_delete").exists()
    return not used and not deleted
