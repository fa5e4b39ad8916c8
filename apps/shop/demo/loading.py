"""Load the demo shop into an empty shop, and delete it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain, islice
from random import Random

from django.db import transaction

from apps.audit.recorder import record
from apps.core import clock
from apps.guilds.models import Guild, Member
from apps.shop import operations, statistics
from apps.shop.demo import generating, known
from apps.shop.demo.copying import send_pressings
from apps.shop.demo.ordering import send_customers, send_orders, send_wants
from apps.shop.demo.pressings import Pressing
from apps.shop.models import Customer, Release, Sale, Shop

SEED = 20_240_229
CURRENCY = "USD"
ITEMS = 4_000
FEWEST_ITEMS = 2 * len(known.KNOWN)
BATCH = 5_000


class NotEmpty(Exception):
    """The shop holds rows already; demo and real rows never mix."""


class NothingToDelete(Exception):
    """The shop is not a demo shop, so nothing of it may be deleted wholesale."""


@dataclass(frozen=True)
class Loaded:
    """How much was written."""

    releases: int
    items: int
    orders: int


def load(
    guild: Guild, *, items: int = ITEMS, seed: int = SEED, today: date | None = None
) -> Loaded:
    """Fill the guild's empty shop; the same seed, day and size give the same rows.

    About three releases for four items. Up to 5,000 releases are written in one transaction;
    a larger shop batch by batch, in memory that does not grow, so a failure leaves a part
    that ``delete`` removes. Raises :class:`NotEmpty`.
    """
    if items < FEWEST_ITEMS:
        raise ValueError(f"a demo shop has at least {FEWEST_ITEMS} items; asked for {items}")
    midnight, _ = clock.day_bounds(guild, today or clock.business_day(guild))
    rng = Random(seed)
    made = _pressings(rng, items, midnight)
    order = 1
    releases = written = 0
    customers: list[int] = []
    for batch in iter(lambda: list(islice(made, BATCH)), []):
        with transaction.atomic():
            if not customers:
                _claim(guild)
                customers = send_customers(guild.pk, rng, items=items, at=midnight)
            order = _send(guild.pk, rng, batch, customers, order, midnight)
        releases += len(batch)
        written += sum(len(pressing.copies) for pressing in batch)
    statistics.refresh()
    return Loaded(releases, written, order - 1)


def _pressings(rng: Random, items: int, midnight: datetime) -> Iterator[Pressing]:
    first = len(known.KNOWN)
    # Every third pressing has two copies.
    count = ((items - first) * 3 + 3) // 4
    return chain(
        known.pressings(rng, first=0, midnight=midnight),
        generating.pressings(rng, count=count, first=first, items=items, midnight=midnight),
    )


def _claim(guild: Guild) -> None:
    """Mark the guild's shop as demo, holding its row until the batch is in."""
    shop, _ = Shop.objects.select_for_update().get_or_create(guild=guild)
    if any(table.objects.filter(guild=guild).exists() for table in (Release, Sale, Customer)):
        raise NotEmpty("this shop holds rows already; the demo shop goes into an empty one only")
    shop.is_demo, shop.currency = True, CURRENCY
    shop.save(update_fields=["is_demo", "currency", "updated_at"])


def _send(
    guild_id: int,
    rng: Random,
    batch: list[Pressing],
    customers: list[int],
    order: int,
    midnight: datetime,
) -> int:
    send_pressings(guild_id, batch, currency=CURRENCY, at=midnight)
    following = send_orders(
        guild_id, rng, batch, customers, currency=CURRENCY, first=order, at=midnight
    )
    send_wants(guild_id, rng, batch, customers, midnight=midnight, at=midnight)
    return following


@transaction.atomic
def delete(guild: Guild, *, actor: Member | None = None) -> int:
    """Delete every row of a demo shop and make it an empty one; how many rows went.

    The event that this leaves also keeps a later start from loading the demo shop again.

    Raises :class:`NothingToDelete` for a shop that is not demo, and touches nothing then.
    """
    shop = Shop.objects.select_for_update().filter(guild=guild, is_demo=True).first()
    if shop is None:
        raise NothingToDelete("this shop is not a demo shop; nothing was deleted")
    gone = sum(operations.delete_all(guild).values())
    who = f"member:{actor.pk}" if actor else ""
    record("shop_delete", guild_id=guild.pk, actor=who, rows=gone, demo=True)
    return gone
