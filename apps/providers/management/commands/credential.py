"""Keys of model providers: add, test, list, replace, revoke. Secrets come in on standard input."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.guilds.models import Guild
from apps.providers import catalog, operations
from apps.providers.command_line import (
    actor_named,
    add_common,
    as_json,
    credential_named,
    guild_named,
    read_secret,
)
from apps.providers.models import Credential

WRITE = "llm.provider.write"


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        add = actions.add_parser("add", help="seal a new key; the key is read from standard input")
        add.add_argument("--provider", required=True, choices=catalog.names())
        add.add_argument("--label", required=True, help="what people call it")
        add.add_argument("--base-url", default="", help="for a custom provider")
        replace = actions.add_parser("replace", help="a new secret, read from standard input")
        replace.add_argument("key", help="label or id")
        replace.add_argument("--base-url", default=None, help="another address with it")
        revoke = actions.add_parser("revoke", help="wipe a key for good")
        revoke.add_argument("key", help="label or id")
        test = actions.add_parser("test", help="ask the provider whether it takes the key")
        test.add_argument("key", help="label or id")
        for action in (add, test, replace, revoke, actions.add_parser("list", help="every key")):
            add_common(action)

    def handle(self, *args: Any, **options: Any) -> None:
        guild = guild_named(options["guild"])
        action = {
            "add": self._add,
            "test": self._test,
            "list": self._list,
            "replace": self._replace,
            "revoke": self._revoke,
        }[options["action"]]
        try:
            action(guild, options)
        except operations.ProvidersError as error:
            raise CommandError(str(error)) from None

    def _add(self, guild: Guild, options: dict[str, Any]) -> None:
        actor = actor_named(guild, options["user"], WRITE)
        made = operations.add_credential(
            guild=guild,
            provider=options["provider"],
            label=options["label"],
            secret=read_secret(),
            base_url=options["base_url"],
            actor=actor,
        )
        self._tell(made, options, "is sealed")

    def _test(self, guild: Guild, options: dict[str, Any]) -> None:
        from apps.providers.trying import try_key  # brings an HTTP client

        actor = actor_named(guild, options["user"], "llm.provider.test")
        found = credential_named(guild, options["key"])
        if not found.is_sealed:
            raise CommandError(f"“{found.label}” is revoked and its secret is wiped.")
        result = try_key(found, actor=actor)
        if options["json"]:
            found.refresh_from_db()
            self.stdout.write(as_json(_shown(found) | {"models": result.models}))
        else:
            self.stdout.write(result.words)
        if not result.ok:
            sys.exit(1)

    def _replace(self, guild: Guild, options: dict[str, Any]) -> None:
        actor = actor_named(guild, options["user"], WRITE)
        found = credential_named(guild, options["key"])
        made = operations.replace_secret(
            found, read_secret(), base_url=options["base_url"], actor=actor
        )
        self._tell(made, options, "has a new secret")

    def _revoke(self, guild: Guild, options: dict[str, Any]) -> None:
        actor = actor_named(guild, options["user"], WRITE)
        found = credential_named(guild, options["key"])
        self._tell(operations.revoke(found, actor=actor), options, "is revoked and wiped")

    def _list(self, guild: Guild, options: dict[str, Any]) -> None:
        actor_named(guild, options["user"], WRITE)
        rows = Credential.objects.of(f"guild:{guild.pk}").order_by("created_at", "pk")
        if options["json"]:
            self.stdout.write(as_json([_shown(row) for row in rows]))
            return
        for row in rows:
            tested = row.test_class or row.test
            self.stdout.write(f"{row.label}\t{row.provider}\t{row.status}\t{tested}\t{row.pk}")

    def _tell(self, row: Credential, options: dict[str, Any], what: str) -> None:
        if options["json"]:
            self.stdout.write(as_json(_shown(row)))
        else:
            self.stdout.write(f"“{row.label}” ({row.provider}) {what}. Its id is {row.pk}.")


def _shown(row: Credential) -> dict[str, Any]:
    """What may be known of a key."""
    names = ("id", "label", "provider", "base_url", "fingerprint", "status", "test", "test_class")
    dates = ("tested_at", "created_at", "updated_at", "revoked_at")
    return {name: getattr(row, name) for name in (*names, *dates)}
