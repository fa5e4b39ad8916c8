"""Writes that touch the whole shop, an upload's way through a job, and what tools may see."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from django.core.files import File

from apps.core import reading
from apps.guilds.models import Guild
from apps.jobs import operations as jobs
from apps.shop import models
from apps.shop.operations import delete_all

from .importing import LISTING, run, stock_file
from .test_import_orders import ITEM, items

pytestmark = pytest.mark.usefixtures("own_db", "guild")


def test_delete_all_leaves_no_row_of_the_guild_and_every_row_of_others(
    tmp_path: Path, guild: Guild
) -> None:
    other = Guild.objects.create(name="Quayside Fair")
    for name in ("", "Quayside Fair"):
        run("import_stock", stock_file(tmp_path / "s.csv", {}), currency="USD", guild=name)
        run("import_orders", items(tmp_path / "i.csv", {}), guild=name)
    gone = delete_all(guild)
    assert gone["stockitem"] == gone["release"] == gone["sale"] == gone["shop"] == 1
    for name in models.__all__:
        model = getattr(models, name)
        assert not model.objects.filter(guild=guild).exists(), name
    assert models.SaleItem.objects.get(guild=other).item_number == ITEM["item_id"]
    assert models.StockItem.objects.get(guild=other).listing_id == LISTING["listing_id"]


def test_an_upload_is_called_by_its_own_name(tmp_path: Path, guild: Guild) -> None:
    wrong = tmp_path / "mine.csv"
    wrong.write_text("a,b\n1,2\n")
    with wrong.open("rb") as file:
        job = jobs.create(
            "import_stock",
            guild=guild,
            args={"currency": "USD"},
            upload=File(file),
            title="Stock: mine.csv",
        )
    ended = jobs.run_now(job)
    assert ended.status == "failed"
    assert ended.error.startswith("mine.csv is no inventory export")


def test_tools_see_initials_and_neither_name_nor_mail(guild: Guild) -> None:
    models.Customer.objects.create(
        guild=guild, name="Ines Duarte", email="ines@example.com", initials="ID"
    )
    with reading.scope(guild.pk):
        seen = models.Customer.objects.get()
    assert (seen.initials, seen.name, seen.email) == ("ID", "", "")


def test_orders_without_a_currency_take_the_given_one(tmp_path: Path) -> None:
    path = items(tmp_path / "i.csv", {"currency": ""})
    run("import_orders", path, currency="GBP")
    assert models.Sale.objects.get().currency == "GBP"
    assert models.Shop.objects.get().currency == "GBP"
    assert models.Sale.objects.get().total == Decimal("30.00")
