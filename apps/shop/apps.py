"""The record shop: catalogue, stock, sales, want lists, and the tools that read them."""

from django.apps import AppConfig

from apps.core.reading import register_view


class ShopConfig(AppConfig):
    name = "apps.shop"
    label = "shop"
    verbose_name = "Record shop"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.shop import models

        for name in models.__all__:
            if name != "Customer":
                register_view(getattr(models, name))
        # Tools know buyers by initials alone; name and e-mail read as empty text.
        register_view(models.Customer, replace={"name": "''::text", "email": "''::text"})
