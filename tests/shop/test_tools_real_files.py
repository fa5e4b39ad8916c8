"""The tools on the real files: the known answers of the trade's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from apps.guilds.models import Guild

from .conftest import ask
from .importing import run

pytestmark = pytest.mark.usefixtures("own_db", "guild")


@pytest.fixture
def stocked(guild: Guild, shared_data: Path) -> Guild:
    path = shared_data / "discogs-inventory/inventory-322-reshaped.csv"
    run("import_stock", path, currency="USD")
    return guild


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        ({}, 322),
        ({"price_max": "10"}, 138),
        ({"price_min": "50", "exclude_min": True}, 38),
        ({"format": '7"'}, 125),
        ({"format": '12"'}, 7),
    ],
)
def test_the_322_listings(stocked: Guild, arguments: dict[str, Any], rows: int) -> None:
    table = ask("stock_search", stocked, **arguments)
    assert table.totals["rows"] == rows
    assert table.currency == "USD"
    if not arguments:
        assert table.totals == {
            "rows": 322, "copies": 322, "sum": "7179.81", "least": "0.61", "greatest": "224.92",
        }  # fmt: skip
        assert len(table.rows) == 50


def test_gaps_of_the_dump_of_1000(guild: Guild, shared_data: Path) -> None:
    run(
        "import_releases", shared_data / "discogs-dumps/discogs_20200806_releases.sample1000.xml.gz"
    )
    table = ask("catalog_health", guild)
    assert [(row["gap"], row["releases"]) for row in table.rows] == [
        ("no barcode", 734),
        ("no duration of any track", 463),
        ("no master release", 385),
        ("no style", 146),
        ("a catalogue number “none”", 121),
        ("no release date", 118),
        ("artist Various", 60),
        ("a label named twice", 52),
        ("no image", 45),
        ("no country", 30),
        ("“&” or “<” in the title", 22),
    ]
    assert table.totals["releases"] == 1000


def test_an_import_leaves_the_planner_informed(stocked: Guild) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT reltuples FROM pg_class WHERE relname = 'shop_stockitem' AND relkind = 'r'"
        )
        assert cursor.fetchone() == (322.0,)
