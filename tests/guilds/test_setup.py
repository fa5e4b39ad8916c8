"""Set-up: safe to run at every start, and the demo shop only where there never was a shop."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from apps.guilds.models import Guild, User
from apps.shop import demo
from apps.shop.models import Customer, Release, Shop

pytestmark = pytest.mark.usefixtures("own_db")


def setup(*, demo_shop: bool = True) -> None:
    call_command("setup", demo=demo_shop, stdout=StringIO(), stderr=StringIO())


def test_a_fresh_house_gets_a_guild_an_owner_and_the_demo_shop_once() -> None:
    setup()
    setup()
    assert (Guild.objects.count(), User.objects.count()) == (1, 1)
    assert Shop.objects.get().is_demo
    assert 3_000 < Release.objects.count() < 3_100


def test_without_demo_the_shop_stays_empty() -> None:
    setup(demo_shop=False)
    assert not Shop.objects.exists()


def test_a_deleted_demo_shop_stays_away() -> None:
    setup()
    demo.delete(Guild.objects.get())
    setup()
    assert not Release.objects.exists()


def test_a_real_shop_is_left_alone() -> None:
    guild = Guild.objects.create(name="Real Records")
    Customer.objects.create(guild=guild, name="Somebody", initials="S")
    setup()
    assert not Release.objects.exists()
