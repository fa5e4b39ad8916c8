"""Vocabularies for golden questions where no database is asked: the trade's common names."""

from __future__ import annotations

from apps.core.vocabulary import Vocabulary

_GENRES = (
    "Electronic", "Rock", "Jazz", "Funk / Soul", "Hip Hop", "Reggae", "Classical", "Pop", "Blues",
    "Latin", "Folk, World, & Country", "Stage & Screen", "Brass & Military", "Children's",
    "Non-Music",
)  # fmt: skip
_STYLES = (
    "Drum n Bass", "Dub", "Techno", "House", "Ambient", "Jungle", "Soul", "Disco", "Punk",
    "Indie Rock", "Psychedelic Rock", "Post-Punk", "Hard Bop", "Bossa Nova", "Roots Reggae",
    "Trip Hop",
)  # fmt: skip
_FORMATS = ("LP", '12"', '7"', '10"', "CD", "Cassette", "DVD", "Box Set", "Vinyl")
_GRADES = (
    "Mint (M)", "Near Mint (NM or M-)", "Very Good Plus (VG+)", "Very Good (VG)", "Good Plus (G+)",
    "Good (G)", "Fair (F)", "Poor (P)",
)  # fmt: skip

FIXED = {
    "genre": Vocabulary(
        _GENRES,
        {
            "electronica": "Electronic", "dance": "Electronic", "rap": "Hip Hop",
            "funk and soul": "Funk / Soul", "world music": "Folk, World, & Country",
            "soundtrack": "Stage & Screen", "film music": "Stage & Screen", "ost": "Stage & Screen",
            "kids": "Children's", "spoken word": "Non-Music", "brass band": "Brass & Military",
        },
    ),
    "style": Vocabulary(
        _STYLES,
        {
            "dnb": "Drum n Bass", "d&b": "Drum n Bass", "drum & bass": "Drum n Bass",
            "d n b": "Drum n Bass", "drumnbass": "Drum n Bass", "postpunk": "Post-Punk",
            "indie": "Indie Rock", "bossanova": "Bossa Nova", "psych": "Psychedelic Rock",
            "psych rock": "Psychedelic Rock", "triphop": "Trip Hop", "bossa": "Bossa Nova",
            "roots": "Roots Reggae",
        },
    ),
    "format": Vocabulary(
        _FORMATS,
        {
            "lp record": "LP", "tape": "Cassette", "cass": "Cassette", "mc": "Cassette",
            "compact disc": "CD", "wax": "Vinyl", "single 7": '7"', "45": '7"', "45s": '7"',
            "maxi": '12"', "maxi single": '12"', "boxset": "Box Set", "cds": "CD",
            "long player": "LP", "seven inch single": '7"', "twelve inch single": '12"',
            "ten inch": '10"', "33s": "LP", "vinyls": "Vinyl", "vinyl record": "Vinyl",
            "7 inch single": '7"', "12 inch single": '12"',
        },
    ),
    "grade": Vocabulary(
        _GRADES,
        {
            "excellent": "Near Mint (NM or M-)", "sealed": "Mint (M)",
            "ex": "Near Mint (NM or M-)", "vg plus": "Very Good Plus (VG+)",
            "near mint": "Near Mint (NM or M-)", "mint minus": "Near Mint (NM or M-)",
        },
    ),
}  # fmt: skip


def load(name: str, guild_id: int) -> Vocabulary:
    """The fixed vocabulary of that name, whatever the guild; an unknown name is empty."""
    return FIXED.get(name, Vocabulary(()))
