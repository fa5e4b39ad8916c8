"""Other names under which people ask for genres, styles and carriers. No Django, no rows."""

from __future__ import annotations

import re

from apps.shop.formats import fold

GENRE_SYNONYMS = {
    "Electronic": ("electronica", "electronic music", "dance", "edm"),
    "Hip Hop": ("hiphop", "rap"),
    "Funk / Soul": ("funk", "soul", "funk and soul", "soul and funk", "soul / funk"),
    "Folk, World, & Country": (
        "folk", "world", "country", "world music", "folk and world", "folk music",
        "country and western", "folk world country",
    ),
    "Stage & Screen": ("soundtracks", "soundtrack", "film music", "ost", "scores"),
    "Children's": ("children", "childrens", "kids", "kids music"),
    "Brass & Military": ("brass", "military", "marching bands"),
    "Non-Music": ("spoken word", "non music", "spoken"),
    "Rock": ("rock music", "rock and pop"),
    "Latin": ("latin music", "latino"),
    "Classical": ("classical music", "classic music"),
    "Pop": ("pop music",),
    "Jazz": ("jazz music",),
    "Blues": ("blues music",),
}  # fmt: skip
STYLE_SYNONYMS = {
    "Drum n Bass": ("dnb", "d'n'b", "d n b", "d&b", "d & b", "d+b", "d and b", "drumnbass",
                    "drum'n'bass", "drum and bass", "drum & bass", "drums and bass", "drum bass"),
    "Rhythm & Blues": ("rnb", "r&b", "r'n'b", "r n b", "r and b", "rhythm and blues"),
    "RnB/Swing": ("rnb swing", "r&b swing", "new jack swing"),
    "Rock & Roll": ("rock n roll", "rock'n'roll", "rnr"),
    "UK Garage": ("ukg", "2 step", "two step"),
    "Prog Rock": ("prog", "progressive rock"),
    "Psychedelic Rock": ("psych", "psych rock", "psychedelia"),
    "Alternative Rock": ("alt rock", "alternative"),
    "Indie Rock": ("indie",),
    "Post-Punk": ("postpunk",),
    "Synth-pop": ("synthpop", "synth pop"),
    "Roots Reggae": ("roots",),
    "Lovers Rock": ("lovers",),
    "Bossa Nova": ("bossa", "bossanova"),
    "Boom Bap": ("boombap",),
    "Downtempo": ("trip hop", "chillout"),
    "Garage House": ("us garage",),
    "Hardcore": ("hard core",),
    "Heavy Metal": ("metal",),
    "Neo Soul": ("neosoul",),
    "Soundtrack": ("film soundtrack",),
    "Spoken Word": ("poetry readings",),
    "Field Recording": ("field recordings",),
}  # fmt: skip
_INCHES = ("{0}'' single", "{0}in", "{0} in", "{0} inch", "{0}-inch", "{0}inch", "{0} inches",
           "{0} inch single", "{0} inch singles", "{0}s", '{0}"s', "{0}''", "{0}″", "{0}”",
           "{0} inchers", "{0}-inches")  # fmt: skip
_SPELT = {"12": "twelve", "10": "ten", "7": "seven"}
CARRIER_SYNONYMS = {
    **{
        f'{size}"': (
            *(pattern.format(size) for pattern in _INCHES),
            f"{_SPELT[size]} inch", f"{_SPELT[size]} inches", f"{_SPELT[size]}-inch",
            f"{_SPELT[size]} inch single", f"{_SPELT[size]} inch singles",
        )
        for size in _SPELT
    },
    "LP": ("lps", "l.p.", "lp record", "lp records", "long player", "long players", "33s"),
    "CD": ("cds", "compact disc", "compact discs", "compact disk"),
    "Cassette": ("cass", "cassettes", "tape", "tapes", "mc", "cassette tape", "cassette tapes"),
    "DVD": ("dvds",),
    "Box Set": ("box", "boxset", "boxsets", "box sets", "boxed set"),
    "CDr": ("cd-r", "cdrs", "cd-rs"),
    "Reel-To-Reel": ("reel", "reels", "reel to reel"),
    "8-Track Cartridge": ("8 track", "8-track", "eight track", "8 tracks"),
    "Flexi-disc": ("flexi", "flexis", "flexi disc", "flexidisc"),
    "Minidisc": ("md", "mini disc", "minidiscs"),
    "Blu-ray": ("bluray", "blu ray"),
    "VHS": ("video tape", "videos"),
    "File": ("files", "mp3", "download", "digital"),
}  # fmt: skip
CARRIER_SYNONYMS['7"'] += ("45s", "45 rpm single", "sevens", "forty fives")
CARRIER_SYNONYMS['12"'] += ("twelves", "maxi single")
EVERY_VINYL = "vinyl"
VINYL_SYNONYMS = ("vinyls", "wax", "on vinyl", "vinyl records", "vinyl record", "any vinyl")
GRADE_SYNONYMS = {
    "M": ("mint", "mint (m)", "mint condition", "brand new"),
    "NM": ("near mint", "near-mint", "nm", "m-", "nm or m-", "near mint (nm or m-)", "mint minus"),
    "VG+": ("very good plus", "very good plus (vg+)", "vgplus", "vg plus", "very good +"),
    "VG": ("very good", "very good (vg)"),
    "G+": ("good plus", "good plus (g+)", "g plus", "good +"),
    "G": ("good", "good (g)"),
    "F": ("fair", "fair (f)"),
    "P": ("poor", "poor (p)"),
}

_JOINERS = frozenset({"and", "n", "the", "&", "+"})


def squash(text: str) -> str:
    """A name without case, accents, punctuation and joining words: what spellings share.

    >>> squash("Drum n Bass") == squash("drum & bass") == squash("Drum'n'Bass")
    True
    """
    words = re.split(r"[\s_/,.&+'’`()!-]+", fold(text))
    kept = [word for word in words if word and word not in _JOINERS]
    return "".join(kept or words)


def _spellings(synonyms: dict[str, tuple[str, ...]]) -> dict[str, str]:
    pairs = [(spelling, name) for name, others in synonyms.items() for spelling in (name, *others)]
    return {fold(spelling): name for spelling, name in pairs} | {
        squash(spelling): name for spelling, name in pairs if len(squash(spelling)) > 1
    }


# From a folded or squashed spelling to the name as the trade writes it.
KNOWN_SPELLINGS = {
    "genre": _spellings(GENRE_SYNONYMS),
    "style": _spellings(STYLE_SYNONYMS),
    "format": _spellings(CARRIER_SYNONYMS),
}


def known_name(kind: str, text: str) -> str | None:
    """The trade's own name for a spelling, if it is a known one; rows may lack it."""
    spellings = KNOWN_SPELLINGS[kind]
    return spellings.get(fold(text)) or spellings.get(squash(text))
