"""release_lookup, customer_wants and catalog_health: rows, totals, and what stays hidden."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from apps.core import reading
from apps.core.tools import ToolError
from apps.guilds.models import Guild
from apps.shop.models import (
    Customer,
    Identifier,
    Release,
    ReleaseArtist,
    ReleaseLabel,
    Track,
    Want,
)

from . import makers
from .conftest import DemoShop, ask

GAPS_BY_HAND = {
    "no barcode": "r.id NOT IN (SELECT release_id FROM shop_identifier WHERE kind = 'Barcode')",
    "no duration of any track": "r.id NOT IN"
    " (SELECT release_id FROM shop_track WHERE duration <> '')",
    "no master release": "r.master_id IS NULL",
    "no style": "cardinality(r.styles) = 0",
    "a catalogue number “none”": "r.catno_display ~ '(^|, )none($|, )'",
    "no release date": "r.released = ''",
    "no image": "NOT r.has_image",
    "no country": "r.country = ''",
    "a label named twice": "(SELECT count(*) - count(DISTINCT name) FROM shop_releaselabel l"
    " WHERE l.release_id = r.id) > 0",
    "“&” or “<” in the title": "r.title ~ '[&<]'",
    "artist Various": "r.artist_display = 'Various'",
}


def rows_of(query: str, *values: Any) -> list[tuple[Any, ...]]:
    with connections["default"].cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


def test_gaps_equal_sql_by_hand(demo_shop: DemoShop) -> None:
    table = ask("catalog_health", demo_shop.guild)
    found = {row["gap"]: row["releases"] for row in table.rows}
    assert found == {
        gap: rows_of(f"SELECT count(*) FROM shop_release r WHERE {condition}")[0][0]
        for gap, condition in GAPS_BY_HAND.items()
    }
    assert all(found.values())
    assert [row["releases"] for row in table.rows] == sorted(found.values(), reverse=True)
    assert table.totals["releases"] == rows_of("SELECT count(*) FROM shop_release")[0][0]
    assert all(row["ref"].startswith("release:") for row in table.rows)


def test_wants_equal_sql_by_hand(demo_shop: DemoShop) -> None:
    table = ask("customer_wants", demo_shop.guild, genre="electronic", status="open")
    expected = rows_of(
        "SELECT count(*), count(DISTINCT w.customer_id) FROM shop_want w"
        " JOIN shop_release r ON r.id = w.release_id"
        " WHERE w.status = 'open' AND 'Electronic' = ANY (r.genres)"
    )[0]
    assert (table.totals["rows"], table.totals["customers"]) == expected
    copies = rows_of(
        "SELECT sum(quantity), sum(price * quantity), min(price), max(price) FROM shop_stockitem"
        " WHERE status = 'For Sale' AND release_id IN (SELECT w.release_id FROM shop_want w"
        " JOIN shop_release r ON r.id = w.release_id"
        " WHERE w.status = 'open' AND 'Electronic' = ANY (r.genres))"
    )[0]
    assert table.totals["copies"] == copies[0]
    assert [table.totals[key] for key in ("sum", "least", "greatest")] == list(map(str, copies[1:]))
    assert len(table.rows) == 50 < table.total_rows


def test_wants_show_initials_and_nothing_else_of_a_customer(demo_shop: DemoShop) -> None:
    with CaptureQueriesContext(connections["reader"]) as queries:
        table = ask("customer_wants", demo_shop.guild)
    shown = repr(table.to_json())
    names = list(Customer.objects.values_list("name", flat=True))
    assert len(names) == 400
    assert not [name for name in names if name in shown]
    assert "@" not in shown
    assert all(2 <= len(row["customer"]) <= 3 for row in table.rows)
    assert len(queries) <= 8


def test_the_reader_cannot_read_a_customers_name_at_all(demo_shop: DemoShop) -> None:
    with reading.scope(demo_shop.guild.pk):
        seen = set(Customer.objects.values_list("name", "email"))
        notes = set(Want.objects.values_list("notes", flat=True))
    assert seen == {("", "")}
    assert notes == {""}


def test_a_lookup_by_words_equals_sql_by_hand(demo_shop: DemoShop) -> None:
    table = ask("release_lookup", demo_shop.guild, q="harbour")
    expected = rows_of(
        "SELECT count(*) FROM shop_release r WHERE concat_ws(' ', artist_display, title,"
        " label_display, catno_display) ILIKE '%%harbour%%'"
    )[0][0]
    copies = rows_of(
        "SELECT sum(quantity) FROM shop_stockitem i JOIN shop_release r ON r.id = i.release_id"
        " WHERE status = 'For Sale' AND quantity > 0 AND concat_ws(' ', artist_display, title,"
        " label_display, catno_display) ILIKE '%%harbour%%'"
    )[0][0]
    assert (table.totals["rows"], table.totals["copies"]) == (expected, copies)
    assert len(table.rows) == 50 < expected
    assert table.cut == (f"50 of {expected} rows are shown; the totals cover all.",)


@pytest.mark.usefixtures("own_db")
class TestSmallRows:
    def test_one_release_comes_with_its_tracks_and_barcode(self, guild: Guild) -> None:
        of = makers.release(guild, discogs_id=249504, country="UK", released="1999-03-00")
        Track.objects.create(
            guild=guild, release=of, position=1, number="A1", title="Low Water", duration="3:40"
        )
        Track.objects.create(guild=guild, release=of, position=2, number="A2", title="High Water")
        Identifier.objects.create(
            guild=guild, release=of, position=1, kind="Barcode", value="501 2345"
        )
        ReleaseArtist.objects.create(
            guild=guild, release=of, position=2, name="Kilnfire (2)", display="Kilnfire",
            role="Remix",
        )  # fmt: skip
        makers.item(of, "6.00")
        makers.item(of, "5.00", quantity=2)
        table = ask("release_lookup", guild, release_id=249504)
        row = table.rows[0]
        assert (row["ref"], row["barcode"], row["released"]) == (of.ref, "501 2345", "1999-03-00")
        assert (row["in_stock"], row["cheapest"]) == (3, "5.00")
        assert "Tracks: A1 Low Water (3:40); A2 High Water." in table.notes
        assert "Credits: Kilnfire (Remix)." in table.notes
        assert table.totals == {
            "rows": 1, "copies": 3, "sum": "16.00", "least": "5.00", "greatest": "6.00",
        }  # fmt: skip

    def test_a_lookup_needs_a_number_or_words(self, guild: Guild) -> None:
        nothing: list[dict[str, Any]] = [{}, {"q": ""}, {"q": "   "}]
        for arguments in nothing:
            with pytest.raises(ToolError, match="Name a release"):
                ask("release_lookup", guild, **arguments)

    def test_a_lookup_that_finds_nothing_is_empty(self, guild: Guild) -> None:
        assert ask("release_lookup", guild, q="zzqx").totals["rows"] == 0

    def test_parts_of_a_track_and_empty_values_fill_no_gap(self, guild: Guild) -> None:
        of = makers.release(guild, "a < b")
        usual = {"guild": guild, "release": of}
        Track.objects.create(**usual, position=1, title="Medley")
        Track.objects.create(**usual, position=2, duration="3:00", is_sub=True)
        Identifier.objects.create(**usual, position=1, kind="Barcode", value="")
        Identifier.objects.create(**usual, position=2, kind="Matrix / Runout", value="X1")
        ReleaseLabel.objects.create(**usual, position=1, name="Rowlock", catno=" NONE ")
        ReleaseLabel.objects.create(**usual, position=2, name="Rowlock", catno="ROW 1")
        ReleaseArtist.objects.create(**usual, position=1, name="Various", display="Various")
        table = ask("catalog_health", guild)
        gaps = {row["gap"]: (row["releases"], row["share"]) for row in table.rows}
        assert gaps == dict.fromkeys(GAPS_BY_HAND, (1, "100.0")) | {"no style": (0, "0.0")}

    def test_a_release_without_a_gap_has_none(self, guild: Guild) -> None:
        of = makers.release(
            guild, master_id=1, released="1999", country="UK", has_image=True, is_stub=True
        )
        Track.objects.create(guild=guild, release=of, position=1, duration="3:00")
        Identifier.objects.create(guild=guild, release=of, position=1, kind="Barcode", value="1")
        ReleaseLabel.objects.create(guild=guild, release=of, position=1, name="Rowlock")
        table = ask("catalog_health", guild)
        assert {row["releases"] for row in table.rows} == {0}
        assert any("known from stock" in note for note in table.notes)

    def test_an_empty_catalogue_divides_by_nothing(self, guild: Guild) -> None:
        table = ask("catalog_health", guild)
        assert {(row["releases"], row["share"]) for row in table.rows} == {(0, "0.0")}

    def test_wants_by_release_and_status_open_ones_first(self, guild: Guild) -> None:
        wanted, other = makers.release(guild, discogs_id=12), makers.release(guild, "Other")
        who = makers.customer(guild)
        for of, status, days, customer in (
            (wanted, "filled", 1, who),
            (wanted, "open", 9, None),
            (other, "open", 2, who),
        ):
            Want.objects.create(
                guild=guild, release=of, customer=customer, status=status,
                added_at=makers.NOW - timedelta(days=days), notes="call Hestrin Foxhallow",
            )  # fmt: skip
        makers.item(wanted, "6.00", quantity=2)
        table = ask("customer_wants", guild, release_id=12)
        assert [(row["status"], row["customer"], row["in_stock"]) for row in table.rows] == [
            ("open", "", 2),
            ("filled", "HF", 2),
        ]
        assert table.totals["customers"] == 1
        assert "Foxhallow" not in repr(table)
        only = ask("customer_wants", guild, status="open")
        assert [row["title"] for row in only.rows] == ["Other", "Night Kilns"]
        assert ask("customer_wants", guild, status="dropped").rows == []
        assert Release.objects.count() == 2
