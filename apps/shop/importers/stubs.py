"""Releases that a row names: found by Discogs' id, or made as stubs from the row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from django.db.models import QuerySet

from apps.core import clock
from apps.guilds.models import Guild
from apps.shop.formats import carriers_of, display_name, year_of
from apps.shop.importers.upsert import any_of, upsert
from apps.shop.models import Release
from apps.shop.models.catalog import search_text


@dataclass(frozen=True, slots=True)
class Named:
    """What a row says about its release, as written."""

    discogs_id: int
    artist: str = ""
    title: str = ""
    label: str = ""
    catno: str = ""
    format: str = ""
    released: str = ""


def releases_for(guild: Guild, named: Iterable[Named]) -> dict[int, int]:
    """Our release id by Discogs id, stubs made for the unknown ones.

    A stub without artist, made from an order line, is filled from a row that knows more;
    a release that is no stub is never touched.
    """
    wanted = {release.discogs_id: release for release in named}
    found = Release.objects.filter(guild=guild, discogs_id__in=any_of(wanted))
    known: dict[int, int] = {}
    missing = dict(wanted)
    for number, pk, is_stub, artist in found.values_list(
        "discogs_id", "pk", "is_stub", "artist_match"
    ):
        known[number or 0] = pk
        if not is_stub or artist or not wanted[number or 0].artist:
            del missing[number or 0]
    if not missing:
        return known
    _make_stubs(guild, [missing[number] for number in sorted(missing)])
    return known | ids_of(Release.objects.filter(guild=guild, discogs_id__in=any_of(missing)))


def ids_of(releases: QuerySet[Release]) -> dict[int, int]:
    """Our id by Discogs' id."""
    return {number: pk for number, pk in releases.values_list("discogs_id", "pk") if number}


def _make_stubs(guild: Guild, missing: Iterable[Named]) -> None:
    rows = [_stub_row(guild, release) for release in missing]
    filled = [name for name in rows[0] if name not in ("guild_id", "discogs_id", "created_at")]
    upsert(
        Release,
        rows,
        key=["guild_id", "discogs_id"],
        update=filled,
        only_where="stored.is_stub AND stored.artist_match = ''",
    )


def _stub_row(guild: Guild, named: Named) -> Mapping[str, Any]:
    now = clock.now()
    row: dict[str, Any] = {
        "guild_id": guild.pk,
        "discogs_id": named.discogs_id,
        "title": named.title,
        "artist_display": display_name(named.artist),
        "artist_match": named.artist,
        "label_display": display_name(named.label),
        "catno_display": named.catno,
        "format_text": named.format,
        "country": "",
        "released": named.released,
        "year": year_of(named.released),
        "genres": [],
        "styles": [],
        "carriers": carriers_of(named.format),
        "notes": "",
        "has_image": False,
        "data_quality": "",
        "is_stub": True,
        "created_at": now,
        "updated_at": now,
    }
    row["search"] = search_text(SimpleNamespace(**row))
    return row
