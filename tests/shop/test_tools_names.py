"""How names of genres, styles and formats in a question find the stored ones."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core import reading, vocabulary
from apps.core.tools import ToolError
from apps.guilds.models import Guild
from apps.shop import vocabularies
from apps.shop.demo.genres import GENRES

from . import makers
from .conftest import DemoShop, ask


@pytest.mark.parametrize(
    ("kind", "asked", "stored"),
    [
        ("style", "DnB", "Drum n Bass"),
        ("style", "dnb", "Drum n Bass"),
        ("style", "D&B", "Drum n Bass"),
        ("style", "d'n'b", "Drum n Bass"),
        ("style", "drum and bass", "Drum n Bass"),
        ("style", "Drum & Bass", "Drum n Bass"),
        ("style", "drum'n'bass", "Drum n Bass"),
        ("style", "drumnbass", "Drum n Bass"),
        ("style", "Drum n Bas", "Drum n Bass"),
        ("style", "synthpop", "Synth-pop"),
        ("style", "post punk", "Post-Punk"),
        ("style", "r&b", "Rhythm & Blues"),
        ("style", "tecno", "Techno"),
        ("style", "ukg", "UK Garage"),
        ("genre", "hip-hop", "Hip Hop"),
        ("genre", "rap", "Hip Hop"),
        ("genre", "JAZZ", "Jazz"),
        ("genre", "jaz", "Jazz"),
        ("genre", "folk", "Folk, World, & Country"),
        ("genre", "Folk World Country", "Folk, World, & Country"),
        ("genre", "funk/soul", "Funk / Soul"),
        ("genre", "soul", "Funk / Soul"),
        ("genre", "electronica", "Electronic"),
        ("genre", "childrens", "Children's"),
        ("format", "12 inch", '12"'),
        ("format", "12s", '12"'),
        ("format", "12''", '12"'),
        ("format", "twelve inch", '12"'),
        ("format", "seven inches", '7"'),
        ("format", "45s", '7"'),
        ("format", "lps", "LP"),
        ("format", "tapes", "Cassette"),
        ("format", "cds", "CD"),
    ],
)
def test_spellings(demo_shop: DemoShop, kind: str, asked: str, stored: str) -> None:
    with reading.scope(demo_shop.guild.pk):
        found = vocabularies.resolve(kind, asked, demo_shop.guild.pk)
    assert found.name == stored
    assert repr(asked) in found.note
    assert stored in found.note


def test_the_stored_name_needs_no_note(demo_shop: DemoShop) -> None:
    with reading.scope(demo_shop.guild.pk):
        for genre in GENRES:
            found = vocabularies.resolve("genre", genre.name, demo_shop.guild.pk)
            assert found == vocabularies.Resolved(genre.name)


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        ({"style": "gabber core"}, "Nearest names"),
        ({"genre": "polka"}, "Nearest names"),
        ({"format": "wax cylinder"}, "Nearest names"),
        ({"style": "tech dub"}, "Techno"),
        ({"genre": "'; DROP TABLE shop_release; --"}, "Nearest names"),
    ],
)
def test_an_unknown_name_is_told_the_nearest(
    demo_shop: DemoShop, arguments: dict[str, Any], nearest: str
) -> None:
    with pytest.raises(ToolError, match=nearest):
        ask("stock_search", demo_shop.guild, **arguments)


def test_a_style_called_a_genre_is_taken_for_the_style(demo_shop: DemoShop) -> None:
    as_genre = ask("stock_search", demo_shop.guild, genre="DnB")
    as_style = ask("stock_search", demo_shop.guild, style="DnB")
    assert as_genre.totals == as_style.totals
    assert any("style Drum n Bass" in note for note in as_genre.notes)
    crossed = ask("stock_search", demo_shop.guild, style="jazz")
    assert crossed.totals == ask("stock_search", demo_shop.guild, genre="Jazz").totals


def test_an_empty_shop_says_so(own_db: str, guild: Guild) -> None:
    with pytest.raises(ToolError, match="No release of this shop has a style yet"):
        ask("stock_search", guild, style="techno")


def test_a_name_that_an_import_brought_is_found_at_once(own_db: str, guild: Guild) -> None:
    makers.item(makers.release(guild, styles=["Techno"]))
    assert vocabulary.load("style", guild.pk).names == ("Techno",)
    makers.item(makers.release(guild, styles=["Jungle"]))
    assert ask("stock_search", guild, style="jungel").totals["rows"] == 1


def test_vocabularies_are_offered_outside_a_tool(demo_shop: DemoShop) -> None:
    guild = demo_shop.guild.pk
    genres = vocabulary.load("genre", guild)
    assert set(genres.names) == {genre.name for genre in GENRES}
    assert genres.names[0] == "Electronic"
    assert vocabulary.load("style", guild).synonyms["dnb"] == "Drum n Bass"
    formats = vocabulary.load("format", guild)
    assert {"LP", '12"', '7"', "CD", "Cassette", "vinyl"} <= set(formats.names)
    assert formats.synonyms["12s"] == '12"'
    assert vocabulary.load("grade", guild).names == ("M", "NM", "VG+", "VG", "G+", "G", "F", "P")
    assert vocabulary.load("grade", guild).synonyms["near mint"] == "NM"
