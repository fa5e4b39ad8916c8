"""import_orders: made files (no public real one exists) in the exports' own columns."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Sum

from apps.guilds.models import Guild
from apps.shop.models import Customer, Release, Sale, SaleItem, Shop, StockItem

from .importing import counts, refused, run, stock_file, table_file

pytestmark = pytest.mark.usefixtures("own_db", "guild")

ORDER_HEADER = (
    "buyer,order_num,order_date,status,total,shipping,fee,tax,taxed_amount,tax_jurisdiction,"
    "tax_responsible_party,invoice,archived,shipping_address,buyer_extra,last_activity,currency,"
    "from_offer,offer_original_price,shipping_method"
)
ITEM_HEADER = (
    "buyer,order_date,order_num,status,order_total,order_fee,item_id,item_price,item_fee,"
    "description,release_id,media_condition,sleeve_condition,comments,external_id,item_removed,"
    "shipping,currency,location"
)
ORDER: Mapping[str, Any] = {
    "buyer": "mara.ortiz",
    "order_num": "77-1",
    "order_date": "2026-05-04 10:00:00",
    "status": "Shipped",
    "total": "30.0",
    "shipping": "5.0",
    "fee": "2.4",
    "tax": "0.0",
    "currency": "USD",
    "shipping_address": "12 Invented Lane\r\nNowhere, 0000",
    "buyer_extra": 'said "hello"\nand left',
}
ITEM: Mapping[str, Any] = {
    "buyer": "mara.ortiz",
    "order_date": "2026-05-04 10:00:00",
    "order_num": "77-1",
    "status": "Shipped",
    "order_total": "30.0",
    "order_fee": "2.4",
    "item_id": "1001",
    "item_price": "12.5",
    "description": "The Paper Lanterns - Low Tide (LP, Album)",
    "release_id": "501",
    "media_condition": "Very Good Plus (VG+)",
    "sleeve_condition": "Very Good (VG)",
    "currency": "USD",
    "location": "A3",
}


def orders(path: Path, *rows: Mapping[str, Any]) -> Path:
    return table_file(path, ORDER_HEADER.split(","), [{**ORDER, **row} for row in rows])


def items(path: Path, *rows: Mapping[str, Any]) -> Path:
    return table_file(path, ITEM_HEADER.split(","), [{**ITEM, **row} for row in rows])


@pytest.fixture
def two_files(tmp_path: Path) -> tuple[Path, Path]:
    return (
        orders(tmp_path / "orders.csv", {}, {"order_num": "77-2", "total": "9.0"}),
        items(
            tmp_path / "items.csv",
            {},
            {"item_id": "1002", "release_id": "502"},
            {"item_id": "1003", "release_id": ""},
            {"item_id": "1004", "order_num": "77-2", "order_total": "9.0"},
        ),
    )


def test_an_orders_total_is_counted_once_however_many_items(two_files: tuple[Path, Path]) -> None:
    report = run("import_orders", *two_files)
    assert counts(report) == (6, 6, 0, 0)
    assert Sale.objects.aggregate(total=Sum("total"))["total"] == Decimal("39.00")
    assert SaleItem.objects.filter(sale__order_number="77-1").count() == 3
    sale = Sale.objects.get(order_number="77-1")
    assert (sale.shipping, sale.fee, sale.currency) == (Decimal("5.00"), Decimal("2.40"), "USD")
    assert counts(run("import_orders", *two_files)) == (6, 0, 6, 0)
    assert Sale.objects.aggregate(total=Sum("total"))["total"] == Decimal("39.00")


def test_items_alone_make_their_orders_once(two_files: tuple[Path, Path]) -> None:
    assert counts(run("import_orders", two_files[1])) == (4, 4, 0, 0)
    assert Sale.objects.aggregate(total=Sum("total"))["total"] == Decimal("39.00")
    run("import_orders", two_files[0])
    assert Sale.objects.get(order_number="77-1").shipping == Decimal("5.00")
    assert Sale.objects.count() == 2


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("Payment Received", "completed"),
        ("In Progress", "completed"),
        ("Shipped", "completed"),
        ("Refund Sent", "refunded"),
        ("Cancelled (Non-Paying Buyer)", "cancelled"),
        ("New Order", "open"),
    ],
)
def test_statuses_are_mapped(tmp_path: Path, status: str, state: str) -> None:
    report = run("import_orders", orders(tmp_path / "o.csv", {"status": status}))
    assert (Sale.objects.get().status_text, Sale.objects.get().state) == (status, state)
    assert report["errors"] == []


def test_an_unknown_status_is_kept_and_told(tmp_path: Path) -> None:
    report = run("import_orders", orders(tmp_path / "o.csv", {"status": "Merged"}))
    assert (Sale.objects.get().status_text, Sale.objects.get().state) == ("Merged", "unknown")
    assert [(e["field"], e["value"]) for e in report["errors"]] == [("status", "Merged")]


def test_a_later_export_moves_an_order_on(tmp_path: Path) -> None:
    run("import_orders", orders(tmp_path / "a.csv", {"status": "Payment Received"}))
    run("import_orders", orders(tmp_path / "b.csv", {"status": "Refund Sent"}))
    assert Sale.objects.get().state == "refunded"


def test_buyers_are_customers_and_addresses_are_not_kept(two_files: tuple[Path, Path]) -> None:
    run("import_orders", *two_files)
    buyer = Customer.objects.get()
    assert (buyer.name, buyer.initials) == ("mara.ortiz", "MO")
    stored = [
        str(value) for model in (Sale, SaleItem, Customer) for value in model.objects.values()
    ]
    assert not any("Invented Lane" in text or "hello" in text for text in stored)


def test_items_find_their_release_and_listing(tmp_path: Path, two_files: tuple[Path, Path]) -> None:
    run("import_stock", stock_file(tmp_path / "s.csv", {}), currency="USD")
    run("import_orders", *two_files)
    item = SaleItem.objects.get(item_number="1001")
    listing = StockItem.objects.get(listing_id=1001)
    assert (item.release, item.stock_item) == (listing.release, listing)
    assert item.release is not None
    assert item.release.artist_display == "The Paper Lanterns"
    assert SaleItem.objects.get(item_number="1003").release is None
    stub = Release.objects.get(discogs_id=502)
    assert stub.is_stub
    assert stub.title.startswith("The Paper Lanterns - Low Tide")

    row = {"listing_id": 7, "release_id": 502, "artist": "Somebody", "title": "Known"}
    run("import_stock", stock_file(tmp_path / "t.csv", row), currency="USD")
    assert Release.objects.get(discogs_id=502).title == "Known"


def test_odd_rows_cost_themselves_only(tmp_path: Path) -> None:
    report = run(
        "import_orders",
        orders(
            tmp_path / "o.csv",
            {"order_num": ""},
            {"order_num": "2", "total": "six"},
            {"order_num": "3", "shipping": "-1", "order_date": "soon", "currency": "£"},
            {"order_num": "4"},
        ),
    )
    assert counts(report) == (4, 2, 0, 2)
    told = {(e["line"], e["field"]) for e in report["errors"]}
    assert told == {
        (2, "order_num"), (5, "total"), (8, "shipping"), (8, "order_date"), (8, "currency"),
    }  # fmt: skip


def test_two_totals_for_one_order_are_told(tmp_path: Path) -> None:
    path = items(tmp_path / "i.csv", {}, {"item_id": "2", "order_total": "31.0"})
    report = run("import_orders", path)
    assert Sale.objects.get().total == Decimal("30.00")
    assert [(e["line"], e["field"]) for e in report["errors"]] == [(3, "order_total")]


def test_an_order_in_another_currency_keeps_it_and_is_told(tmp_path: Path, guild: Guild) -> None:
    path = orders(tmp_path / "o.csv", {}, {"order_num": "2", "currency": "EUR"})
    report = run("import_orders", path)
    assert Shop.objects.get(guild=guild).currency == "USD"
    assert Sale.objects.get(order_number="2").currency == "EUR"
    assert [(e["field"], e["value"]) for e in report["errors"]] == [("currency", "EUR")]


def test_files_in_the_wrong_order_are_told(two_files: tuple[Path, Path]) -> None:
    said = refused("import_orders", two_files[1], two_files[0])
    assert "orders export first" in said
    assert not Sale.objects.exists()


def test_a_dry_run_reports_the_same_and_writes_nothing(two_files: tuple[Path, Path]) -> None:
    dry = run("import_orders", *two_files, dry_run=True)
    assert not Sale.objects.exists()
    assert not Customer.objects.exists()
    assert not Release.objects.exists()
    assert not Shop.objects.exists()
    real = run("import_orders", *two_files)
    assert counts(dry) == counts(real)
    assert dry["errors"] == real["errors"]
