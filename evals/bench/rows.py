"""Guilds of this run's database, with a demo shop in each that needs one."""

from __future__ import annotations

from django.db import transaction

from apps.guilds.models import Guild, Member
from apps.guilds.operations import ensure_first_guild
from apps.providers.operations import set_policy
from apps.shop import demo

LEAST_ITEMS = 100


@transaction.atomic
def owned_guild(name: str) -> Member:
    """A new guild's owner."""
    _, user = ensure_first_guild()
    guild = Guild.objects.create(name=name)
    set_policy(guild, operator_credential_allowed=True, actor=None)
    return Member.objects.create(guild=guild, user=user, display_name=user.name, is_owner=True)


def demo_shop(name: str, items: int) -> Member:
    """The owner of a new guild whose demo shop holds this many items, or a hundred at least."""
    member = owned_guild(name)
    demo.load(member.guild, items=max(items, LEAST_ITEMS))
    return member
