"""One ``<release>`` of a dump as rows. Unknown attributes and elements are passed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import models
from lxml import etree

from apps.shop.formats import carrier_of, display_name, year_of
from apps.shop.importers.fields import GREATEST_COUNT, GREATEST_ID, whole
from apps.shop.models import Identifier, ReleaseArtist, ReleaseFormat, ReleaseLabel, Track

Part = dict[str, Any]
DROPPED_DESCRIPTIONS = frozenset({"Stereo"})


@dataclass(frozen=True, slots=True)
class FromDump:
    """A release read: its own columns, and its parts by model in the dump's order."""

    line: int
    discogs_id: int
    values: dict[str, Any]
    parts: dict[type[models.Model], list[Part]]


def read_release(element: etree._Element, line: int) -> FromDump | None:
    """The release; None when its id is no id."""
    number = whole((element.get("id") or "").strip(), GREATEST_ID)
    if not number:
        return None
    main = list(_artists(element, "artists"))
    labels = [_label(label) for label in element.iterfind("labels/label")]
    formats = [_format(item) for item in element.iterfind("formats/format")]
    parts: dict[type[models.Model], list[Part]] = {
        ReleaseArtist: [*main, *_artists(element, "extraartists")],
        ReleaseLabel: labels,
        ReleaseFormat: formats,
        Track: list(_tracks(element.find("tracklist"))),
        Identifier: [_identifier(item) for item in element.iterfind("identifiers/identifier")],
    }
    values = {**_plain(element), **_joined(main, labels, formats)}
    return FromDump(line, number, values, parts)


def _plain(element: etree._Element) -> dict[str, Any]:
    released = _text(element, "released")
    return {
        "title": _text(element, "title"),
        "country": _text(element, "country"),
        "released": released,
        "year": year_of(released),
        "genres": _texts(element, "genres/genre"),
        "styles": _texts(element, "styles/style"),
        "notes": _text(element, "notes").replace("\r\n", "\n").replace("\r", "\n"),
        "master_id": whole(_text(element, "master_id"), GREATEST_ID) or None,
        "has_image": element.find("images/image") is not None,
        "data_quality": _text(element, "data_quality"),
    }


def _joined(main: list[Part], labels: list[Part], formats: list[Part]) -> dict[str, Any]:
    """What rows show in one line: artists, labels, catalogue numbers, formats."""
    return {
        "artist_display": _credit(main, "display"),
        "artist_match": _credit(main, "name"),
        "label_display": _once(display_name(label["name"]) for label in labels),
        "catno_display": _once(label["catno"] for label in labels),
        "format_text": " + ".join(_format_text(item) for item in formats),
        "carriers": list(dict.fromkeys(item["carrier"] for item in formats if item["carrier"])),
    }


def _artists(element: etree._Element, path: str) -> Iterator[Part]:
    for artist in element.iterfind(f"{path}/artist"):
        name = _text(artist, "name")
        yield {
            "name": name,
            "display": display_name(_text(artist, "anv") or name),
            "role": _text(artist, "role"),
            "joiner": _text(artist, "join"),
        }


def _credit(artists: list[Part], field: str) -> str:
    """Names with what joins them: ``A & B``, ``A, B``, ``A Feat. B``."""
    text = ""
    for at, artist in enumerate(artists):
        text += artist[field]
        if at + 1 < len(artists):
            joiner = artist["joiner"] or ","
            text += f"{joiner} " if joiner == "," else f" {joiner} "
    return text


def _label(label: etree._Element) -> Part:
    return {"name": label.get("name") or "", "catno": label.get("catno") or ""}


def _format(item: etree._Element) -> Part:
    descriptions = _texts(item, "descriptions/description")
    quantity = whole((item.get("qty") or "").strip(), GREATEST_COUNT)
    return {
        "carrier": carrier_of(item.get("name") or "", descriptions),
        "quantity": quantity if quantity is not None else 1,
        "descriptions": descriptions,
        "text": (item.get("text") or "").strip(),
    }


def _format_text(item: Part) -> str:
    """As Discogs writes it, in full words: ``2x12", Album``; speed and stereo are left out."""
    counted = f"{item['quantity']}x" if item["carrier"] and item["quantity"] > 1 else ""
    words = [
        word
        for word in item["descriptions"]
        if word not in DROPPED_DESCRIPTIONS and "RPM" not in word and word != item["carrier"]
    ]
    carrier = f"{counted}{item['carrier']}"
    return ", ".join(part for part in [carrier, *words, item["text"]] if part)


def _tracks(parent: etree._Element | None, *, is_sub: bool = False) -> Iterator[Part]:
    if parent is None:
        return
    for track in parent.iterfind("track"):
        yield {
            "number": _text(track, "position"),
            "title": _text(track, "title"),
            "duration": _text(track, "duration"),
            "is_sub": is_sub,
        }
        yield from _tracks(track.find("sub_tracks"), is_sub=True)


def _identifier(item: etree._Element) -> Part:
    return {
        "kind": item.get("type") or "",
        "value": item.get("value") or "",
        "description": item.get("description") or "",
    }


def _text(element: etree._Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def _texts(element: etree._Element, path: str) -> list[str]:
    found = ((item.text or "").strip() for item in element.iterfind(path))
    return [text for text in found if text]


def _once(texts: Iterable[str]) -> str:
    """Each text once, in order, joined."""
    return ", ".join(dict.fromkeys(text for text in texts if text))
