"""Console: navigation, sign-in, health and the first-run guide."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "apps.console"
