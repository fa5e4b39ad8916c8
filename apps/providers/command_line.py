"""What the commands of this room share: which guild, who acts, and a secret that is piped in."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from typing import Any

from django.core.management.base import CommandError
from django.views.decorators.debug import sensitive_variables

from apps.core.sealing import Secret
from apps.guilds.models import Guild, Member
from apps.guilds.policy import Denied, require

from .models import Credential

LONGEST_LINE = 8192


def add_common(parser: argparse.ArgumentParser) -> None:
    """The options that every action of these commands has."""
    parser.add_argument("--guild", default="", help="id or name; may be left out if there is one")
    parser.add_argument(
        "--as", dest="user", default="", help="e-mail of the staff user; the operator if left out"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def guild_named(text: str) -> Guild:
    """The guild of that id or name; without a text the only one there is."""
    if not text:
        guilds = list(Guild.objects.order_by("pk")[:2])
        if len(guilds) != 1:
            raise CommandError("Say which guild: --guild with its id or name.")
        return guilds[0]
    found = list(Guild.objects.filter(name__iexact=text)[:2])
    if text.isascii() and text.isdecimal() and len(text) < 19:
        found = list(Guild.objects.filter(pk=int(text))) or found
    if len(found) != 1:
        what = "Several guilds have" if found else "No guild has"
        raise CommandError(f"{what} the id or name {text[:80]!r}.")
    return found[0]


def actor_named(guild: Guild, email: str, capability: str) -> Member | None:
    """The member who acts, if it may; None stands for the operator, who may do anything."""
    if not email:
        return None
    member = guild.members.filter(user__email__iexact=email, is_active=True).first()
    if member is None:
        raise CommandError(f"No active member of {guild} has the e-mail {email[:80]!r}.")
    try:
        require(member, capability, surface="command")
    except Denied as denied:
        raise CommandError(str(denied)) from None
    return member


@sensitive_variables()
def read_secret() -> Secret:
    """A secret from standard input, asked for where a person types. It is never an argument."""
    if sys.stdin.isatty():
        return Secret(getpass.getpass("Key: "))
    return Secret(sys.stdin.readline(LONGEST_LINE).strip())


def credential_named(guild: Guild, text: str) -> Credential:
    """The guild's key of that label or id; of several with one label the one not revoked."""
    rows = Credential.objects.of(f"guild:{guild.pk}")
    found: Credential | None = rows.live().filter(label__iexact=text).first()
    if found is None:
        found = next((row for row in rows if str(row.pk) == text.lower()), None)
    if found is None:
        raise CommandError(f"{guild} has no key {text[:80]!r}. See: bin/manage credential list")
    return found


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
