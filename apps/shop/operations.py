"""Writes of the shop that touch many tables."""

from __future__ import annotations

from django.db import connection, transaction
from django.db.models import Model

from apps.guilds.models import Guild
from apps.shop import models

CHILDREN_FIRST = (
    models.SaleItem,
    models.Sale,
    models.Want,
    models.CollectionEntry,
    models.StockItem,
    models.Customer,
    models.Track,
    models.Identifier,
    models.ReleaseArtist,
    models.ReleaseLabel,
    models.ReleaseFormat,
    models.Release,
    models.Shop,
)


@transaction.atomic
def delete_all(guild: Guild, *, keep: tuple[type[Model], ...] = ()) -> dict[str, int]:
    """Delete every shop row of the guild, its currency included; rows gone by table.

    Tables named in ``keep`` are left alone. Runs one statement per table, children first,
    without loading a row.
    """
    models.Shop.objects.select_for_update().filter(guild=guild).first()
    gone = {}
    with connection.cursor() as cursor:
        for model in (table for table in CHILDREN_FIRST if table not in keep):
            table = model._meta.db_table
            cursor.execute(f'DELETE FROM "{table}" WHERE guild_id = %s', [guild.pk])  # noqa: S608
            gone[model._meta.model_name or ""] = cursor.rowcount
    return gone
