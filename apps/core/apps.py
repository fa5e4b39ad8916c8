"""The ground floor: no tables, no rows, no calls upwards."""

from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class CoreConfig(AppConfig):
    name = "apps.core"

    def ready(self) -> None:
        # shared_task binds to the current Celery app, so every process must have made it.
        import_module("config.celery")
        from . import views_sql

        pre_migrate.connect(views_sql.drop_before_migrations, dispatch_uid="reading.drop")
        post_migrate.connect(views_sql.build_after_migrations, dispatch_uid="reading.build")
