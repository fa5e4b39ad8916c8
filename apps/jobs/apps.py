"""Jobs: durable work with progress, checkpoint, cancel and a report."""

from importlib import import_module

from django.apps import AppConfig, apps
from django.utils.module_loading import module_has_submodule


class JobsConfig(AppConfig):
    name = "apps.jobs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        for config in apps.get_app_configs():
            ours = config.name.startswith("apps.")
            if ours and config.name != self.name and module_has_submodule(config.module, "jobs"):
                import_module(f"{config.name}.jobs")
