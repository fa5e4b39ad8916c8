"""The record shop: catalogue, stock, sales, want lists, and the tools that read them."""

from django.apps import AppConfig


class ShopConfig(AppConfig):
    name = "apps.shop"
    label = "shop"
    verbose_name = "Record shop"
    default_auto_field = "django.db.models.BigAutoField"
