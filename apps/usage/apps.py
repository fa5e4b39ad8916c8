"""The room that counts what models cost, and refuses what the day cannot pay."""

from __future__ import annotations

from django.apps import AppConfig


class UsageConfig(AppConfig):
    name = "apps.usage"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Refuse to start with a budget or a price that is no amount."""
        from . import amounts

        amounts.check()
