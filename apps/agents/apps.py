"""Agents: threads, runs, steps, and the loop that executes them."""

from importlib import import_module

from django.apps import AppConfig, apps
from django.utils.module_loading import module_has_submodule


class AgentsConfig(AppConfig):
    name = "apps.agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        for config in apps.get_app_configs():
            ours = config.name.startswith("apps.")
            if ours and module_has_submodule(config.module, "tools") and config.label != "core":
                import_module(f"{config.name}.tools")
        import_module("apps.agents.runtime")
