"""What every shop row shares: its guild, and who may see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from django.db import models

if TYPE_CHECKING:
    from apps.guilds.models import Guild, Member

MONEY: dict[str, Any] = {"max_digits": 12, "decimal_places": 2}


class ShopRows(models.QuerySet[Any]):
    """Rows of one guild's shop."""

    def of(self, guild: Guild) -> Self:
        """Rows of that guild."""
        return self.filter(guild=guild)

    def visible_to(self, member: Member | None) -> Self:
        """Rows of the member's own guild; none without a member."""
        if member is None:
            return self.none()
        return self.filter(guild_id=member.guild_id)


class ShopRow(models.Model):
    """A row of one guild. Indexes that begin with the guild stand in for one on it alone."""

    guild = models.ForeignKey(
        "guilds.Guild", on_delete=models.CASCADE, related_name="+", db_index=False
    )

    objects = ShopRows.as_manager()

    class Meta:
        abstract = True
