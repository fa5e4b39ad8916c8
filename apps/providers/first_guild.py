"""The first local guild of somebody's own machine may use the key that was set there."""

from __future__ import annotations

from django.conf import settings

from apps.guilds.models import Guild

from . import operations
from .models import ProviderPolicy


def open_to_operator(guild: Guild) -> None:
    """Opt the guild in, once: what was decided since stays. Every other guild starts closed."""
    at_home = settings.EMBEDDED or settings.DEBUG
    if not at_home or guild.kind != Guild.Kind.LOCAL:
        return
    if not ProviderPolicy.objects.filter(guild=guild).exists():
        operations.set_policy(guild, operator_credential_allowed=True, actor=None)
