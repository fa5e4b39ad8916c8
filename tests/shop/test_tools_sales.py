"""sales_summary: what counts, where a day ends, and every sum against SQL by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connections

from apps.core.tools import ToolError
from apps.guilds.models import Guild
from apps.shop.models import Shop

from . import makers
from .conftest import DAY, DemoShop, ask

DONE = "('Payment Received', 'In Progress', 'Shipped')"


def rows_of(query: str, *values: Any) -> list[tuple[Any, ...]]:
    with connections["default"].cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


@pytest.mark.parametrize(
    ("group", "key"),
    [
        ("day", "to_char(s.ordered_at AT TIME ZONE 'Europe/Lisbon', 'YYYY-MM-DD')"),
        ("month", "to_char(s.ordered_at AT TIME ZONE 'Europe/Lisbon', 'YYYY-MM-01')"),
        (
            "week",
            "to_char(date_trunc('week', s.ordered_at AT TIME ZONE 'Europe/Lisbon'), 'YYYY-MM-DD')",
        ),
        ("genre", "r.genres[1]"),
        ("format", "r.carriers[1]"),
    ],
)
def test_groups_equal_sql_by_hand(demo_shop: DemoShop, group: str, key: str) -> None:
    first, last = DAY - timedelta(days=70), DAY - timedelta(days=1)
    expected = rows_of(
        f"SELECT {key}, sum(i.price * i.quantity), sum(i.quantity), count(DISTINCT s.id)"
        " FROM shop_sale s JOIN shop_saleitem i ON i.sale_id = s.id"
        f" JOIN shop_release r ON r.id = i.release_id WHERE s.status_text IN {DONE}"
        " AND (s.ordered_at AT TIME ZONE 'Europe/Lisbon')::date BETWEEN %s AND %s GROUP BY 1",
        first,
        last,
    )
    table = ask("sales_summary", demo_shop.guild, date_from=first, date_to=last, group_by=group)
    assert {
        (row["key"], Decimal(row["revenue"]), row["units"], row["orders"]) for row in table.rows
    } == set(expected)
    assert Decimal(table.totals["revenue"]) == sum(revenue for _, revenue, _, _ in expected)
    assert table.totals["units"] == sum(units for _, _, units, _ in expected)
    if group in {"day", "week", "month"}:
        assert [row["key"] for row in table.rows] == sorted(row["key"] for row in table.rows)


def test_totals_and_top_items_equal_sql_by_hand(demo_shop: DemoShop) -> None:
    table = ask("sales_summary", demo_shop.guild)
    totals = rows_of(
        "SELECT sum(i.price * i.quantity), sum(i.quantity), count(DISTINCT s.id), min(i.price),"
        " max(i.price) FROM shop_sale s JOIN shop_saleitem i ON i.sale_id = s.id"
        f" WHERE s.status_text IN {DONE}"
    )[0]
    refunds = rows_of(
        "SELECT count(*), sum(total) FROM shop_sale WHERE status_text = 'Refund Sent'"
    )[0]
    best = rows_of(
        "SELECT i.release_id, sum(i.quantity) FROM shop_sale s JOIN shop_saleitem i"
        f" ON i.sale_id = s.id WHERE s.status_text IN {DONE} GROUP BY 1 ORDER BY 2 DESC LIMIT 50"
    )
    assert Decimal(table.totals["revenue"]) == totals[0]
    assert (table.totals["units"], table.totals["orders"]) == totals[1:3]
    assert (table.totals["least"], table.totals["greatest"]) == tuple(map(str, totals[3:]))
    assert table.totals["refunds"] == refunds[0] > 0
    assert Decimal(table.totals["refunded"]) == refunds[1]
    assert [row["units"] for row in table.rows] == [units for _, units in best]
    assert len(table.rows) == 50 < table.total_rows
    assert table.cut


def test_a_long_span_of_days_keeps_the_newest_and_tells_the_cut(demo_shop: DemoShop) -> None:
    table = ask("sales_summary", demo_shop.guild, group_by="day")
    assert len(table.rows) == 50
    assert table.rows[-1]["key"] == DAY.isoformat()
    assert table.total_rows > 600
    assert table.cut
    assert any(note.startswith("Top items: ") for note in table.notes)


@pytest.mark.usefixtures("own_db")
class TestBoundaries:
    @pytest.fixture
    def shop(self, guild: Guild) -> Guild:
        Shop.objects.create(guild=guild, currency="USD")
        return guild

    def revenue(self, shop: Guild, **arguments: Any) -> str:
        return str(ask("sales_summary", shop, now=makers.NOW, **arguments).totals["revenue"])

    def test_which_orders_count(self, shop: Guild) -> None:
        of = makers.release(shop)
        for price, status in (
            ("1.00", "Payment Received"),
            ("2.00", "In Progress"),
            ("4.00", "Shipped"),
            ("8.00", "Refund Sent"),
            ("16.00", "Cancelled (Non-Paying Buyer)"),
            ("32.00", "Invoice Sent"),
            ("64.00", "Lost in the post"),
        ):
            makers.sale(shop, makers.NOW, (of, price), status=status)
        table = ask("sales_summary", shop)
        assert table.totals["revenue"] == "7.00"
        assert table.totals["orders"] == 3
        assert (table.totals["refunds"], table.totals["refunded"]) == (1, "8.00")
        assert any("Not yet paid, not counted: 1" in note for note in table.notes)
        assert any("unknown status, not counted: 1" in note for note in table.notes)
        assert not any("16" in note for note in table.notes)

    def test_days_end_at_midnight_where_the_shop_is(self, shop: Guild) -> None:
        of = makers.release(shop)
        # Lisbon is an hour ahead of UTC in June.
        for price, at in (
            ("1.00", datetime(2026, 6, 9, 22, 59, 59, tzinfo=UTC)),
            ("2.00", datetime(2026, 6, 9, 23, 0, tzinfo=UTC)),
            ("4.00", datetime(2026, 6, 10, 22, 59, 59, tzinfo=UTC)),
            ("8.00", datetime(2026, 6, 10, 23, 0, tzinfo=UTC)),
        ):
            makers.sale(shop, at, (of, price))
        tenth = date(2026, 6, 10)
        assert self.revenue(shop, date_from=tenth, date_to=tenth) == "6.00"
        assert self.revenue(shop, date_from=tenth) == "14.00"
        assert self.revenue(shop, date_to=tenth) == "7.00"
        by_day = ask("sales_summary", shop, group_by="day")
        assert [(row["key"], row["revenue"]) for row in by_day.rows] == [
            ("2026-06-09", "1.00"),
            ("2026-06-10", "6.00"),
            ("2026-06-11", "8.00"),
        ]

    def test_an_order_total_is_never_counted_per_line(self, shop: Guild) -> None:
        of = makers.release(shop)
        makers.sale(
            shop, makers.NOW, (of, "10.00"), (of, "5.00"), (None, "2.50"),
            total=Decimal("23.00"), shipping=Decimal("5.50"),
        )  # fmt: skip
        table = ask("sales_summary", shop, group_by="genre")
        assert (table.totals["revenue"], table.totals["orders"]) == ("17.50", 1)
        assert [(row["key"], row["revenue"]) for row in table.rows] == [
            ("Electronic", "15.00"),
            ("(unknown)", "2.50"),
        ]

    def test_an_order_without_lines_counts_once_less_postage_and_tax(self, shop: Guild) -> None:
        makers.sale(
            shop, makers.NOW,
            total=Decimal("20.00"), shipping=Decimal("4.00"), tax=Decimal("1.00"),
        )  # fmt: skip
        table = ask("sales_summary", shop, group_by="day")
        assert (table.totals["revenue"], table.totals["units"]) == ("15.00", 0)
        assert table.rows[0]["orders"] == 1

    def test_a_removed_line_does_not_count(self, shop: Guild) -> None:
        order = makers.sale(shop, makers.NOW, (None, "3.00"), (None, "4.00"))
        order.items.filter(price=4).update(removed=True)
        assert self.revenue(shop) == "3.00"

    def test_another_currency_is_told_apart(self, shop: Guild) -> None:
        makers.sale(shop, makers.NOW, (None, "3.00"))
        makers.sale(shop, makers.NOW, (None, "500.00"), currency="JPY")
        table = ask("sales_summary", shop)
        assert table.totals["revenue"] == "3.00"
        assert any("another currency, not counted: 1" in note for note in table.notes)

    def test_orders_of_no_known_day_count_only_without_dates(self, shop: Guild) -> None:
        makers.sale(shop, None, (None, "3.00"))
        assert self.revenue(shop) == "3.00"
        assert self.revenue(shop, date_from=date(2020, 1, 1)) == "0.00"
        assert ask("sales_summary", shop, group_by="day").rows[0]["key"] == "(no date)"

    def test_no_sales_are_zeros(self, shop: Guild) -> None:
        table = ask("sales_summary", shop, group_by="week")
        assert table.rows == []
        assert table.totals == {
            "revenue": "0.00", "units": 0, "orders": 0, "least": None, "greatest": None,
            "rows": 0, "copies": 0, "sum": "0.00", "refunds": 0, "refunded": "0.00",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("first", "last", "says"),
        [("2026-06-10", "2026-06-09", "swap"), ("0001-01-01", "9999-12-31", "name another")],
    )
    def test_odd_days_are_told(self, shop: Guild, first: str, last: str, says: str) -> None:
        with pytest.raises(ToolError, match=says):
            self.revenue(shop, date_from=first, date_to=last)
