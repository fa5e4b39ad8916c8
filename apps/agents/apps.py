"""Agents: threads, runs, steps, and the loop that executes them."""

from importlib import import_module

from django.apps import AppConfig, apps
from django.utils.module_loading import module_has_submodule


class AgentsConfig(AppConfig):
    name = "apps.agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        for config in apps.get_app_configs():
            if config.name.startswith("apps.") and module_has_submodule(config.module, "tools"):
                if config.label != "core":
                    import_module(f"{config.name}.tools")
        import_module("apps.agents.runtime")
