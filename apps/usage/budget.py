"""A guild's day of spending: reserved before a call, settled after it.

The day's row is locked first and everything else is read in later statements: a check in
the locking statement itself would read the state from before the lock was granted, and let
every waiter through.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.db.models import F, Sum

from apps.core import clock, money
from apps.guilds.models import Guild

from . import amounts
from .errors import BudgetRefused
from .models import DayBudget, Reservation, UsageEvent

WORKER_LOST = "worker_lost"
RESERVED_FOR = timedelta(minutes=15)


@dataclass(frozen=True)
class Call:
    """What a reservation is for; tokens are the most that may be used.

    ``owner`` is whose key pays: ``guild:7``, ``user:3``, ``tenant``, or ``house``.
    ``input_bytes`` is the size that the input tokens were derived from, 0 where unknown.
    """

    provider: str = ""
    model: str = ""
    purpose: str = "chat"
    owner: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    input_bytes: int = 0
    run_id: UUID | None = None
    step_id: UUID | None = None
    attempt: int = 1


@dataclass(frozen=True)
class Spend:
    """A guild's day in USD. ``left`` is never negative; ``resets_at`` is aware."""

    spent: Decimal
    cap: Decimal
    reserved: Decimal
    left: Decimal
    resets_at: datetime


def today(guild: Guild) -> Spend:
    """What the guild's running day has cost, and what it still allows."""
    at = clock.now()
    budget = DayBudget.objects.filter(guild=guild, day=clock.business_day(guild, at)).first()
    return _spend(guild, budget, at)


def reserve(
    guild: Guild, worst_case: Decimal, *, call: Call | None = None, at: datetime | None = None
) -> Reservation:
    """Set a call's worst case aside, or :class:`BudgetRefused` in words."""
    at = at or clock.now()
    expire_stale(guild, at=at)
    with transaction.atomic():
        budget = _locked_day(guild, at)
        spend = _spend(guild, budget, at)
        if spend.cap == 0 or worst_case > spend.left:
            raise _refusal(guild, spend, worst_case)
        return _open(budget, worst_case, call or Call(), at)


@transaction.atomic
def settle(reservation: Reservation, cost: Decimal) -> None:
    """Charge what a call really cost and give the rest back.

    Charged once, however often it is settled: a later figure replaces the earlier one, also
    where the reservation had expired and was charged in full.
    """
    DayBudget.objects.select_for_update().get(pk=reservation.budget_id)
    charged = Reservation.objects.values_list("charged", flat=True).get(pk=reservation.pk)
    Reservation.objects.filter(pk=reservation.pk).update(charged=cost, settled_at=clock.now())
    _charge(reservation.budget_id, cost - charged)


def expire_stale(guild: Guild, *, at: datetime | None = None) -> int:
    """Charge reservations whose worker is gone, in full and marked; how many there were."""
    at = at or clock.now()
    stale = Reservation.objects.filter(guild=guild, settled_at__isnull=True, expires_at__lte=at)
    days = sorted(set(stale.values_list("budget_id", flat=True)))
    return sum(_expire_day(budget_id, at) for budget_id in days)


@transaction.atomic
def _expire_day(budget_id: int, at: datetime) -> int:
    budget = DayBudget.objects.select_for_update().get(pk=budget_id)
    stale = list(budget.reservations.filter(settled_at__isnull=True, expires_at__lte=at))
    UsageEvent.objects.bulk_create(_lost(stale, budget, at), ignore_conflicts=True)
    Reservation.objects.filter(pk__in=[one.pk for one in stale]).update(
        charged=F("amount"), settled_at=at
    )
    _charge(budget_id, sum((one.amount for one in stale), Decimal(0)))
    return len(stale)


def _lost(stale: Iterable[Reservation], budget: DayBudget, at: datetime) -> list[UsageEvent]:
    return [
        UsageEvent(
            id=one.pk,
            guild_id=one.guild_id,
            day=budget.day,
            run_id=one.run_id,
            step_id=one.step_id,
            attempt=one.attempt,
            provider=one.provider,
            model=one.model,
            purpose=one.purpose,
            input_tokens=one.input_tokens,
            output_tokens=one.output_tokens,
            cost=one.amount,
            status=UsageEvent.Status.FAILED,
            estimated=True,
            error_class=WORKER_LOST,
            started_at=one.created_at,
            finished_at=at,
        )
        for one in stale
    ]


def _locked_day(guild: Guild, at: datetime) -> DayBudget:
    day = clock.business_day(guild, at)
    rows = DayBudget.objects.select_for_update().filter(guild=guild, day=day)
    if found := rows.first():
        return found
    DayBudget.objects.bulk_create([DayBudget(guild=guild, day=day)], ignore_conflicts=True)
    return rows.get()


def _spend(guild: Guild, budget: DayBudget | None, at: datetime) -> Spend:
    cap = amounts.daily_cap()
    spent = reserved = Decimal(0)
    if budget is not None:
        spent = budget.spent
        open_now = budget.reservations.filter(settled_at__isnull=True)
        reserved = open_now.aggregate(sum=Sum("amount"))["sum"] or Decimal(0)
    left = max(cap - spent - reserved, Decimal(0))
    return Spend(spent, cap, reserved, left, clock.next_reset(guild, at))


def _open(budget: DayBudget, amount: Decimal, call: Call, at: datetime) -> Reservation:
    return Reservation.objects.create(
        guild_id=budget.guild_id,
        budget=budget,
        amount=amount,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        provider=call.provider[:100],
        model=call.model[:200],
        purpose=call.purpose[:40],
        run_id=call.run_id,
        step_id=call.step_id,
        attempt=call.attempt,
        created_at=at,
        expires_at=at + RESERVED_FOR,
    )


def _charge(budget_id: int, difference: Decimal) -> None:
    DayBudget.objects.filter(pk=budget_id).update(spent=F("spent") + difference)


def _refusal(guild: Guild, spend: Spend, needed: Decimal) -> BudgetRefused:
    if spend.cap == 0:
        words = "Models are closed: DAILY_AI_BUDGET is 0. Set it to an amount of USD to open them."
    else:
        local = spend.resets_at.astimezone(clock.zone(guild))
        words = (
            f"This could cost up to {money.format_cost(needed)}, and today's budget of "
            f"{money.format_cost(spend.cap)} has {money.format_cost(spend.left)} left"
            f"{_in_flight(spend)}. Ask after {local:%H:%M on %d %B} ({guild.time_zone}), "
            "or raise DAILY_AI_BUDGET."
        )
    return BudgetRefused(words, needed=needed, left=spend.left, resets_at=spend.resets_at)


def _in_flight(spend: Spend) -> str:
    if not spend.reserved:
        return ""
    return f" ({money.format_cost(spend.reserved)} is set aside for calls that run now)"
