"""Which model serves which purpose of a guild: set and list."""

from __future__ import annotations

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.guilds.models import Guild
from apps.providers import operations
from apps.providers.command_line import (
    actor_named,
    add_common,
    as_json,
    credential_named,
    guild_named,
)
from apps.providers.models import ModelProfile, Purpose

SELECT = "llm.provider.select"


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        choose = actions.add_parser("set", help="choose the model of a purpose")
        choose.add_argument("purpose", choices=Purpose.values)
        choose.add_argument("--key", required=True, help="label or id of the key")
        choose.add_argument("--model", required=True, help="as its provider writes it")
        choose.add_argument("--params", default="{}", help="a JSON object, such as temperature")
        for action in (choose, actions.add_parser("list", help="every purpose")):
            add_common(action)

    def handle(self, *args: Any, **options: Any) -> None:
        guild = guild_named(options["guild"])
        actor = actor_named(guild, options["user"], SELECT)
        if options["action"] == "list":
            self._list(guild, options)
            return
        try:
            made = operations.select_model(
                guild=guild,
                purpose=options["purpose"],
                credential=credential_named(guild, options["key"]),
                model=options["model"],
                params=_params(options["params"]),
                actor=actor,
            )
        except operations.ProvidersError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(as_json(_shown(made)) if options["json"] else str(made))

    def _list(self, guild: Guild, options: dict[str, Any]) -> None:
        rows = ModelProfile.objects.of(f"guild:{guild.pk}").select_related("credential")
        found = [_shown(row) for row in rows.order_by("purpose", "pk")]
        if options["json"]:
            self.stdout.write(as_json(found))
            return
        for each in found:
            state = "" if each["enabled"] else "\toff: its key was revoked"
            place = f"{each['provider']}\t{each['key']}"
            self.stdout.write(f"{each['purpose']}\t{each['model']}\t{place}{state}")


def _params(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise CommandError('--params is a JSON object, such as {"temperature": 0.2}.')
    return found


def _shown(profile: ModelProfile) -> dict[str, Any]:
    names = ("id", "purpose", "provider", "model", "params", "enabled", "updated_at")
    return {name: getattr(profile, name) for name in names} | {"key": profile.credential.label}
