"""import_stock: the real files' known answers, and what a second import does."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from django.db.models import Max, Min, Sum

from apps.guilds.models import Guild
from apps.jobs.models import Job
from apps.shop.models import Release, Shop, StockItem

from .importing import LISTING, counts, refused, run, stock_file

pytestmark = pytest.mark.usefixtures("own_db", "guild")


def test_the_322_listings_give_their_known_answers(shared_data: Path) -> None:
    report = run(
        "import_stock", shared_data / "discogs-inventory/inventory-322-reshaped.csv", currency="USD"
    )
    assert counts(report) == (322, 322, 0, 0)
    assert report["errors"] == []
    stock = StockItem.objects.all()
    assert stock.filter(price__lt=10).count() == 138
    assert stock.filter(price__gt=50).count() == 38
    assert stock.filter(release__carriers__contains=['7"']).count() == 125
    assert stock.filter(release__carriers__0='7"').count() == 123
    assert stock.filter(release__carriers__contains=['12"']).count() == 7
    assert stock.filter(release__carriers__0='12"').count() == 6
    assert stock.aggregate(Min("price"), Max("price"), Sum("price")) == {
        "price__min": Decimal("0.61"),
        "price__max": Decimal("224.92"),
        "price__sum": Decimal("7179.81"),
    }
    assert Release.objects.filter(is_stub=True).count() == 320


def test_the_row_that_was_compared_with_a_download(shared_data: Path, guild: Guild) -> None:
    report = run(
        "import_stock", shared_data / "discogs-inventory/inventory-1-asserted.csv", currency="usd"
    )
    item = StockItem.objects.select_related("release").get()
    assert counts(report) == (1, 1, 0, 0)
    assert (item.listing_id, item.status, item.price) == (4332778344, "Draft", Decimal("100.00"))
    assert (item.currency, item.original_price) == ("USD", None)
    assert (item.media_grade, item.media_rank) == ("Near Mint (NM or M-)", 7)
    assert item.listed_at is not None
    # Lisbon is an hour ahead of UTC in August.
    assert item.listed_at.isoformat() == "2026-08-25T06:04:22+00:00"
    assert (item.release.artist_display, item.release.carriers) == ("HammerFall", ["CD"])
    assert Shop.objects.get(guild=guild).currency == "USD"


def test_a_second_import_changes_nothing_and_a_changed_row_only_itself(tmp_path: Path) -> None:
    path = stock_file(tmp_path / "a.csv", {}, {"listing_id": 1002, "release_id": 502})
    run("import_stock", path, currency="USD")
    assert counts(run("import_stock", path, currency="USD")) == (2, 0, 2, 0)
    assert not StockItem.objects.filter(edited_at__isnull=False).exists()

    changed = stock_file(tmp_path / "b.csv", {"price": "9.99"}, {"listing_id": 1002})
    assert counts(run("import_stock", changed, currency="USD")) == (2, 0, 2, 0)
    assert StockItem.objects.get(listing_id=1001).price == Decimal("9.99")
    assert StockItem.objects.get(listing_id=1001).edited_at is not None
    assert StockItem.objects.count() == 2


def test_columns_in_any_order_with_a_byte_order_mark_and_lf(tmp_path: Path) -> None:
    names: list[str] = list(reversed(list(LISTING)))
    values = ['"' + str(LISTING[name]).replace('"', '""') + '"' for name in names]
    text = ",".join(names).upper() + "\n" + ",".join(values) + "\n"
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert counts(run("import_stock", path, currency="USD")) == (1, 1, 0, 0)
    release = Release.objects.get()
    assert (release.artist_display, release.artist_match) == (
        "The Paper Lanterns",
        "The Paper Lanterns (2)",
    )
    assert release.carriers == ["LP", '7"']
    assert release.search == "the paper lanterns the paper lanterns (2) low tide harbour wall hw 7"


def test_an_old_export_leaves_alone_what_it_does_not_know(tmp_path: Path) -> None:
    run("import_stock", stock_file(tmp_path / "new.csv", {"quantity": "4"}), currency="USD")
    old = stock_file(tmp_path / "old.csv", {"price": "8.0"}, without=["quantity", "location"])
    old.write_text(old.read_text().replace("external_id", "flat_shipping"))
    assert counts(run("import_stock", old, currency="USD")) == (1, 0, 1, 0)
    item = StockItem.objects.get()
    assert (item.price, item.quantity, item.location) == (Decimal("8.00"), 4, "A3")


def test_unknown_status_and_grade_are_kept_and_told(tmp_path: Path) -> None:
    row = {"status": "Violation", "media_condition": "EX", "sleeve_condition": "Fine"}
    report = run("import_stock", stock_file(tmp_path / "a.csv", row), currency="USD")
    item = StockItem.objects.get()
    assert (item.status, item.media_grade, item.sleeve_grade) == ("Violation", "EX", "Fine")
    assert item.media_rank is None
    told = {(e["line"], e["field"], e["value"]) for e in report["errors"]}
    assert told == {
        (2, "status", "Violation"),
        (2, "media_condition", "EX"),
        (2, "sleeve_condition", "Fine"),
    }
    assert counts(report) == (1, 1, 0, 0)


def test_another_currency_needs_a_rate_and_keeps_the_original(tmp_path: Path) -> None:
    run("import_stock", stock_file(tmp_path / "usd.csv", {}), currency="USD")
    path = stock_file(tmp_path / "eur.csv", {"listing_id": 2001, "price": "10.0"})
    said = refused("import_stock", path, currency="EUR")
    assert "EUR" in said
    assert "USD" in said
    assert "--rate" in said
    run("import_stock", path, currency="EUR", rate="1.085")
    item = StockItem.objects.get(listing_id=2001)
    assert (item.price, item.currency) == (Decimal("10.85"), "USD")
    assert (item.original_price, item.original_currency) == (Decimal("10.00"), "EUR")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"currency": "dollars"}, "three letters"),
        ({"currency": "USD", "rate": "1.1"}, "leave --rate out"),
        ({"currency": "EUR", "rate": "-2"}, "no rate"),
        ({"currency": "EUR", "rate": "NaN"}, "no rate"),
    ],
)
def test_odd_terms_are_refused(tmp_path: Path, options: dict[str, str], word: str) -> None:
    run("import_stock", stock_file(tmp_path / "a.csv", {}), currency="USD")
    before = StockItem.objects.count()
    assert word in refused("import_stock", stock_file(tmp_path / "b.csv", {}), **options)
    assert StockItem.objects.count() == before


def test_a_dry_run_reports_the_same_and_writes_no_row(tmp_path: Path) -> None:
    rows = [
        {},
        {"listing_id": 1002, "price": "-3"},
        {"listing_id": 1003, "status": "Odd"},
        {"listing_id": 1001, "price": "7"},
    ]
    path = stock_file(tmp_path / "a.csv", *rows)
    dry = run("import_stock", path, currency="USD", dry_run=True)
    assert not StockItem.objects.exists()
    assert not Release.objects.exists()
    assert not Shop.objects.exists()
    real = run("import_stock", path, currency="USD")
    assert dry.pop("job") != real.pop("job")
    assert dry == real
    assert counts(real) == (4, 2, 1, 1)
    again = run("import_stock", path, currency="USD", dry_run=True)
    assert counts(again) == (4, 0, 3, 1)


def test_a_demo_shop_is_refused_until_its_rows_may_go(tmp_path: Path, guild: Guild) -> None:
    Shop.objects.create(guild=guild, currency="EUR", is_demo=True)
    made_up = Release.objects.create(guild=guild, title="Invented")
    StockItem.objects.create(guild=guild, release=made_up, price=1, currency="EUR")
    path = stock_file(tmp_path / "a.csv", {})
    assert "--replace-demo" in refused("import_stock", path, currency="USD")
    assert StockItem.objects.get().release == made_up

    dry = run("import_stock", path, currency="USD", replace_demo=True, dry_run=True)
    assert counts(dry) == (1, 1, 0, 0)
    assert StockItem.objects.get().release == made_up

    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\n1,2\n")
    refused("import_stock", wrong, currency="USD", replace_demo=True)
    assert StockItem.objects.get().release == made_up

    run("import_stock", path, currency="USD", replace_demo=True)
    assert StockItem.objects.get().listing_id == 1001
    assert not Release.objects.filter(pk=made_up.pk).exists()
    shop = Shop.objects.get(guild=guild)
    assert (shop.currency, shop.is_demo) == ("USD", False)


def test_another_guilds_rows_stay_apart(tmp_path: Path, guild: Guild) -> None:
    other = Guild.objects.create(name="Quayside Fair")
    path = stock_file(tmp_path / "a.csv", {})
    run("import_stock", path, currency="USD")
    report = run("import_stock", path, currency="EUR", guild="quayside fair")
    assert counts(report) == (1, 1, 0, 0)
    assert StockItem.objects.get(guild=other).release.guild == other
    assert StockItem.objects.get(guild=guild).currency == "USD"


def test_the_job_row_carries_progress_and_report(tmp_path: Path, guild: Guild) -> None:
    path = stock_file(tmp_path / "a.csv", {})
    report = run("import_stock", path, currency="USD")
    job = Job.objects.get(pk=report["job"])
    assert (job.kind, job.status, job.guild) == ("import_stock", "succeeded", guild)
    assert job.done == job.total == path.stat().st_size
    assert job.report["created"] == 1


def test_the_plain_output_tells_counts_and_problems(tmp_path: Path) -> None:
    from io import StringIO

    from django.core.management import call_command

    out = StringIO()
    path = stock_file(tmp_path / "a.csv", {}, {"listing_id": 1002, "price": "6,85 €"})
    call_command("import_stock", str(path), currency="USD", stdout=out)
    assert "2 rows read: 1 were created, 0 updated, 1 skipped." in out.getvalue()
    assert "line 3, price (6,85 €): a comma and a currency sign" in out.getvalue()
