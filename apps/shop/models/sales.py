"""Customers and what they bought."""

from __future__ import annotations

from django.db import models

from apps.shop.models.base import MONEY, ShopRow
from apps.shop.models.catalog import Release
from apps.shop.models.stock import StockItem


class Customer(ShopRow):
    """A buyer, known by name within the guild. Tools see only the initials."""

    name = models.TextField()
    email = models.TextField(blank=True, default="")
    initials = models.CharField(max_length=8, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["guild", "name"], name="customer_once_per_guild")
        ]

    def __str__(self) -> str:
        return f"customer {self.pk}"

    @property
    def ref(self) -> str:
        return f"customer:{self.pk}"


class Sale(ShopRow):
    """An order. ``total`` is counted once, however many items; ``status_text`` is as written."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        COMPLETED = "completed", "Completed"
        REFUNDED = "refunded", "Refunded"
        CANCELLED = "cancelled", "Cancelled"
        UNKNOWN = "unknown", "Unknown"

    order_number = models.TextField()
    customer = models.ForeignKey(
        Customer, on_delete=models.SET_NULL, null=True, blank=True, related_name="sales"
    )
    ordered_at = models.DateTimeField(null=True, blank=True)
    status_text = models.TextField(blank=True, default="")
    state = models.CharField(max_length=10, choices=State.choices, default=State.UNKNOWN)
    total = models.DecimalField(**MONEY, default=0)
    shipping = models.DecimalField(**MONEY, null=True, blank=True)
    fee = models.DecimalField(**MONEY, null=True, blank=True)
    tax = models.DecimalField(**MONEY, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["guild", "order_number"], name="order_once_per_guild"),
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["open", "completed", "refunded", "cancelled", "unknown"]
                ),
                name="sale_state_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["guild", "state", "ordered_at"], name="sale_by_day"),
        ]

    def __str__(self) -> str:
        return f"order {self.order_number}"

    @property
    def ref(self) -> str:
        return f"sale:{self.pk}"


class SaleItem(ShopRow):
    """One line of an order. ``item_number`` is Discogs' own id of the line, when it gave one."""

    sale = models.ForeignKey(Sale, on_delete=models.CASCADE, related_name="items")
    item_number = models.TextField(null=True, blank=True)
    release = models.ForeignKey(
        Release, on_delete=models.SET_NULL, null=True, blank=True, related_name="sale_items"
    )
    stock_item = models.ForeignKey(
        StockItem, on_delete=models.SET_NULL, null=True, blank=True, related_name="sale_items"
    )
    description = models.TextField(blank=True, default="")
    price = models.DecimalField(**MONEY)
    quantity = models.PositiveIntegerField(default=1)
    media_grade = models.TextField(blank=True, default="")
    sleeve_grade = models.TextField(blank=True, default="")
    location = models.TextField(blank=True, default="")
    external_id = models.TextField(blank=True, default="")
    removed = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sale", "item_number"], name="item_once_per_order")
        ]

    def __str__(self) -> str:
        return f"sale item {self.pk}"
