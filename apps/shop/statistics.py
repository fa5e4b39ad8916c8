"""Statistics that the database plans with: refreshed after many rows came or went."""

from __future__ import annotations

from django.db import DEFAULT_DB_ALIAS, connections


def refresh() -> None:
    """Analyze the shop's tables now, in at most a few seconds, instead of in a minute or so.

    Without it the first questions after a load may run into the reader's time limit.
    """
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT shop_refresh_statistics()")
