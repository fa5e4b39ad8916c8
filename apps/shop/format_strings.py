"""Discogs format strings: ``[Nx]carrier, descriptions…, text``, joined by `` + ``.

A last group without a carrier describes the whole set: ``LP + LP, S/Sided + Album``.
Free text is cut to three characters by Discogs (``Ora``, ``180``); it is kept, never expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

CARRIER_NAMES = {
    "Cass": "Cassette",
    "Box": "Box Set",
    "Flexi": "Flexi-disc",
    "8-Trk": "8-Track Cartridge",
    "4-Trk": "4-Track Cartridge",
    "Reel": "Reel-To-Reel",
    "Lathe": "Lathe Cut",
    "Acet": "Acetate",
    "Shellac": "Shellac",
    "Cyl": "Cylinder",
    "Edison": "Edison Disc",
    "Mini": "Minidisc",
    "MD": "Minidisc",
    "Floppy": "Floppy Disk",
    "Laserdisc": "Laserdisc",
    "SACD": "SACD",
    "Betamax": "Betamax",
    "Microcassette": "Microcassette",
    "Vinyl": "Vinyl",
    "LP": "LP",
    "CD": "CD",
    "CDr": "CDr",
    "CDV": "CDV",
    "DVD": "DVD",
    "DVDr": "DVDr",
    "HD DVD": "HD DVD",
    "Blu-ray": "Blu-ray",
    "Blu-ray-R": "Blu-ray-R",
    "DCC": "DCC",
    "DAT": "DAT",
    "UMD": "UMD",
    "VHS": "VHS",
    "File": "File",
    "Memory Stick": "Memory Stick",
    "PlayTape": "PlayTape",
    "Pathé Disc": "Pathé Disc",
    "NT Cassette": "NT Cassette",
    "Elcaset": "Elcaset",
    "Wire Recording": "Wire Recording",
    "Video 2000": "Video 2000",
    "Hybrid": "Hybrid",
    "All Media": "",
}
DESCRIPTIONS = {
    "MiniAlbum": "Mini-Album",
    "Maxi": "Maxi-Single",
    "Comp": "Compilation",
    "RE": "Reissue",
    "RM": "Remastered",
    "RP": "Repress",
    "Ltd": "Limited Edition",
    "Num": "Numbered",
    "Dlx": "Deluxe Edition",
    "S/Edition": "Special Edition",
    "S/Sided": "Single Sided",
    "Etch": "Etched",
    "Pic": "Picture Disc",
    "Unofficial": "Unofficial Release",
    "TP": "Test Pressing",
    "W/Lbl": "White Label",
    "RSD": "Record Store Day",
    "Club": "Club Edition",
    "Enh": "Enhanced",
    "Smplr": "Sampler",
    "M/Print": "Misprint",
    "P/Mixed": "Partially Mixed",
    "P/Unofficial": "Partially Unofficial",
    "Quad": "Quadraphonic",
}
_PLAIN = (
    "Album, EP, Single, Promo, Mono, Stereo, Mixed, Mixtape, Styrene, Shape, MP3, WAV, FLAC, AAC,"
    " ALAC, WMA, AIFF, HDCD, Multichannel, NTSC, PAL, Jukebox, Advance, Transcription, Ambisonic"
)
PLAIN_DESCRIPTIONS = frozenset(_PLAIN.split(", ")) | frozenset(DESCRIPTIONS.values())

_INCHES = re.compile(r'(\d{1,2}(?:[½¼¾]|\.\d)?)(?:"|″|”|\'\')')
_COUNTED = re.compile(r"(\d{1,4})\s?[x×]\s?(.+)")
_FULL_NAMES = {name: name for name in CARRIER_NAMES.values() if name}
_NAMES = {key.casefold(): name for key, name in {**_FULL_NAMES, **CARRIER_NAMES}.items()}


class _Vinyl:
    """Carriers made of vinyl: ``LP``, any size in inches, and Discogs' own vinyl kinds."""

    def __contains__(self, carrier: object) -> bool:
        text = str(carrier)
        return text in {"LP", "Vinyl", "Flexi-disc", "Lathe Cut"} or bool(_INCHES.fullmatch(text))


VINYL = _Vinyl()


@dataclass(frozen=True)
class FormatPart:
    """One carrier of a set; ``carrier`` is empty for a group that describes the whole set."""

    carrier: str
    quantity: int
    descriptions: tuple[str, ...]
    text: str


@lru_cache(maxsize=8192)
def parse_format(text: str) -> tuple[FormatPart, ...]:
    """The parts of a format string, in order. An empty string has none.

    >>> parse_format('2xLP, Album, RE, Ora')[0]
    FormatPart(carrier='LP', quantity=2, descriptions=('Album', 'Reissue'), text='Ora')
    """
    groups = [group.strip() for group in text.split(" + ")]
    return tuple(_part(group, first=at == 0) for at, group in enumerate(groups) if group)


@lru_cache(maxsize=8192)
def carriers_of(text: str) -> tuple[str, ...]:
    """Every carrier of the set once, in order: ``("LP", '7"')``."""
    return tuple(dict.fromkeys(part.carrier for part in parse_format(text) if part.carrier))


def carrier_of(name: str, descriptions: Iterable[str]) -> str:
    """The carrier of a catalogue format: ``Vinyl`` with ``12"`` is ``12"``.

    A size in inches wins over ``LP``, as in Discogs' own strings. Other media keep their
    name: ten inches of shellac are no vinyl. ``All Media`` is no carrier.
    """
    if name != "Vinyl":
        return _NAMES.get(name.casefold(), name)
    given = list(descriptions)
    sizes = [text for text in given if _INCHES.fullmatch(text)]
    return sizes[0] if sizes else "LP" if "LP" in given else "Vinyl"


def _part(group: str, *, first: bool) -> FormatPart:
    tokens = [token.strip() for token in group.split(", ")]
    quantity, carrier = _counted_carrier(tokens[0], first=first)
    rest = [token for token in (tokens[1:] if carrier is not None else tokens) if token]
    known = tuple(DESCRIPTIONS.get(token, token) for token in rest if _is_description(token))
    odd = ", ".join(token for token in rest if not _is_description(token))
    return FormatPart(carrier or "", quantity, known, odd)


def _counted_carrier(token: str, *, first: bool) -> tuple[int, str | None]:
    """Quantity and carrier of a group's first word; None when the word is no carrier."""
    counted = _COUNTED.fullmatch(token)
    quantity, word = (int(counted[1]), counted[2]) if counted else (1, token)
    inches = _INCHES.fullmatch(word)
    if inches:
        return quantity, f'{inches[1]}"'
    name = _NAMES.get(word.casefold())
    if name is None and (counted or first) and not _is_description(word):
        return quantity, word
    return quantity, name


def _is_description(token: str) -> bool:
    return token in DESCRIPTIONS or token in PLAIN_DESCRIPTIONS or bool(_INCHES.fullmatch(token))
