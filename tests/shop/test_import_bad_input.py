"""Whatever a file holds: a clear message, never a traceback, and the good rows come in."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from apps.guilds.models import Guild
from apps.jobs.models import Job
from apps.shop.models import Shop, StockItem

from .importing import HEADER, LISTING, counts, refused, run, stock_file

pytestmark = pytest.mark.usefixtures("own_db", "guild")


def line(number: int, **changed: str) -> str:
    values = {**LISTING, "listing_id": number, **changed}
    return ",".join('"' + str(value).replace('"', '""') + '"' for value in values.values())


def write(path: Path, *lines: bytes | str) -> Path:
    path.write_bytes(b"".join((x.encode() if isinstance(x, str) else x) + b"\r\n" for x in lines))
    return path


def listings() -> list[int | None]:
    return list(StockItem.objects.order_by("listing_id").values_list("listing_id", flat=True))


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "is empty"),
        (b"\r\n\r\n  \n", "only blank lines"),
        (b"PK\x03\x04rest", "spreadsheet"),
        (b"\xd0\xcf\x11\xe0rest", "old Excel workbook"),
        (gzip.compress(b"listing_id,price", mtime=0), "compressed with gzip"),
        (b"%PDF-1.7", "a PDF"),
        (b"<html><body>", "XML or HTML"),
        (b'{"listings": []}', "JSON"),
        ("listing_id,price".encode("utf-16"), "UTF-16"),
        (b"\xef\xbb\xbf<releases>", "XML or HTML"),
        (HEADER.replace(",", ";").encode() + b"\n1;2;3\n", "semicolons"),
        (HEADER.replace(",", "\t").encode(), "tabs"),
        (HEADER.encode() + b"\r1,2,3\r", "CR alone"),
        (b"listing_id\n12345678\n", "uploading to Discogs"),
        (b"release_id,price,media_condition\n123,1.5,Mint (M)\n", "uploading to Discogs"),
        (b"Catalog#,Artist,Title,Label,Format,Rating,Released,release_id,Notes\n", "import_wants"),
        (b"release_id,CollectionFolder\n", "import_collection"),
        (b"order_num,order_date,status,total\n", "import_orders"),
        (b"listing_id,release_id,status,title\n", "price are missing"),
        (b"listing_id,release_id,status,price,price\n", "price twice"),
        (b"\x00\x01\x02\x03" * 100, "NUL byte"),
        (b"\x89PNG\x0d\x0a\x1a\x0a\xff\xd8", "not UTF-8"),
        (b"x" * (3 << 20), "longer than 1 MiB"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "stock.csv"
    path.write_bytes(content)
    assert word in refused("import_stock", path, currency="USD")
    assert not StockItem.objects.exists()
    assert not Shop.objects.exists()
    assert Job.objects.get().status == "failed"


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert "There is no file" in refused("import_stock", tmp_path / "no.csv", currency="USD")
    assert "is a folder" in refused("import_stock", tmp_path, currency="USD")


def test_the_header_alone_is_an_empty_inventory(tmp_path: Path) -> None:
    report = run("import_stock", write(tmp_path / "a.csv", HEADER), currency="USD")
    assert counts(report) == (0, 0, 0, 0)
    assert report["errors"] == []


@pytest.mark.parametrize(
    ("price", "word"),
    [
        ("-5.00", "negative"),
        ("6,85 €", "comma and a currency sign"),
        ("6,000", "cents or thousands"),
        ("$9.99", "currency sign"),
        ("DKK3633.17", "currency sign or code"),
        ("", "empty"),
        ("NaN", "currency sign or code"),
        ("1e40", "currency sign or code"),
        ("9" * 40, "larger than any price"),
        ("1.2.3", "not a number"),
        ("99999999999", "larger than any price"),
    ],
)
def test_an_odd_price_costs_its_own_row(tmp_path: Path, price: str, word: str) -> None:
    path = stock_file(
        tmp_path / "a.csv", {}, {"listing_id": 1002, "price": price}, {"listing_id": 1003}
    )
    report = run("import_stock", path, currency="USD")
    assert counts(report) == (3, 2, 0, 1)
    (error,) = report["errors"]
    assert (error["line"], error["field"], error["value"]) == (3, "price", price)
    assert word in error["why"]
    assert listings() == [1001, 1003]


@pytest.mark.parametrize("value", ["", "abc", "-1", "0", "1.5", "99999999999999999999", "１２"])
@pytest.mark.parametrize("field", ["listing_id", "release_id"])
def test_an_odd_id_costs_its_own_row(tmp_path: Path, field: str, value: str) -> None:
    report = run("import_stock", stock_file(tmp_path / "a.csv", {field: value}, {}), currency="USD")
    assert counts(report) == (2, 1, 0, 1)
    assert report["errors"][0]["field"] == field


def test_odd_small_fields_are_told_and_the_row_is_kept(tmp_path: Path) -> None:
    row = {"weight": "heavy", "format_quantity": "-1", "listed": "soon", "accept_offer": "maybe"}
    report = run("import_stock", stock_file(tmp_path / "a.csv", row), currency="USD")
    assert counts(report) == (1, 1, 0, 0)
    assert {error["field"] for error in report["errors"]} == set(row)
    item = StockItem.objects.get()
    assert (item.weight, item.format_quantity, item.listed_at) == (None, None, None)


def test_nul_bytes_and_wrong_encodings_cost_their_own_rows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        HEADER,
        line(1),
        line(2, title="a\0b"),
        line(3, title="Monáe").encode("latin-1"),
        line(4, title="Monáe – ½"),
    )
    report = run("import_stock", path, currency="USD")
    assert counts(report) == (4, 2, 0, 2)
    assert [(e["line"], e["why"]) for e in report["errors"]] == [
        (3, "holds a NUL byte"),
        (4, "byte 0xe1 is not UTF-8; save the file as UTF-8"),
    ]
    assert listings() == [1, 4]


def test_a_line_of_200_megabytes_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.write(f"{HEADER}\r\n{line(1)}\r\n".encode())
        for _ in range(200):
            file.write(b'x"' * (1 << 19))
        file.write(f"\r\n{line(2)}\r\n".encode())
    report = run("import_stock", path, currency="USD")
    assert counts(report) == (3, 2, 0, 1)
    assert report["errors"][0]["line"] == 3
    assert "longer than 1 MiB" in report["errors"][0]["why"]
    assert listings() == [1, 2]


def test_a_quotation_mark_that_nobody_closes_costs_its_own_row(tmp_path: Path) -> None:
    stray = line(2).replace('"Low Tide"', '"Low Tide')
    many = [line(number) for number in range(10, 200)]
    path = write(tmp_path / "a.csv", HEADER, line(1), stray, line(3), stray, *many)
    report = run("import_stock", path, currency="USD")
    assert counts(report) == (194, 192, 0, 2)
    assert {error["line"] for error in report["errors"]} == {3, 5}
    assert "quotation mark" in report["errors"][0]["why"]


def test_text_over_several_lines_in_quotes_is_one_field(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", HEADER, line(1, comments="one\r\ntwo\u2028three"), line(2))
    assert counts(run("import_stock", path, currency="USD")) == (2, 2, 0, 0)
    assert StockItem.objects.get(listing_id=1).comments == "one\r\ntwo\u2028three"


def test_rows_with_too_few_or_too_many_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv", HEADER, "1,2,3", line(2) + ",extra", line(3) + ",,", "", line(4)
    )
    report = run("import_stock", path, currency="USD")
    assert counts(report) == (4, 2, 0, 2)
    assert [error["why"] for error in report["errors"]] == [
        "the row has 3 fields, the header 19",
        "the row has 20 fields, the header 19",
    ]
    assert listings() == [3, 4]


def test_the_same_listing_twice_is_one_item_and_the_later_row_counts(tmp_path: Path) -> None:
    path = stock_file(tmp_path / "a.csv", {"price": "5"}, {"price": "6"})
    assert counts(run("import_stock", path, currency="USD")) == (2, 1, 1, 0)
    assert StockItem.objects.get().price == 6


def test_errors_are_capped_and_counted(tmp_path: Path, guild: Guild) -> None:
    rows = [{"listing_id": number, "price": "free"} for number in range(1, 1501)]
    report = run("import_stock", stock_file(tmp_path / "a.csv", *rows, {}), currency="USD")
    assert (len(report["errors"]), report["errors_total"]) == (1000, 1500)
    assert counts(report) == (1501, 1, 0, 1500)
