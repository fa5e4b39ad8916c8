"""Stock: one row per listing, with grades and status as the exact strings of the source."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from apps.shop.models.base import MONEY, ShopRow
from apps.shop.models.catalog import Release


class StockItem(ShopRow):
    """A listing: ``quantity`` copies of one release at one price, in the shop's currency.

    ``original_price`` keeps what the file said when it was in another currency. Age counts
    from ``listed_at`` (unknown: null), never from ``edited_at``. ``media_rank`` runs from
    8 (Mint) to 1 (Poor) and is null for a grade that Discogs does not know.
    """

    class Status(models.TextChoices):
        FOR_SALE = "For Sale", "For sale"
        DRAFT = "Draft", "Draft"
        SOLD = "Sold", "Sold"
        EXPIRED = "Expired", "Expired"

    listing_id = models.BigIntegerField(null=True, blank=True)
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="stock_items")
    status = models.TextField(default=Status.FOR_SALE)
    price = models.DecimalField(**MONEY)
    currency = models.CharField(max_length=3)
    original_price = models.DecimalField(**MONEY, null=True, blank=True)
    original_currency = models.CharField(max_length=3, blank=True, default="")
    quantity = models.PositiveIntegerField(default=1)
    media_grade = models.TextField(blank=True, default="")
    sleeve_grade = models.TextField(blank=True, default="")
    media_rank = models.SmallIntegerField(null=True, blank=True)
    comments = models.TextField(blank=True, default="")
    location = models.TextField(blank=True, default="")
    external_id = models.TextField(blank=True, default="")
    weight = models.PositiveIntegerField(null=True, blank=True, help_text="grams")
    format_quantity = models.PositiveIntegerField(null=True, blank=True)
    accept_offer = models.BooleanField(default=False)
    listed_at = models.DateTimeField(null=True, blank=True)
    market_value = models.DecimalField(**MONEY, null=True, blank=True)
    lowest_competitor = models.DecimalField(**MONEY, null=True, blank=True)
    cost = models.DecimalField(**MONEY, null=True, blank=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["guild", "listing_id"], name="listing_once_per_guild"),
            models.CheckConstraint(condition=Q(price__gte=0), name="stock_price_not_negative"),
            models.CheckConstraint(
                condition=Q(media_rank__isnull=True) | Q(media_rank__range=(1, 8)),
                name="stock_media_rank_from_1_to_8",
            ),
        ]
        indexes = [
            models.Index(fields=["guild", "status", "price"], name="stock_by_price"),
            models.Index(fields=["guild", "status", "listed_at"], name="stock_by_age"),
        ]

    def __str__(self) -> str:
        return f"stock item {self.pk}"

    @property
    def ref(self) -> str:
        return f"stock:{self.pk}"
