"""Want lists and collections, both keyed by release."""

from __future__ import annotations

from django.db import models

from apps.shop.models.base import ShopRow
from apps.shop.models.catalog import Release
from apps.shop.models.sales import Customer


class Want(ShopRow):
    """Somebody wants this release: a pressing, never its master. No price, no condition."""

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        FILLED = "filled", "Filled"
        DROPPED = "dropped", "Dropped"

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="wants")
    customer = models.ForeignKey(
        Customer, on_delete=models.CASCADE, null=True, blank=True, related_name="wants"
    )
    notes = models.TextField(blank=True, default="")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.OPEN)
    added_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["guild", "release", "customer"],
                name="want_once_per_customer",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=["open", "filled", "dropped"]),
                name="want_status_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"want {self.pk}"

    @property
    def ref(self) -> str:
        return f"want:{self.pk}"


class CollectionEntry(ShopRow):
    """One copy in a collection; the same release twice is two copies.

    ``copy`` numbers them within release, folder and date, so that a second import finds them.
    ``extra`` holds the columns that the collector defined, by their own names.
    """

    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="collection_entries"
    )
    folder = models.TextField(blank=True, default="")
    rating = models.SmallIntegerField(null=True, blank=True)
    media = models.TextField(blank=True, default="")
    sleeve = models.TextField(blank=True, default="")
    added_at = models.DateTimeField(null=True, blank=True)
    copy = models.PositiveIntegerField(default=1)
    extra = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["guild", "release", "folder", "added_at", "copy"],
                name="collection_copy_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"collection entry {self.pk}"
