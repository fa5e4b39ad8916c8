from __future__ import annotations

from decimal import Decimal

import pytest

from apps.core import money


@pytest.mark.parametrize(
    ("text", "value"),
    [("10.35", "10.35"), ("100.0", "100.00"), (" 0.61 ", "0.61"), ("5", "5.00")],
)
def test_bare_decimals_are_prices(text: str, value: str) -> None:
    assert money.parse_price(text) == Decimal(value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("6,85 €", "a comma and a currency sign"),
        ("6,000", "cents or thousands"),
        ("$5", "currency sign"),
        ("DKK3633.17", "currency sign or code"),
        ("-3", "negative"),
        ("", "empty"),
        ("NaN", "currency sign or code"),
        ("1e3", "currency sign or code"),
        ("9" * 30, "larger"),
        ("1.2.3", "not a number"),
        ("\0", "bare number"),
    ],
)
def test_anything_else_is_told_why(text: str, why: str) -> None:
    with pytest.raises(money.PriceError, match=why):
        money.parse_price(text)


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("6.5", "USD", "$6.50"),
        ("1204", "EUR", "€1,204.00"),
        ("6000", "JPY", "¥6,000"),
        ("-3.2", "USD", "-$3.20"),
        ("6.85", "", "6.85"),
        ("7", "XTS", "XTS 7.00"),
    ],
)
def test_money_for_people(amount: str, currency: str, shown: str) -> None:
    assert money.format_money(Decimal(amount), currency) == shown


@pytest.mark.parametrize(
    ("cost", "shown"),
    [("0", "$0.00"), ("0.00184", "$0.0018"), ("0.00001", "under $0.0001"), ("1.239", "$1.24")],
)
def test_a_cost_is_never_rounded_to_nothing(cost: str, shown: str) -> None:
    assert money.format_cost(Decimal(cost)) == shown
