"""Results as a page shows them."""

from __future__ import annotations

from uuid import uuid4

import pytest

from apps.chat import tables

from .rows import result

OLDEST = "Marrow & Pine — Weathervane"


def view(**changes):
    sort, descending = changes.pop("sort", ""), changes.pop("descending", False)
    shown = result(**changes) | {"id": "r1", "step_id": uuid4()}
    return tables.table_view(uuid4(), shown, sort=sort, descending=descending)


def test_cells_are_for_people():
    cells = [cell.text for cell in view().rows[0].cells]
    assert cells == ["Marrow & Pine — Weathervane", "$6.50", "3 Feb 2025", "647 d"]


def test_count_and_totals_speak_of_all_rows():
    shown = view()
    assert shown.count == "3 of 47 rows"
    assert [(t.label, t.text) for t in shown.totals] == [
        ("copies", "51"), ("together", "$256.39"), ("from", "$3.00"), ("to", "$10.00"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sort", "descending", "first"),
    [("price", False, "Halden Row"), ("price", True, "=HYPERLINK(1)"), ("age", True, OLDEST)],
)
def test_numbers_sort_as_numbers(sort, descending, first):
    assert view(sort=sort, descending=descending).rows[0].cells[0].text == first


def test_a_second_press_turns_the_order():
    heading = view(sort="price").columns[1]
    assert heading.sorted == "ascending"
    assert heading.href.endswith("?sort=price&dir=desc")


def test_an_unknown_column_keeps_the_order():
    assert view(sort="nope").rows[0].cells[0].text == "Marrow & Pine — Weathervane"


def test_as_of_names_its_zone():
    assert view().as_of == "12 Nov 2026, 10:42 UTC"


@pytest.mark.parametrize("link", ["https://evil.example/", "//evil.example", "/\\evil.example", ""])
def test_only_links_of_this_house(link):
    assert view(link=link).link == ""


def test_rows_open_in_the_drawer():
    assert view().rows[0].href == "/drawer/stock/1/"
    assert view(rows=[{"ref": "secret:1", "item": "x"}]).rows[0].href == ""


def test_a_wide_result_keeps_what_matters_in_the_panel():
    names = ("artist", "title", "label", "catno", "format", "media", "sleeve", "price", "listed")
    columns = [{"name": name, "label": name.title(), "kind": "text"} for name in names]
    row = {"artist": "Kes", "title": "Night Ferry", "price": "3", "ref": "stock:9"}
    shown = view(columns=columns, rows=[row])
    assert [heading.label for heading in shown.columns] == [
        "Item", "Format", "Media", "Price", "Listed",
    ]  # fmt: skip
    assert shown.rows[0].cells[0].text == "Kes — Night Ferry"
    assert shown.left_out == ["Label", "Catno", "Sleeve"]


def test_an_item_without_an_artist_or_a_title_has_no_dash():
    columns = [{"name": name, "label": name, "kind": "text"} for name in ("artist", "title")]
    rows = [{"artist": "", "title": "White Label"}, {"artist": "Kes", "title": ""}, {}]
    shown = view(columns=columns, rows=rows)
    assert [row.cells[0].text for row in shown.rows] == ["White Label", "Kes", "–"]
