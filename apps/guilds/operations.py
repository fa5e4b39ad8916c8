"""Writes of the guilds room: the first guild, grants, one-time sign-in links."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import transaction

from apps.audit.recorder import record
from apps.core import clock

from .capabilities import check
from .models import Grant, Guild, Member, SignInLink, User, digest, new_token

FIRST_GUILD = "Lantern Street Records"
FIRST_EMAIL = "owner@gatehouse.local"
FIRST_NAME = "Shop Owner"


first_guild_listeners: list[Callable[[Guild], None]] = []
"""What higher rooms do for the first guild at each set-up; each may run any number of times."""


class SignInLinksOff(RuntimeError):
    """Sign-in links exist in development only: DEBUG is off."""


@transaction.atomic
def ensure_first_guild() -> tuple[Guild, User]:
    """The local guild and its first staff user; made when the house is empty."""
    guild = Guild.objects.order_by("pk").first() or Guild.objects.create(name=FIRST_GUILD)
    owner = guild.members.filter(is_owner=True, user__isnull=False).select_related("user").first()
    for listener in first_guild_listeners:
        listener(guild)
    if owner and owner.user:
        return guild, owner.user
    user = User.objects.filter(email=FIRST_EMAIL).first() or User.objects.create_user(
        FIRST_EMAIL, name=FIRST_NAME
    )
    Member.objects.get_or_create(
        guild=guild, user=user, defaults={"display_name": FIRST_NAME, "is_owner": True}
    )
    return guild, user


@transaction.atomic
def grant(member: Member, capability: str, *, actor: Member | None) -> Grant:
    """Give a member a capability of its own guild; giving it twice changes nothing."""
    given, created = Grant.objects.get_or_create(
        member=member,
        capability=check(capability),
        defaults={"guild_id": member.guild_id, "granted_by": actor},
    )
    if created:
        record(
            "grant",
            guild_id=member.guild_id,
            actor=f"member:{actor.pk}" if actor else "",
            capability=capability,
            member=member.pk,
        )
    return given


def make_sign_in_link(user: User) -> str:
    """A fresh one-time token for the user; older unused ones stop working."""
    if not settings.DEBUG:
        raise SignInLinksOff("Sign-in links exist in development only, and DEBUG is off.")
    token = new_token()
    with transaction.atomic():
        SignInLink.objects.filter(user=user, used_at__isnull=True).delete()
        SignInLink.objects.create(
            user=user, digest=digest(token), expires_at=clock.now() + SignInLink.LIFETIME
        )
    return token


def redeem_sign_in_link(token: str) -> User | None:
    """The user of an unused, unexpired link, once; None for anything else or with DEBUG off."""
    if not settings.DEBUG:
        return None
    link = SignInLink.objects.usable(token).select_related("user").first()
    if link is None or not link.user.is_active:
        return None
    if not SignInLink.objects.usable(token).update(used_at=clock.now()):
        return None
    record("sign_in_link", guild_id=None, actor=f"user:{link.user.pk}", method="link")
    return link.user
