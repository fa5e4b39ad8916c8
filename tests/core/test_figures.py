"""The figure ledger: what is linked, what is flagged, and what is no figure at all."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core import figures

RESULT: dict[str, Any] = {
    "kind": "table",
    "title": "Stock",
    "columns": [
        {"name": "title", "label": "Title", "kind": "text"},
        {"name": "price", "label": "Price", "kind": "money"},
        {"name": "listed", "label": "Listed", "kind": "date"},
        {"name": "idle", "label": "Idle", "kind": "days"},
    ],
    "rows": [
        {"ref": "stock:7", "title": "Plot 19", "price": "6.50", "listed": "2025-02-03", "idle": 647}
    ],
    "total_rows": 47,
    "totals": {"rows": 47, "copies": 52, "sum": "256.39", "least": "2.79", "greatest": "9.99"},
}


def judged(answer: str, question: str = "") -> dict[str, str]:
    ledger = figures.Ledger()
    figures.add_result(ledger, RESULT, "r1")
    links = figures.check(answer, [figures.from_question(question), ledger])
    return {link.token.text: link.anchor for link in links}


def test_counts_sums_prices_dates_and_ages_are_linked() -> None:
    answer = (
        "47 items ask $256.39. The oldest is listed 3 Feb 2025 at $6.50, 647 days ago. "
        "52 copies; since 2025-02-03."
    )
    assert judged(answer) == {
        "47": "r1-n",
        "$256.39": "r1-sum",
        "3 Feb 2025": "r1-stock-7",
        "$6.50": "r1-stock-7",
        "647 days": "r1-stock-7",
        "52": "r1-copies",
        "2025-02-03": "r1-stock-7",
    }


@pytest.mark.parametrize("invented", ["48", "$256.40", "12 %", "4 Feb 2025", "646 days", "$7"])
def test_an_invented_figure_is_flagged(invented: str) -> None:
    assert judged(f"It is {invented} in all.") == {invented: ""}


def test_kinds_do_not_vouch_for_each_other() -> None:
    assert judged("There are 647 items.") == {"647": ""}
    assert judged("It costs $47.") == {"$47": ""}


def test_a_whole_amount_may_round_a_price() -> None:
    assert judged("About $256 in all.")["$256"] == "r1-sum"


def test_the_question_vouches_for_its_own_figures() -> None:
    assert judged("Under $10 for 90 days.", "under $10 not sold in 90 days") == {
        "$10": "question",
        "90 days": "question",
    }


def test_a_number_in_a_title_is_no_figure() -> None:
    assert judged("The record is Plot 19.") == {}


def test_citations_lists_and_sizes_are_no_figures() -> None:
    assert judged('1. A 7" single [stock:7]\n2. `x = 5`') == {}
