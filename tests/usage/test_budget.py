"""Spending is reserved before it happens, with real threads and committed rows."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError, connections, transaction
from pytest_django import Settings

from apps.core import clock
from apps.guilds.models import Guild
from apps.providers.types import Usage
from apps.usage import amounts, budget, recording
from apps.usage.errors import BudgetRefused
from apps.usage.models import DayBudget, Reservation, UsageEvent

CALL = budget.Call(provider="openai", model="gpt-4o-mini", input_tokens=100, output_tokens=50)


@pytest.fixture(autouse=True)
def _five_dollars(settings: Settings) -> None:
    settings.DAILY_AI_BUDGET = Decimal("5.00")


def side_by_side(work: Callable[[], object], *, times: int) -> Counter[str]:
    """Run the work on that many threads, released together; how each ended."""
    gate = threading.Barrier(times)

    def one() -> str:
        gate.wait()
        try:
            work()
        except BudgetRefused:
            return "refused"
        finally:
            connections.close_all()
        return "accepted"

    with ThreadPoolExecutor(times) as threads:
        return Counter(future.result() for future in [threads.submit(one) for _ in range(times)])


def outcome(
    cost: str, status: UsageEvent.Status = UsageEvent.Status.SUCCEEDED
) -> recording.Outcome:
    at = clock.now()
    return recording.Outcome(status, Usage(10, 5), Decimal(cost), at, at)


def test_hundred_at_once_get_exactly_what_is_affordable(own_db: str, guild: Guild) -> None:
    ended = side_by_side(lambda: budget.reserve(guild, Decimal("0.15"), call=CALL), times=100)
    assert ended == {"accepted": 33, "refused": 67}
    spend = budget.today(guild)
    assert spend.reserved == Decimal("4.95")
    assert spend.left == Decimal("0.05")


def test_settling_side_by_side_loses_nothing(own_db: str, guild: Guild) -> None:
    held = [budget.reserve(guild, Decimal("0.10"), call=CALL) for _ in range(20)]
    side_by_side(lambda: budget.settle(held.pop(), Decimal("0.07")), times=20)
    spend = budget.today(guild)
    assert (spend.spent, spend.reserved) == (Decimal("1.40"), Decimal(0))


def test_reserving_and_settling_together_never_overspend(own_db: str, guild: Guild) -> None:
    def one_call() -> None:
        held = budget.reserve(guild, Decimal("0.50"), call=CALL)
        budget.settle(held, Decimal("0.50"))

    ended = side_by_side(one_call, times=30)
    assert ended["accepted"] <= 10
    assert budget.today(guild).spent == ended["accepted"] * Decimal("0.50")


@pytest.mark.django_db
def test_refusal_names_cause_amounts_and_next_step(guild: Guild) -> None:
    budget.reserve(guild, Decimal("4.50"), call=CALL)
    with pytest.raises(BudgetRefused) as caught:
        budget.reserve(guild, Decimal("0.51"), call=CALL)
    told = caught.value
    assert (told.needed, told.left) == (Decimal("0.51"), Decimal("0.50"))
    assert told.resets_at == clock.next_reset(guild)
    for words in ("$0.5100", "$5.00", "$0.5000", "set aside", "Europe/Lisbon", "DAILY_AI_BUDGET"):
        assert words in told.message
    budget.reserve(guild, Decimal("0.50"), call=CALL)


@pytest.mark.django_db
def test_zero_is_closed_even_to_what_costs_nothing(guild: Guild, settings: Settings) -> None:
    settings.DAILY_AI_BUDGET = Decimal(0)
    with pytest.raises(BudgetRefused, match="DAILY_AI_BUDGET is 0"):
        budget.reserve(guild, Decimal(0), call=CALL)
    assert not Reservation.objects.exists()


@pytest.mark.django_db
def test_free_call_fits_a_day_that_is_spent(guild: Guild) -> None:
    held = budget.reserve(guild, Decimal("5.00"), call=CALL)
    budget.settle(held, Decimal("6.00"))
    assert budget.today(guild).left == 0
    budget.reserve(guild, Decimal(0), call=CALL)


@pytest.mark.django_db
def test_one_guild_never_pays_for_another(guild: Guild) -> None:
    other = Guild.objects.create(name="Quayside Fair")
    budget.reserve(guild, Decimal("5.00"), call=CALL)
    budget.reserve(other, Decimal("5.00"), call=CALL)
    assert budget.today(other).reserved == Decimal("5.00")


@pytest.mark.django_db
def test_day_is_the_guilds_own(guild: Guild) -> None:
    guild.time_zone = "Asia/Tokyo"
    guild.save(update_fields=["time_zone"])
    evening = datetime(2026, 3, 4, 14, 59, tzinfo=UTC)
    budget.reserve(guild, Decimal(5), call=CALL, at=evening)
    budget.reserve(guild, Decimal(5), call=CALL, at=evening + timedelta(minutes=1))
    days = DayBudget.objects.values_list("day", flat=True).order_by("day")
    assert list(days) == [date(2026, 3, 4), date(2026, 3, 5)]


@pytest.mark.django_db
@pytest.mark.parametrize("times", [1, 3])
def test_call_is_charged_once_however_often_it_is_settled(guild: Guild, times: int) -> None:
    held = budget.reserve(guild, Decimal("1.00"), call=CALL)
    for _ in range(times):
        recording.close(guild, CALL, outcome("0.25"), reservation=held)
    assert budget.today(guild).spent == Decimal("0.25")
    assert UsageEvent.objects.get().cost == Decimal("0.25")


@pytest.mark.django_db
def test_reservation_of_a_dead_worker_is_charged_in_full_and_marked(guild: Guild) -> None:
    held = budget.reserve(guild, Decimal("3.00"), call=CALL)
    at = clock.now() + budget.RESERVED_FOR
    Reservation.objects.filter(pk=held.pk).update(expires_at=clock.now())
    assert budget.expire_stale(guild, at=at) == 1
    assert budget.expire_stale(guild, at=at) == 0
    event = UsageEvent.objects.get()
    assert (event.cost, event.status, event.error_class) == (Decimal(3), "failed", "worker_lost")
    assert event.estimated
    assert budget.today(guild).spent == 3
    assert budget.today(guild).reserved == 0


@pytest.mark.django_db
def test_next_reservation_expires_stale_ones(guild: Guild) -> None:
    held = budget.reserve(guild, Decimal("3.00"), call=CALL)
    Reservation.objects.filter(pk=held.pk).update(expires_at=clock.now() - timedelta(days=1))
    with pytest.raises(BudgetRefused):
        budget.reserve(guild, Decimal("3.00"), call=CALL)
    assert UsageEvent.objects.get().error_class == "worker_lost"


@pytest.mark.django_db
def test_call_that_ends_after_it_was_given_up_is_corrected(guild: Guild) -> None:
    held = budget.reserve(guild, Decimal("3.00"), call=CALL)
    Reservation.objects.filter(pk=held.pk).update(expires_at=clock.now())
    budget.expire_stale(guild, at=clock.now())
    recording.close(guild, CALL, outcome("0.02"), reservation=held)
    event = UsageEvent.objects.get()
    assert (event.cost, event.status, event.estimated) == (Decimal("0.02"), "succeeded", False)
    assert budget.today(guild).spent == Decimal("0.02")


@pytest.mark.django_db
def test_database_refuses_a_negative_amount(guild: Guild) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        budget.reserve(guild, Decimal("-1"), call=CALL)


@pytest.mark.parametrize("value", ["-1", "NaN", "Infinity", "five", None, "", "1e30"])
def test_budget_that_is_no_amount_stops_the_start(settings: Settings, value: object) -> None:
    settings.DAILY_AI_BUDGET = value
    with pytest.raises(ImproperlyConfigured, match="DAILY_AI_BUDGET"):
        amounts.check()


def test_one_price_without_the_other_stops_the_start(settings: Settings) -> None:
    settings.LLM_INPUT_PRICE, settings.LLM_OUTPUT_PRICE = Decimal(1), None
    with pytest.raises(ImproperlyConfigured, match="LLM_OUTPUT_PRICE"):
        amounts.check()
