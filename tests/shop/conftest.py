"""One demo shop for the modules that only read it, and small shops made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import pytest

from apps.core import clock, reading
from apps.core.tools import Table, ToolContext, registry
from apps.guilds.models import Guild
from apps.shop import demo
from tests import databases

DAY = date(2026, 6, 15)


class DemoShop(NamedTuple):
    """The demo shop's guild, and an instant in the afternoon of the day it was made for."""

    guild: Guild
    now: datetime


@pytest.fixture(scope="session")
def demo_template(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """A database that holds the default demo shop, to be cloned."""
    with django_db_blocker.unblock():
        with databases.own_database() as name:
            guild = Guild.objects.create(name="Demo Quay", time_zone="Europe/Lisbon")
            demo.load(guild, today=DAY)
            databases.connections.close_all()
            made = databases.clone(name)
        yield made
        databases.drop(made)


@pytest.fixture(scope="module")
def demo_shop(demo_template: str, django_db_blocker: Any) -> Iterator[DemoShop]:
    """The demo shop for a module that changes nothing."""
    with django_db_blocker.unblock(), databases.own_database(demo_template):
        guild = Guild.objects.get()
        start, _ = clock.day_bounds(guild, DAY)
        yield DemoShop(guild, start + timedelta(hours=15))


def ask(name: str, guild: Guild, *, now: datetime | None = None, **arguments: Any) -> Table:
    """Run a tool as the loop does: validated arguments, on the reader's connection."""
    tool = registry.get(name)
    ctx = ToolContext(actor=None, guild=guild, now=now or datetime.now(UTC))
    with reading.scope(guild.pk):
        result = tool.run(ctx, tool.validate(arguments))
    assert isinstance(result, Table)
    return result
