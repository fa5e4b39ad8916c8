"""The room that knows which model serves a guild, and speaks the wires."""

from __future__ import annotations

import math

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from apps.core.sealing import SealingError, sealer


class ProvidersConfig(AppConfig):
    name = "apps.providers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Refuse to start with a waiting time that is none or a key ring that is broken."""
        from apps.guilds import operations as guilds

        from .first_guild import open_to_operator

        check_timeout()
        check_sealing_keys()
        if open_to_operator not in guilds.first_guild_listeners:
            guilds.first_guild_listeners.append(open_to_operator)


def check_timeout() -> None:
    """ImproperlyConfigured, in words, unless LLM_TIMEOUT is a number of seconds above zero."""
    seconds = settings.LLM_TIMEOUT
    if not isinstance(seconds, int | float) or not math.isfinite(seconds) or seconds <= 0:
        raise ImproperlyConfigured(
            f"LLM_TIMEOUT must be a number of seconds above zero; it is {seconds!r}."
        )


def check_sealing_keys() -> None:
    """ImproperlyConfigured, in words, for a key ring that cannot be read.

    An empty ring is told only when a secret is to be kept: the settings require one outside
    development.
    """
    if not settings.SEALING_KEYS:
        return
    try:
        sealer()
    except SealingError as error:
        raise ImproperlyConfigured(str(error)) from None
