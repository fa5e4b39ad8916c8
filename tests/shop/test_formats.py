"""What the trade writes, read exactly; Discogs' own pairs are the oracle."""

from __future__ import annotations

import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from apps.shop import formats
from apps.shop.formats import FormatPart, carriers_of, parse_format

LISBON = ZoneInfo("Europe/Lisbon")


def test_a_set_keeps_every_carrier_with_its_quantity() -> None:
    assert parse_format('2xLP, Album, RE, RM, 180 + 7", Single') == (
        FormatPart("LP", 2, ("Album", "Reissue", "Remastered"), "180"),
        FormatPart('7"', 1, ("Single",), ""),
    )


def test_a_last_group_without_carrier_describes_the_whole_set() -> None:
    parts = parse_format("LP + LP, S/Sided, Etch + Album")
    assert [part.carrier for part in parts] == ["LP", "LP", ""]
    assert parts[2].descriptions == ("Album",)
    assert parts[1].descriptions == ("Single Sided", "Etched")


@pytest.mark.parametrize(
    ("text", "carriers"),
    [
        ('2x12", Album', ('12"',)),
        ("Box, Comp, Boo + 4xLP, Comp", ("Box Set", "LP")),
        ("Cass, Album", ("Cassette",)),
        ("7xCD, Comp", ("CD",)),
        ('Shellac, 10"', ("Shellac",)),
        ("LP, Album, Gat + Dlx", ("LP",)),
        ("", ()),
        ("Zoetrope, Album", ("Zoetrope",)),
        ("CD + DVD", ("CD", "DVD")),
    ],
)
def test_carriers(text: str, carriers: tuple[str, ...]) -> None:
    assert carriers_of(text) == carriers


def test_free_text_is_kept_and_never_expanded() -> None:
    assert parse_format("LP, Album, RE, Ora")[0].text == "Ora"
    assert parse_format("LP, Album, RM, RP, RTI")[0].text == "RTI"


@pytest.mark.parametrize("carrier", ['12"', '7"', "LP", '5½"', "Flexi-disc"])
def test_vinyl(carrier: str) -> None:
    assert carrier in formats.VINYL


@pytest.mark.parametrize("carrier", ["CD", "Cassette", "Shellac", "DVD", "Box Set"])
def test_not_vinyl(carrier: str) -> None:
    assert carrier not in formats.VINYL


def test_discogs_own_pairs_agree(shared_data: Path) -> None:
    """All but one pair: a cassette whose six files were added after its string was written."""
    pairs = json.loads((shared_data / "discogs-inventory/format_pairs.json").read_text())
    apart = []
    for pair in pairs:
        ours = [(p.carrier, p.quantity) for p in parse_format(pair["format_string"]) if p.carrier]
        theirs = [
            (formats.carrier_of(item["name"], item.get("descriptions", [])), int(item["qty"]))
            for item in pair["formats"]
        ]
        if ours != theirs:
            apart.append(pair["format_string"])
    assert len(pairs) == 245
    assert apart == ["Cass, Album, Ltd"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("John Cameron (2)", "John Cameron"),
        ("The Sugarman Three*", "The Sugarman Three"),
        ("One (2) & Two (13)*", "One & Two"),
        ("One (2), Two", "One, Two"),
        ("Not On Label (X Self-released)", "Not On Label (X Self-released)"),
        ("Live (1999) Band", "Live (1999) Band"),
        ("*", "*"),
        ("(2)", "(2)"),
        ("†", "†"),
    ],
)
def test_a_name_is_shown_without_its_suffix(name: str, shown: str) -> None:
    assert formats.display_name(name) == shown


@pytest.mark.parametrize(
    ("released", "year"),
    [("1999-03-00", 1999), ("2012", 2012), ("0", None), ("", None), ("2000-00-00", 2000),
     ("0000", None), ("Mar 1999", None), ("19999", None)],
)  # fmt: skip
def test_the_year_of_a_partial_date(released: str, year: int | None) -> None:
    assert formats.year_of(released) == year


def test_grades_are_exact_strings() -> None:
    assert formats.grade_rank("Near Mint (NM or M-)") == 7
    assert formats.grade_short("Near Mint (NM or M-)") == "NM"
    assert formats.grade_rank("EX") is None
    assert formats.grade_rank("No Cover") is None
    assert formats.grade_short("EX") == "EX"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("Payment Received", "completed"),
        ("In Progress", "completed"),
        ("Shipped", "completed"),
        ("Refund Sent", "refunded"),
        ("Cancelled (Per Buyer's Request)", "cancelled"),
        ("Payment Pending", "open"),
        ("Merged", "unknown"),
        ("shipped?", "unknown"),
    ],
)
def test_order_states_are_mapped_explicitly(status: str, state: str) -> None:
    assert formats.order_state(status) == state


def test_a_time_without_a_zone_is_read_in_the_guilds() -> None:
    moment = formats.parse_moment("2026-07-01 00:30:00", LISBON)
    assert moment.isoformat() == "2026-06-30T23:30:00+00:00"
    assert formats.parse_moment("2026-07-01T00:30:00-07:00", LISBON).hour == 7


def test_a_spreadsheets_date_is_taken_only_when_it_can_mean_one_day() -> None:
    assert formats.parse_moment("23/04/2023 04:38", LISBON).date().isoformat() == "2023-04-23"
    with pytest.raises(formats.MomentError, match="can't be told apart"):
        formats.parse_moment("03/04/2023 04:38", LISBON)
    with pytest.raises(formats.MomentError, match="no such day"):
        formats.parse_moment("31/02/2023", LISBON)


@pytest.mark.parametrize("text", ["yesterday", "0000-00-00", "2023-13-01", "9999-12-31 23:59:59x"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(formats.MomentError):
        formats.parse_moment(text, LISBON)


def test_folded_text_compares_without_accents() -> None:
    assert formats.fold("  Janelle  MONÁE ") == "janelle monae"
    assert formats.fold("Straße Øst") == "strasse øst"


def test_initials() -> None:
    assert formats.initials("mara del valle ortiz") == "MDV"
    assert formats.initials("42") == "?"
