"""Genres and styles as the trade writes them, with how often the demo shop holds each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Genre:
    """``weight`` is its share of the shelves; ``typical`` a middling VG+ price."""

    name: str
    weight: int
    typical: float
    styles: tuple[str, ...]


GENRES = (
    Genre(
        "Electronic",
        30,
        11.0,
        (
            "Drum n Bass",
            "Jungle",
            "House",
            "Deep House",
            "Techno",
            "Minimal",
            "Ambient",
            "Breakbeat",
            "Dubstep",
            "Electro",
            "Trance",
            "Downtempo",
            "IDM",
            "Acid",
            "UK Garage",
        ),
    ),
    Genre(
        "Rock",
        24,
        15.0,
        (
            "Indie Rock",
            "Alternative Rock",
            "Punk",
            "Post-Punk",
            "Psychedelic Rock",
            "Prog Rock",
            "Hard Rock",
            "Shoegaze",
            "Krautrock",
            "Garage Rock",
        ),
    ),
    Genre("Jazz", 9, 22.0, ("Hard Bop", "Modal", "Fusion", "Free Jazz", "Cool Jazz", "Jazz-Funk")),
    Genre("Hip Hop", 8, 17.0, ("Boom Bap", "Instrumental", "Conscious", "Gangsta", "Turntablism")),
    Genre("Funk / Soul", 7, 16.0, ("Soul", "Funk", "Disco", "Rhythm & Blues", "Neo Soul")),
    Genre("Pop", 6, 8.0, ("Synth-pop", "Ballad", "Vocal", "Europop", "Indie Pop")),
    Genre("Reggae", 4, 19.0, ("Dub", "Roots Reggae", "Dancehall", "Lovers Rock", "Ska")),
    Genre("Folk, World, & Country", 4, 12.0, ("Folk", "Country", "African", "Celtic", "Bluegrass")),
    Genre("Latin", 2, 18.0, ("Bossa Nova", "Salsa", "Cumbia", "Samba", "Latin Jazz")),
    Genre("Classical", 2, 9.0, ("Baroque", "Romantic", "Modern", "Contemporary", "Opera")),
    Genre("Blues", 1, 14.0, ("Chicago Blues", "Delta Blues", "Electric Blues", "Country Blues")),
    Genre("Stage & Screen", 1, 16.0, ("Soundtrack", "Score", "Musical", "Theme")),
    Genre("Children's", 1, 6.0, ("Nursery Rhymes", "Story", "Educational")),
    Genre("Brass & Military", 1, 5.0, ("Marches", "Brass Band", "Military")),
    Genre("Non-Music", 1, 7.0, ("Spoken Word", "Field Recording", "Comedy", "Interview")),
)

# Carrier as Discogs writes it in an export, with its usual descriptors, weight and price factor.
FORMATS = (
    ("LP, Album", 30, 1.2),
    ("LP, Album, RE", 8, 1.0),
    ("2xLP, Album", 7, 1.7),
    ('12"', 18, 0.8),
    ('12", EP', 8, 0.85),
    ('12", Promo', 2, 0.9),
    ('2x12", Album', 2, 1.5),
    ('7", Single', 10, 0.6),
    ('7"', 5, 0.6),
    ('LP, Album + 7", Single', 1, 1.8),
    ('10", EP, Ltd', 2, 1.1),
    ("CD, Album", 16, 0.5),
    ("2xCD, Comp", 3, 0.7),
    ("Cass, Album", 4, 0.7),
    ("DVD, PAL", 1, 0.5),
)
