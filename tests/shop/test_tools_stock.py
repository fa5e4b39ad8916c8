"""stock_search and stock_for_release: against hand-written SQL, and at every boundary."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from apps.core import reading
from apps.core.tools import BadArguments, Table, Text, ToolArgs, ToolContext, ToolError, registry
from apps.core.tools import tool as register_tool
from apps.guilds import policy
from apps.guilds.models import Guild, User
from apps.shop import ages
from apps.shop.demo.known import KNOWN
from apps.shop.models import Release, Shop, StockItem

from . import makers
from .conftest import DemoShop, ask

DNB = {"style": "DnB", "format": '12"', "price_max": "10", "not_sold_days": 90}
BY_HAND = """
SELECT i.id, i.quantity, i.price FROM shop_stockitem i JOIN shop_release r ON r.id = i.release_id
WHERE i.guild_id = %(guild)s AND i.status = 'For Sale' AND i.quantity > 0 AND i.price < 10
  AND 'Drum n Bass' = ANY (r.styles)
  AND r.format_text ~ '(^|\\+ |x)12"'
  AND greatest(i.listed_at, (
        SELECT max(s.ordered_at) FROM shop_sale s JOIN shop_saleitem l ON l.sale_id = s.id
        WHERE l.release_id = r.id
          AND s.status_text IN ('Payment Received', 'In Progress', 'Shipped')
      )) <= %(now)s::timestamptz - interval '90 days'
ORDER BY i.id
"""


def rows_of(query: str, **values: Any) -> list[tuple[Any, ...]]:
    with connections["default"].cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchall()


def keys(table: Table) -> list[int]:
    return [int(row["ref"].split(":")[1]) for row in table.rows]


class TestOnTheDemoShop:
    def test_the_drum_and_bass_question_equals_sql_by_hand(self, demo_shop: DemoShop) -> None:
        expected = rows_of(BY_HAND, guild=demo_shop.guild.pk, now=demo_shop.now)
        table = ask("stock_search", demo_shop.guild, now=demo_shop.now, **DNB)
        assert len(expected) >= 12
        assert sorted(keys(table)) == [key for key, _, _ in expected]
        assert table.totals == {
            "rows": len(expected),
            "copies": sum(quantity for _, quantity, _ in expected),
            "sum": str(sum(quantity * price for _, quantity, price in expected)),
            "least": str(min(price for _, _, price in expected)),
            "greatest": str(max(price for _, _, price in expected)),
        }
        assert any("DnB" in note and "Drum n Bass" in note for note in table.notes)

    def test_each_near_miss_is_left_out_and_each_hit_is_in(self, demo_shop: DemoShop) -> None:
        found = set(keys(ask("stock_search", demo_shop.guild, now=demo_shop.now, **DNB)))
        made = list(StockItem.objects.order_by("listing_id")[: len(KNOWN)])
        wrong = [
            known.why
            for known, item in zip(KNOWN, made, strict=True)
            if (item.pk in found) != known.belongs
        ]
        assert wrong == []
        assert sum(known.belongs for known in KNOWN) >= 12

    def test_totals_cover_what_the_cap_leaves_out(self, demo_shop: DemoShop) -> None:
        table = ask("stock_search", demo_shop.guild, now=demo_shop.now, limit=7)
        counted = rows_of(
            "SELECT count(*), sum(quantity), sum(price * quantity), min(price), max(price)"
            " FROM shop_stockitem WHERE status = 'For Sale' AND quantity > 0"
        )[0]
        assert len(table.rows) == 7
        assert table.total_rows == counted[0] > 3000
        assert [table.totals[key] for key in ("copies", "sum", "least", "greatest")] == [
            counted[1],
            *(str(value) for value in counted[2:]),
        ]
        assert table.cut == (f"7 of {counted[0]:,} rows are shown; the totals cover all.",)

    def test_fifty_rows_unless_asked_and_never_over_two_hundred(self, demo_shop: DemoShop) -> None:
        assert len(ask("stock_search", demo_shop.guild).rows) == 50
        assert len(ask("stock_search", demo_shop.guild, limit=200).rows) == 200
        with pytest.raises(BadArguments, match="limit"):
            ask("stock_search", demo_shop.guild, limit=201)

    @pytest.mark.parametrize("days", [None, 400])
    def test_age_order_equals_sql_by_hand(self, demo_shop: DemoShop, days: int | None) -> None:
        expected = rows_of(
            "SELECT i.id FROM shop_stockitem i LEFT JOIN (SELECT l.release_id, max(s.ordered_at)"
            " AS last FROM shop_saleitem l JOIN shop_sale s ON s.id = l.sale_id"
            " WHERE s.state = 'completed' GROUP BY 1) sold USING (release_id)"
            " WHERE i.status = 'For Sale' AND i.quantity > 0"
            " ORDER BY greatest(i.listed_at, sold.last), i.id LIMIT 60"
        )
        arguments = {"not_sold_days": days} if days else {"sort": "age"}
        table = ask("stock_search", demo_shop.guild, now=demo_shop.now, limit=60, **arguments)
        assert keys(table) == [key for (key,) in expected]

    def test_the_number_of_queries_does_not_grow_with_rows(self, demo_shop: DemoShop) -> None:
        def queries(limit: int) -> int:
            with CaptureQueriesContext(connections["reader"]) as captured:
                ask("stock_search", demo_shop.guild, now=demo_shop.now, sort="price", limit=limit)
            return len(captured)

        assert queries(1) == queries(200) <= 9

    def test_a_word_spelt_wrong_finds_what_is_alike_and_says_so(self, demo_shop: DemoShop) -> None:
        table = ask("stock_search", demo_shop.guild, q="Ashquil Quartett")
        assert table.totals["rows"] > 0
        assert any("alike" in note for note in table.notes)


@pytest.mark.usefixtures("own_db")
class TestBoundaries:
    @pytest.fixture
    def shop(self, guild: Guild) -> Guild:
        Shop.objects.create(guild=guild, currency="USD")
        return guild

    def found(self, shop: Guild, **arguments: Any) -> list[str]:
        table = ask("stock_search", shop, now=makers.NOW, **arguments)
        return sorted(row["title"] for row in table.rows)

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"price_max": "10"}, ["9.99"]),
            ({"price_max": "10.00", "include_max": True}, ["10.00", "9.99"]),
            ({"price_min": "10"}, ["10.00", "10.01"]),
            ({"price_min": "10", "exclude_min": True}, ["10.01"]),
        ],
    )
    def test_prices_at_the_edge(
        self, shop: Guild, arguments: dict[str, Any], expected: list[str]
    ) -> None:
        for price in ("9.99", "10.00", "10.01"):
            makers.item(makers.release(shop, price), price)
        assert self.found(shop, **arguments) == expected

    def test_age_counts_whole_days_from_listing_or_sale(self, shop: Guild) -> None:
        edge = makers.NOW - timedelta(days=90)
        second = timedelta(seconds=1)
        for title, listed, sold in (
            ("listed at the edge", edge, None),
            ("listed a second late", edge + second, None),
            ("sold at the edge", edge - timedelta(days=99), edge),
            ("sold a second late", edge - timedelta(days=99), edge + second),
            ("undated, sold at the edge", None, edge),
            ("undated, sold late", None, edge + second),
            ("undated, never sold", None, None),
        ):
            of = makers.release(shop, title)
            makers.item(of, listed_at=listed, edited_at=makers.NOW)
            if sold:
                makers.sale(shop, sold, (of, "8.00"))
        assert self.found(shop, not_sold_days=90) == [
            "listed at the edge",
            "sold at the edge",
            "undated, sold at the edge",
        ]
        ordered = ask("stock_search", shop, now=makers.NOW, sort="age")
        assert [row["title"] for row in ordered.rows] == [
            "listed at the edge",
            "sold at the edge",
            "undated, sold at the edge",
            "listed a second late",
            "sold a second late",
            "undated, sold late",
            "undated, never sold",
        ]
        assert [row["unsold_days"] for row in ordered.rows] == [90, 90, 90, 89, 89, 89, None]

    def test_age_order_holds_with_small_windows_and_many_undated_items(
        self, shop: Guild, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ages, "WINDOW", 2)
        expected = []
        for number in range(40):
            of = makers.release(shop)
            listed = sold = None
            if number % 3:
                listed = makers.NOW - timedelta(days=number * 37 % 101, seconds=number)
            if number % 2:
                sold = makers.NOW - timedelta(days=number * 53 % 97, seconds=number)
                makers.sale(shop, sold, (of, "8.00"))
            key = makers.item(of, listed_at=listed).pk
            since = ages.since(listed, sold)
            expected.append((since is None, since or makers.NOW, key))
        order = [key for _, _, key in sorted(expected)]
        for limit in (1, 3, 7, 39, 40, 50):
            table = ask("stock_search", shop, now=makers.NOW, sort="age", limit=limit)
            assert keys(table) == order[:limit]

    @pytest.mark.parametrize(
        ("status", "counts"),
        [
            ("Payment Received", True),
            ("In Progress", True),
            ("Shipped", True),
            ("New Order", False),
            ("Payment Pending", False),
            ("Refund Sent", False),
            ("Cancelled (Item Unavailable)", False),
            ("Something new", False),
        ],
    )
    def test_only_completed_sales_make_young(self, shop: Guild, status: str, counts: bool) -> None:
        of = makers.release(shop)
        makers.item(of)
        makers.sale(shop, makers.NOW - timedelta(days=3), (of, "8.00"), status=status)
        assert self.found(shop, not_sold_days=90) == ([] if counts else ["Night Kilns"])

    def test_a_line_taken_off_an_order_is_no_sale(self, shop: Guild) -> None:
        of = makers.release(shop)
        makers.item(of)
        order = makers.sale(shop, makers.NOW, (of, "8.00"))
        order.items.update(removed=True)
        assert self.found(shop, not_sold_days=90) == ["Night Kilns"]

    def test_a_carrier_anywhere_counts_and_12_is_no_lp(self, shop: Guild) -> None:
        for text in ("LP, Album", '2xLP, Album + 7"', '2x12", Album', "CD, Album", 'LP + 12", EP'):
            makers.item(makers.release(shop, text, format_text=text))
        assert self.found(shop, format="12s") == ['2x12", Album', 'LP + 12", EP']
        assert self.found(shop, format="LP") == ['2xLP, Album + 7"', 'LP + 12", EP', "LP, Album"]
        assert self.found(shop, format="2xLP") == self.found(shop, format="lps")
        assert self.found(shop, format='7"') == ['2xLP, Album + 7"']
        assert len(self.found(shop, format="vinyl")) == 4
        notes = ask("stock_search", shop, format='12"').notes
        assert any("LPs" in note for note in notes)

    def test_grades_from_the_least_up_and_unknown_ones_left_out(self, shop: Guild) -> None:
        for grade in ("Mint (M)", "Very Good Plus (VG+)", "Very Good (VG)", "EX"):
            makers.item(makers.release(shop, grade), media_grade=grade)
        expected = ["Mint (M)", "Very Good Plus (VG+)"]
        assert self.found(shop, grade_min="VG+") == expected
        assert self.found(shop, grade_min="very good plus (VG+)") == expected
        with pytest.raises(ToolError, match=r"VG\+, VG, G\+"):
            self.found(shop, grade_min="EX")

    def test_only_what_is_for_sale_unless_asked(self, shop: Guild) -> None:
        for status in ("For Sale", "Draft", "Sold", "Expired", "Violation"):
            makers.item(makers.release(shop, status), status=status)
        makers.item(makers.release(shop, "none left"), quantity=0)
        assert self.found(shop) == ["For Sale"]
        everything = ask("stock_search", shop, in_stock=False)
        assert everything.totals["rows"] == 6
        assert everything.columns[-1].name == "status"

    def test_every_word_must_be_held_somewhere(self, shop: Guild) -> None:
        fields = {"label_display": "Brinedeck", "catno_display": "BRI-014"}
        makers.item(makers.release(shop, "Señal & Salt", **fields))
        makers.item(makers.release(shop, "100% Static", **fields))
        assert self.found(shop, q="emberlin señal BRI-014") == ["Señal & Salt"]
        assert self.found(shop, q="Senal and salt") == ["Señal & Salt"]
        assert self.found(shop, q="100%") == ["100% Static"]
        assert self.found(shop, q="zzqx vwkj") == []

    def test_long_texts_are_cut_and_it_is_told(self, shop: Guild) -> None:
        makers.item(makers.release(shop, "x" * 5000))
        table = ask("stock_search", shop)
        assert len(table.rows[0]["title"]) == 200
        assert table.cut == ("Texts longer than 200 characters were cut.",)

    def test_copies_count_in_the_sum(self, shop: Guild) -> None:
        makers.item(makers.release(shop), "3.00", quantity=4)
        assert ask("stock_search", shop).totals == {
            "rows": 1, "copies": 4, "sum": "12.00", "least": "3.00", "greatest": "3.00",
        }  # fmt: skip

    def test_nothing_found_is_zero_not_an_error(self, shop: Guild) -> None:
        assert ask("stock_search", shop).totals == {
            "rows": 0, "copies": 0, "sum": "0.00", "least": None, "greatest": None,
        }  # fmt: skip

    def test_swapped_prices_are_told(self, shop: Guild) -> None:
        with pytest.raises(ToolError, match="swap"):
            self.found(shop, price_min="20", price_max="10")

    def test_copies_of_one_release(self, shop: Guild) -> None:
        of = makers.release(shop, discogs_id=5012)
        makers.item(of, "9.00", market_value=Decimal("8.45"))
        makers.item(of, "7.00", status="Draft")
        makers.item(makers.release(shop, "Another"))
        table = ask("stock_for_release", shop, now=makers.NOW, release_id=5012)
        assert [(row["status"], row["price"]) for row in table.rows] == [
            ("For Sale", "9.00"),
            ("Draft", "7.00"),
        ]
        assert table.rows[0]["market_value"] == "8.45"
        assert (table.totals["rows"], table.totals["for_sale"]) == (2, 1)

    def test_a_release_is_named_by_discogs_first_then_by_us(self, shop: Guild) -> None:
        ours = makers.release(shop, "Ours")
        theirs = makers.release(shop, "Theirs", discogs_id=ours.pk)
        assert ask("release_lookup", shop, release_id=ours.pk).rows[0]["title"] == "Theirs"
        assert ask("release_lookup", shop, release_id=theirs.pk).rows[0]["ref"] == theirs.ref
        with pytest.raises(ToolError, match="release_lookup"):
            ask("stock_for_release", shop, release_id=987654)


@pytest.mark.usefixtures("own_db")
class TestTheLock:
    def test_tools_see_their_own_guild_alone(self, guild: Guild, stranger: User) -> None:
        other = stranger.members.get().guild
        makers.item(makers.release(guild))
        assert ask("stock_search", guild).totals["rows"] == 1
        calls: list[tuple[str, dict[str, Any]]] = [
            ("stock_search", {}),
            ("release_lookup", {"q": "night"}),
            ("sales_summary", {}),
            ("customer_wants", {}),
        ]
        for name, arguments in calls:
            assert ask(name, other, **arguments).totals["rows"] == 0
        assert ask("catalog_health", other).totals["releases"] == 0
        # Even with the wrong guild in its context, the scope decides what there is to see.
        tool = registry.get("stock_search")
        ctx = ToolContext(actor=None, guild=guild, now=makers.NOW)
        with reading.scope(other.pk):
            result = tool.run(ctx, tool.validate({}))
        assert isinstance(result, Table)
        assert result.totals["rows"] == 0

    def test_tools_ask_the_reader_alone(self, guild: Guild) -> None:
        makers.item(makers.release(guild))
        with (
            CaptureQueriesContext(connections["default"]) as app,
            CaptureQueriesContext(connections["reader"]) as reader,
        ):
            ask("stock_search", guild, style="dnb")
        assert len(app) == 0
        assert len(reader) > 0

    def test_a_tool_that_strays_to_another_connection_fails(self, guild: Guild) -> None:
        class Nothing(ToolArgs):
            pass

        def stray(ctx: ToolContext, args: Nothing) -> Text:
            """Count releases as the app login."""
            return Text(str(Release.objects.using("default").count()))

        stray.__annotations__["args"] = Nothing
        register_tool(effect="read", capability="shop.read", examples=["stray"])(stray)
        try:
            with pytest.raises(reading.StrayQuery):
                ask("stray", guild)
        finally:
            registry.remove("stray")
        assert Release.objects.count() == 0

    def test_rights_are_refused_without_a_grant(self, clerk: User, ada: User) -> None:
        for name in (
            "stock_search", "release_lookup", "stock_for_release", "sales_summary",
            "customer_wants", "catalog_health",
        ):  # fmt: skip
            tool = registry.get(name)
            assert tool.effect == "read"
            assert not tool.public
            assert policy.decide(ada.members.get(), tool.capability).allowed
            assert not policy.decide(clerk.members.get(), tool.capability).allowed
        assert registry.get("customer_wants").capability == "shop.customers.read"

    def test_unknown_arguments_are_refused(self, guild: Guild) -> None:
        with pytest.raises(BadArguments, match="max_price"):
            ask("stock_search", guild, max_price="10")
