"""The room that knows which model serves a guild, and speaks the wires."""

from __future__ import annotations

import math

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class ProvidersConfig(AppConfig):
    name = "apps.providers"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Refuse to start with a waiting time that is none."""
        check_timeout()


def check_timeout() -> None:
    """ImproperlyConfigured, in words, unless LLM_TIMEOUT is a number of seconds above zero."""
    seconds = settings.LLM_TIMEOUT
    if not isinstance(seconds, int | float) or not math.isfinite(seconds) or seconds <= 0:
        raise ImproperlyConfigured(
            f"LLM_TIMEOUT must be a number of seconds above zero; it is {seconds!r}."
        )
