"""CSV and Markdown of a result: nothing that a spreadsheet would run, nothing that is rendered."""

from __future__ import annotations

import csv
import io

import pytest

from apps.chat import exports

from .rows import result


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "\n=1",
        "＝1",
        "－1+2",
        "+1 555 0100",
    ],
)
def test_formulas_are_disarmed(text):
    assert exports.safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-5", "+7", "-0.50", "12", "", "Kes", "a=b", "10.00"])
def test_plain_cells_stay_as_they_are(text):
    assert exports.safe_cell(text) == text


def test_csv_is_rfc_4180():
    text = exports.to_csv(result(rows=[{"item": 'A "b", c\nd', "price": "6.50"}]))
    assert text == 'Item,Price (USD),Listed,Idle\r\n"A ""b"", c\nd",6.50,,\r\n'
    assert next(csv.DictReader(io.StringIO(text)))["Item"] == 'A "b", c\nd'


def test_csv_is_sorted_like_the_page_with_empty_cells_last():
    rows = list(csv.reader(io.StringIO(exports.to_csv(result(), sort="price", descending=True))))
    assert [row[1] for row in rows[1:]] == ["10.00", "6.50", "3.00"]
    rows = list(csv.reader(io.StringIO(exports.to_csv(result(), sort="listed"))))
    assert [row[2] for row in rows[1:]] == ["2025-02-03", "2025-02-19", ""]


def test_byte_order_mark_only_when_asked_for():
    assert exports.to_csv(result(), bom=True).startswith("\ufeffItem")
    assert exports.to_csv(result()).startswith("Item")


def test_markdown_escapes_what_would_be_rendered():
    rows = [{"item": "![x](http://evil.example/p.png) | <b>*a*", "price": "6.50"}]
    text = exports.to_markdown(result(rows=rows))
    assert "| $6.50 |" in text
    assert r"!\[x\](http://evil.example/p.png) \| \<b\>\*a\*" in text
    assert len(text.strip().splitlines()) == 3
