"""The record shop: catalogue, stock, sales, want lists, and the tools that read them."""

from importlib import import_module

from django.apps import AppConfig

from apps.core.reading import register_view


class ShopConfig(AppConfig):
    name = "apps.shop"
    label = "shop"
    verbose_name = "Record shop"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.shop import models, vocabularies

        for name in models.__all__:
            register_view(getattr(models, name))
        # Tools know buyers by initials alone; what else names one reads as empty text.
        register_view(models.Customer, replace={"name": "''::text", "email": "''::text"})
        register_view(models.Want, replace={"notes": "''::text"})
        vocabularies.register()
        import_module("apps.shop.tools")
