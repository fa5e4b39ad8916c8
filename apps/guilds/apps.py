"""Guilds: tenants, people, capabilities, and the one door of rights."""

from django.apps import AppConfig


class GuildsConfig(AppConfig):
    name = "apps.guilds"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.core.reading import register_view

        from .models import Guild

        register_view(Guild, columns=["id", "name", "kind", "time_zone"], guild_column="id")
