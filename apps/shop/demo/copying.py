"""Turns pressings into rows and sends them with COPY, one batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models

from apps.shop import formats
from apps.shop.demo.pressings import Pressing
from apps.shop.models import (
    Identifier,
    Release,
    ReleaseArtist,
    ReleaseFormat,
    ReleaseLabel,
    StockItem,
    Track,
)
from apps.shop.models.catalog import search_text

# Above every number that Discogs has given, so that a demo row never names a real release.
FIRST_RELEASE = 900_000_001
FIRST_LISTING = 9_000_000_001

Row = dict[str, Any]


def reserve(model: type[models.Model], count: int) -> list[int]:
    """Fresh primary keys from the table's own sequence."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [row[0] for row in cursor.fetchall()]


def send(model: type[models.Model], rows: Iterable[Row]) -> None:
    """COPY rows of one shape into the model's table; nothing for none."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    columns = ", ".join(f'"{name}"' for name in first)
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        statement = f'COPY "{model._meta.db_table}" ({columns}) FROM STDIN'
        with cursor.copy(statement) as copy:
            copy.write_row(tuple(first.values()))
            for row in rows:
                copy.write_row(tuple(row.values()))


def send_pressings(
    guild_id: int, batch: Sequence[Pressing], *, currency: str, at: datetime
) -> None:
    """Write releases with their parts and copies, setting each one's ``row_id``."""
    for pressing, row_id in zip(batch, reserve(Release, len(batch)), strict=True):
        pressing.row_id = row_id
    copies = [copy for pressing in batch for copy in pressing.copies]
    for copy, row_id in zip(copies, reserve(StockItem, len(copies)), strict=True):
        copy.row_id = row_id
    send(Release, (_release(guild_id, pressing, at) for pressing in batch))
    send(ReleaseArtist, _artists(guild_id, batch))
    send(ReleaseLabel, _labels(guild_id, batch))
    send(ReleaseFormat, _formats(guild_id, batch))
    send(Track, _tracks(guild_id, batch))
    send(Identifier, _identifiers(guild_id, batch))
    send(StockItem, _copies(guild_id, batch, currency, at))


def _release(guild_id: int, pressing: Pressing, at: datetime) -> Row:
    row: Row = {
        "id": pressing.row_id,
        "guild_id": guild_id,
        "discogs_id": FIRST_RELEASE + pressing.number,
        "title": pressing.title,
        "artist_display": " & ".join(formats.display_name(name) for name in pressing.artists),
        "artist_match": " & ".join(pressing.artists),
        "label_display": ", ".join(dict.fromkeys(name for name, _ in pressing.labels)),
        "catno_display": ", ".join(catno for _, catno in pressing.labels),
        "format_text": pressing.format_text,
        "country": pressing.country,
        "released": pressing.released,
        "year": formats.year_of(pressing.released),
        "genres": pressing.genres,
        "styles": pressing.styles,
        "carriers": list(formats.carriers_of(pressing.format_text)),
        "notes": "",
        "master_id": FIRST_RELEASE + pressing.number if pressing.has_master else None,
        "has_image": pressing.has_image,
        "data_quality": "Needs Vote",
        "is_stub": False,
        "created_at": at,
        "updated_at": at,
    }
    return row | {"search": search_text(SimpleNamespace(**row))}


def _artists(guild_id: int, batch: Sequence[Pressing]) -> Iterator[Row]:
    for pressing in batch:
        for at, name in enumerate(pressing.artists):
            yield {
                **_part(guild_id, pressing, at),
                "name": name,
                "display": formats.display_name(name),
                "role": "",
                "joiner": "&" if at + 1 < len(pressing.artists) else "",
            }


def _labels(guild_id: int, batch: Sequence[Pressing]) -> Iterator[Row]:
    for pressing in batch:
        for at, (name, catno) in enumerate(pressing.labels):
            yield {**_part(guild_id, pressing, at), "name": name, "catno": catno}


def _formats(guild_id: int, batch: Sequence[Pressing]) -> Iterator[Row]:
    for pressing in batch:
        for at, part in enumerate(formats.parse_format(pressing.format_text)):
            yield {
                **_part(guild_id, pressing, at),
                "carrier": part.carrier,
                "quantity": part.quantity,
                "descriptions": list(part.descriptions),
                "text": part.text,
            }


def _tracks(guild_id: int, batch: Sequence[Pressing]) -> Iterator[Row]:
    for pressing in batch:
        for at, (number, title, duration) in enumerate(pressing.tracks):
            yield {
                **_part(guild_id, pressing, at),
                "number": number,
                "title": title,
                "duration": duration,
                "is_sub": False,
            }


def _identifiers(guild_id: int, batch: Sequence[Pressing]) -> Iterator[Row]:
    for pressing in batch:
        for at, (kind, value) in enumerate(pressing.identifiers):
            yield {
                **_part(guild_id, pressing, at), "kind": kind, "value": value, "description": "",
            }  # fmt: skip


def _part(guild_id: int, pressing: Pressing, at: int) -> Row:
    return {"guild_id": guild_id, "release_id": pressing.row_id, "position": at + 1}


def _copies(guild_id: int, batch: Sequence[Pressing], currency: str, at: datetime) -> Iterator[Row]:
    for pressing in batch:
        for place, copy in enumerate(pressing.copies):
            yield {
                "id": copy.row_id,
                "guild_id": guild_id,
                "listing_id": FIRST_LISTING + pressing.number * 10 + place,
                "release_id": pressing.row_id,
                "status": copy.status,
                "price": copy.price,
                "currency": currency,
                "original_currency": "",
                "quantity": copy.quantity,
                "media_grade": copy.media,
                "sleeve_grade": copy.sleeve,
                "media_rank": formats.grade_rank(copy.media),
                "comments": copy.comments,
                "location": copy.location,
                "external_id": "",
                "weight": 230,
                "format_quantity": 1,
                "accept_offer": pressing.number % 4 == 0,
                "listed_at": copy.listed_at,
                "market_value": copy.market_value,
                "lowest_competitor": copy.lowest_competitor,
                "cost": copy.cost,
                "edited_at": copy.edited_at,
                "created_at": at,
            }
