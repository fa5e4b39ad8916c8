"""Words that the demo shop's names are made of: coined for it, so that no one is meant.

Every artist, label and customer carries at least one coined word; plain words alone might
be somebody's real name or record.
"""

from __future__ import annotations

from itertools import accumulate
from random import Random

GIVEN = (
    "Adelka",
    "Bramwyn",
    "Caspira",
    "Dovrin",
    "Elowick",
    "Fenrika",
    "Galdor",
    "Hestrin",
    "Ibbert",
    "Jorvan",
    "Kesling",
    "Lunetta",
    "Marwick",
    "Nerissen",
    "Odrin",
    "Pelagie",
    "Quillon",
    "Rosamir",
    "Sunniva",
    "Tamsel",
    "Ulvara",
    "Vesper",
    "Wystra",
    "Xandrel",
    "Ysolda",
    "Zephrin",
    "Anwick",
    "Brisela",
    "Corvane",
    "Dagmira",
    "Evander",
    "Florrick",
)
FAMILY = (
    "Ashquill",
    "Brackenvale",
    "Cindermoor",
    "Drossel",
    "Eskerby",
    "Fallowmere",
    "Grimsell",
    "Harrowick",
    "Inglesund",
    "Jasperholt",
    "Kestrane",
    "Lorrimond",
    "Mossgrave",
    "Netherby-Voss",
    "Oakenshard",
    "Pennywhist",
    "Quarrenden",
    "Ravensole",
    "Silverhythe",
    "Thistlewane",
    "Underbarrow",
    "Varnholm",
    "Wexcombe",
    "Yarrowfield",
    "Zimmerlund",
    "Bellwether-Roe",
    "Copperlaine",
    "Dunmarrow",
    "Emberwick",
    "Foxhallow",
    "Glasswater",
    "Hollinbrook",
)
PEOPLE = (
    "Abernook", "Birchwater", "Cobblestead", "Dapplemere", "Elderquist", "Fernsby-Lowe",
    "Gorseland", "Hathermoor", "Iveragh-Dunne", "Juniperson", "Knollbrook", "Larchwood-Penn",
    "Meadowsweet", "Nightingate", "Orchardine", "Pebblewick", "Quincefield", "Rushmarsh",
    "Sedgewater", "Teaselby", "Umberfield", "Violetstone", "Willowquay", "Yewbarrow", "Zinniaker",
    "Applegarth-Moss", "Bramblehurst", "Cloverdale-Finn", "Damsonby", "Figtreeson", "Gooseberg",
    "Hazelrigg-Toll",
)  # fmt: skip
COINED = (
    "Ostrava Lune",
    "Kelvinor",
    "Murmurite",
    "Tessaly",
    "Vandrell",
    "Noctuline",
    "Brightmoss",
    "Halcyra",
    "Quasimere",
    "Lowtidal",
    "Ferrograph",
    "Saltmarsh Nine",
    "Polyhedrine",
    "Umbrelline",
    "Cobaltic",
    "Driftwarden",
    "Emberlin",
    "Gantry Sixx",
    "Hexaferry",
    "Isobarra",
    "Junkett",
    "Kilnfire",
    "Lanternhead",
    "Magnettle",
    "Nightjarre",
    "Obliquity",
    "Parallaxis",
    "Quiverlane",
    "Rustbelle",
    "Solarpunkt",
    "Tremulisk",
    "Undertowed",
    "Velourex",
    "Windowpaine",
    "Yesterlight",
    "Zeppole",
    "Aerolisk",
    "Bassoonist",
    "Circuitry Vale",
    "Dubplatz",
)
ENSEMBLES = ("Quartet", "Trio", "Ensemble", "Orchestra", "Sound System", "Band", "Collective")
OPENERS = (
    "Amber",
    "Borrowed",
    "Cold",
    "Distant",
    "Electric",
    "Faded",
    "Golden",
    "Hollow",
    "Inner",
    "Jagged",
    "Kindred",
    "Liquid",
    "Midnight",
    "Northern",
    "Open",
    "Paper",
    "Quiet",
    "Restless",
    "Silver",
    "Tidal",
    "Unfinished",
    "Velvet",
    "Winter",
    "Yellow",
    "Zero",
    "Broken",
    "Crooked",
    "Dusty",
    "Early",
    "Foreign",
    "Ghostly",
    "Hidden",
)
OBJECTS = (
    "Archways",
    "Ballast",
    "Causeway",
    "Dynamo",
    "Estuary",
    "Ferries",
    "Gasworks",
    "Harbour",
    "Isotopes",
    "Junction",
    "Kilns",
    "Lanterns",
    "Meridian",
    "Nocturne",
    "Observatory",
    "Pylons",
    "Quarry",
    "Reservoir",
    "Signals",
    "Turbines",
    "Undertow",
    "Viaduct",
    "Weather",
    "Yards",
    "Almanac",
    "Barometer",
    "Compass",
    "Departures",
    "Echoes",
    "Frequencies",
    "Gardens",
    "Herons",
)
ENDINGS = ("", "", "", "", " EP", " II", " Revisited", " In Dub", " Suite", " Sessions", " & Salt")
LABELS = (
    "Arklow Tapeworks",
    "Brinedeck",
    "Cormorant Pressings",
    "Dormouse & Daughters",
    "Eelgrass",
    "Fathomline",
    "Gullwing Lathe",
    "Hawser Street",
    "Inkhorn Discs",
    "Jackstay",
    "Keelhouse",
    "Limpet Audio",
    "Mooring Post",
    "Nettlebed Sound",
    "Oxbow Cutting Room",
    "Pintle & Gudgeon",
    "Quayside Plates",
    "Rowlock",
    "Sextantine",
    "Tarpaulin",
    "Umberwell",
    "Vole & Vane",
    "Windlass",
    "Yardarm Tone",
    "Zincwork",
    "Anvil Hythe",
    "Bilgewater Beat",
    "Capstan Blue",
    "Driftnet",
    "Ebbstone",
    "Flotsam Works",
    "Groyne",
)
COUNTRIES = (
    ("US", 30),
    ("UK", 26),
    ("Germany", 12),
    ("France", 6),
    ("Japan", 6),
    ("Europe", 6),
    ("Italy", 4),
    ("Netherlands", 4),
    ("Jamaica", 2),
    ("Hungary", 2),
    ("Brazil", 2),
)
COUNTRY_WEIGHTS = tuple(accumulate(weight for _, weight in COUNTRIES))
TRAPS = ("Left <|> Right", "?", "Tide & Ebb", "::HARBOUR2", "夜の港", "<Static>")


def pick_country(rng: Random) -> str:
    """A country by weight."""
    return rng.choices(COUNTRIES, cum_weights=COUNTRY_WEIGHTS)[0][0]


def artist(rng: Random, genre: str) -> str:
    """An artist as the trade writes it; one in twelve bears a number, as in ``Emberlin (2)``."""
    roll = rng.random()
    if genre in {"Jazz", "Classical", "Blues"} and roll < 0.5:
        name = f"{rng.choice(GIVEN)} {rng.choice(FAMILY)} {rng.choice(ENSEMBLES)}"
    elif roll < 0.55:
        name = f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"
    elif roll < 0.8:
        name = rng.choice(COINED)
    else:
        name = f"{rng.choice(COINED)} {rng.choice(OBJECTS)}"
    return f"{name} ({rng.randint(2, 5)})" if rng.random() < 0.08 else name


def title(rng: Random) -> str:
    """A record's or track's title."""
    return f"{rng.choice(OPENERS)} {rng.choice(OBJECTS)}{rng.choice(ENDINGS)}"


def trap(number: int) -> str:
    """For one release in 251 a title that careless display would spoil, in turn; else empty."""
    turn, rest = divmod(number, 251)
    return TRAPS[turn % len(TRAPS)] if rest == 250 else ""


def catalogue_number(rng: Random, label: str) -> str:
    """A catalogue number made from the label's letters; one in twelve is ``none``."""
    if rng.random() < 0.08:
        return "none"
    letters = "".join(letter for letter in label.upper() if letter.isalpha())[:3]
    return f"{letters}{rng.choice(('-', ' ', ''))}{rng.randint(1, 320):03d}"
