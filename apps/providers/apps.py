"""The room that knows which model serves a guild, and speaks the wires."""

from __future__ import annotations

from django.apps import AppConfig


class ProvidersConfig(AppConfig):
    name = "apps.providers"
    default_auto_field = "django.db.models.BigAutoField"
