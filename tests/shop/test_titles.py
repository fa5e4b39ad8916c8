from __future__ import annotations

from typing import Any

import pytest

from apps.shop.arguments import StockSearch
from apps.shop.titles import of_stock


@pytest.mark.parametrize(
    ("asked", "said", "title"),
    [
        ({}, [], "Stock"),
        ({"price_max": "10", "not_sold_days": 90}, [], "under $10.00, not sold in 90 days"),
        ({"price_max": "10", "include_max": True}, ["LP"], "LP, up to $10.00"),
        ({"price_min": "50", "exclude_min": True}, [], "over $50.00"),
        ({"price_min": "5", "price_max": "12", "include_max": True}, [], "$5.00 to $12.00"),
        ({"price_min": "5", "price_max": "12"}, [], "from $5.00, under $12.00"),
        ({"q": "Kes", "grade_min": "VG+", "in_stock": False}, [], "“Kes”, VG+ or better, sold"),
    ],
)
def test_a_title_says_its_conditions(asked: dict[str, Any], said: list[str], title: str) -> None:
    assert title in of_stock(StockSearch.model_validate(asked), said, "USD")
