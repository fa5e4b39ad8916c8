"""The shop of a guild: its currency, and whether its rows are made up."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Shop(models.Model):
    """One per guild. Currency is blank until the first import; a shop is wholly demo or real."""

    guild = models.OneToOneField(
        "guilds.Guild", on_delete=models.CASCADE, primary_key=True, related_name="shop"
    )
    currency = models.CharField(max_length=3, blank=True, default="")
    is_demo = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(currency="") | Q(currency__regex=r"^[A-Z]{3}$"),
                name="shop_currency_is_a_code",
            )
        ]

    def __str__(self) -> str:
        return f"shop of guild {self.pk}"
