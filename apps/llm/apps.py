"""The one door to models: reserve, call, price, record, settle."""

from __future__ import annotations

from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "apps.llm"
    default_auto_field = "django.db.models.BigAutoField"
