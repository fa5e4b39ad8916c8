"""Audit: what happened, as metadata only, appended and never changed."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "apps.audit"
    default_auto_field = "django.db.models.BigAutoField"
