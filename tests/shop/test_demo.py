"""The demo shop: the same seed gives the same rows, all invented, all deletable at once."""

from __future__ import annotations

import hashlib
import time
from datetime import date
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from apps.guilds.models import Guild, User
from apps.shop import demo, formats
from apps.shop.demo.copying import FIRST_LISTING, FIRST_RELEASE
from apps.shop.demo.genres import GENRES
from apps.shop.demo.pressings import LADDER
from apps.shop.models import Customer, Release, Sale, SaleItem, Shop, StockItem, Track, Want

from . import makers
from .conftest import DAY, DemoShop

FEW = 200


def fingerprint(guild: Guild) -> str:
    """Everything that does not hang on row numbers."""
    parts: list[Any] = [
        list(
            Release.objects.filter(guild=guild)
            .order_by("discogs_id")
            .values_list("title", "artist_match", "catno_display", "styles", "released", "search")
        ),
        list(
            StockItem.objects.filter(guild=guild)
            .order_by("listing_id")
            .values_list("listing_id", "price", "media_grade", "listed_at", "edited_at", "status")
        ),
        list(
            SaleItem.objects.filter(guild=guild)
            .order_by("item_number")
            .values_list("item_number", "price", "sale__ordered_at", "sale__customer__name")
        ),
        list(
            Want.objects.filter(guild=guild)
            .order_by("release__discogs_id", "customer__name")
            .values_list("release__discogs_id", "customer__name", "status", "added_at")
        ),
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


class TestTheDefaultShop:
    def test_its_size(self, demo_shop: DemoShop) -> None:
        assert Release.objects.count() == pytest.approx(3000, rel=0.02)
        assert StockItem.objects.count() == pytest.approx(4000, rel=0.01)
        assert Sale.objects.count() > 2000
        assert Want.objects.count() > 400
        span = Sale.objects.earliest("ordered_at"), Sale.objects.latest("ordered_at")
        assert (span[1].ordered_at - span[0].ordered_at).days == pytest.approx(729, abs=3)  # type: ignore[operator]
        assert span[1].ordered_at < demo_shop.now  # type: ignore[operator]

    def test_all_genres_and_traps_of_the_trade(self, demo_shop: DemoShop) -> None:
        genres = {
            name for names in Release.objects.values_list("genres", flat=True) for name in names
        }
        assert genres == {genre.name for genre in GENRES}
        assert len(genres) == 15
        for trap in (
            Release.objects.filter(artist_match__regex=r" \(\d\)$"),
            Release.objects.filter(title="?"),
            Release.objects.filter(title__contains="<"),
            Release.objects.filter(released=""),
            Release.objects.filter(released__endswith="-00"),
            Release.objects.filter(carriers=["LP", '7"']),
        ):
            assert trap.exists()
        assert not Release.objects.filter(artist_display__regex=r"\(\d\)$").exists()

    def test_fields_agree_with_their_readers(self, demo_shop: DemoShop) -> None:
        for release in Release.objects.all()[:500]:
            assert release.carriers == list(formats.carriers_of(release.format_text))
            assert release.year == formats.year_of(release.released)
            kept = release.search
            release.save()
            assert release.search == kept

    def test_market_values_follow_the_ladder(self, demo_shop: DemoShop) -> None:
        assert tuple(LADDER.values()) == (19, 17, 13, 9, 5, 3, 2, 1)
        pairs = 0
        for release in Release.objects.prefetch_related("stock_items")[:600]:
            copies = list(release.stock_items.all())
            steps = {Decimal(str(copy.market_value)) / LADDER[copy.media_grade] for copy in copies}
            assert len(steps) == 1
            pairs += len(copies) == 2
        assert pairs > 100

    def test_sales_are_whole(self, demo_shop: DemoShop) -> None:
        for sale in Sale.objects.prefetch_related("items")[:500]:
            goods = sum((item.price * item.quantity for item in sale.items.all()), Decimal())
            assert sale.total == goods + (sale.shipping or 0)
            assert sale.state == formats.order_state(sale.status_text)
        sold = StockItem.objects.filter(status="Sold", sale_items=None)
        # One of them is the known near miss, which was sold elsewhere.
        assert sold.count() == 1

    def test_numbers_are_above_any_real_one(self, demo_shop: DemoShop) -> None:
        assert Release.objects.earliest("discogs_id").discogs_id == FIRST_RELEASE > 10**8
        assert StockItem.objects.earliest("listing_id").listing_id == FIRST_LISTING
        assert not Customer.objects.exclude(email__endswith="@example.com").exists()

    def test_it_was_analyzed(self, demo_shop: DemoShop) -> None:
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "SELECT reltuples FROM pg_class WHERE relname = 'shop_stockitem' AND relkind = 'r'"
            )
            assert cursor.fetchone() == (4000.0,)


@pytest.mark.usefixtures("own_db")
class TestLoading:
    def test_the_same_seed_gives_the_same_rows(self, guild: Guild, stranger: User) -> None:
        other = stranger.members.get().guild
        other.time_zone = guild.time_zone
        assert demo.load(guild, items=FEW, today=DAY) == demo.load(other, items=FEW, today=DAY)
        assert fingerprint(guild) == fingerprint(other)
        demo.delete(other)
        demo.load(other, items=FEW, today=DAY, seed=7)
        assert fingerprint(guild) != fingerprint(other)

    def test_dates_are_relative_to_the_day(self, guild: Guild, stranger: User) -> None:
        other = stranger.members.get().guild
        demo.load(guild, items=FEW, today=DAY)
        demo.load(other, items=FEW, today=date(2030, 1, 1))
        ages = [
            [(day - item.listed_at.date()).days for item in items if item.listed_at]
            for day, items in (
                (DAY, StockItem.objects.filter(guild=guild).order_by("listing_id")),
                (date(2030, 1, 1), StockItem.objects.filter(guild=other).order_by("listing_id")),
            )
        ]
        assert ages[0] == pytest.approx(ages[1], abs=1)

    def test_batches_go_on_where_the_last_one_ended(
        self, guild: Guild, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apps.shop.demo.loading.BATCH", 40)
        loaded = demo.load(guild, items=FEW, today=DAY)
        assert Release.objects.count() == loaded.releases
        assert StockItem.objects.count() == loaded.items == FEW
        numbers = set(Sale.objects.values_list("order_number", flat=True))
        assert numbers == {f"DEMO-{number}" for number in range(1, loaded.orders + 1)}

    def test_it_marks_the_shop_and_is_gone_at_once(self, guild: Guild) -> None:
        demo.load(guild, items=FEW)
        shop = Shop.objects.get(guild=guild)
        assert (shop.is_demo, shop.currency) == (True, "USD")
        assert demo.delete(guild) > FEW
        for table in (Release, StockItem, Sale, SaleItem, Customer, Want, Track):
            assert not table.objects.exists()
        assert not Shop.objects.filter(is_demo=True).exists()
        demo.load(guild, items=FEW)

    def test_a_shop_with_rows_is_refused_and_kept(self, guild: Guild) -> None:
        makers.release(guild)
        with pytest.raises(demo.NotEmpty):
            demo.load(guild, items=FEW)
        assert Release.objects.get().title == "Night Kilns"
        assert not Shop.objects.filter(is_demo=True).exists()
        with pytest.raises(demo.NothingToDelete):
            demo.delete(guild)
        assert Release.objects.exists()

    def test_another_guilds_rows_stay(self, guild: Guild, stranger: User) -> None:
        other = stranger.members.get().guild
        makers.item(makers.release(other))
        demo.load(guild, items=FEW)
        demo.delete(guild)
        assert StockItem.objects.get().guild == other

    def test_too_small_a_shop_cannot_hold_the_near_misses(self, guild: Guild) -> None:
        with pytest.raises(ValueError, match="at least"):
            demo.load(guild, items=10)

    def test_the_commands(self, guild: Guild) -> None:
        out = StringIO()
        call_command("load_demo", items=FEW, seed=3, stdout=out)
        assert "200 items" in out.getvalue()
        with pytest.raises(CommandError, match="delete_demo"):
            call_command("load_demo", items=FEW)
        call_command("delete_demo", stdout=out)
        assert "gone" in out.getvalue()
        with pytest.raises(CommandError, match="not a demo shop"):
            call_command("delete_demo")
        with pytest.raises(CommandError, match="no such guild"):
            call_command("load_demo", guild=999)
        with pytest.raises(CommandError, match="at least"):
            call_command("load_demo", items=1)

    def test_the_default_shop_is_little_work(self, guild: Guild) -> None:
        # The whole takes two or three seconds alone on a machine; a busy one stretches the
        # wall clock, so what is bounded is this process's own part.
        started = time.process_time()
        demo.load(guild)
        assert time.process_time() - started < 5
