"""Writing down what a call used, whatever became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from apps.core import clock
from apps.guilds.models import Guild
from apps.providers.types import Usage

from . import budget, ratios
from .models import Reservation, UsageEvent


@dataclass(frozen=True)
class Outcome:
    """How a call ended. ``cost`` is USD, ``error_class`` empty unless it failed."""

    status: UsageEvent.Status
    usage: Usage
    cost: Decimal
    started_at: datetime
    finished_at: datetime
    error_class: str = ""


@transaction.atomic
def close(
    guild: Guild, call: budget.Call, outcome: Outcome, *, reservation: Reservation | None
) -> UsageEvent:
    """Record a call and settle its reservation, together or not at all.

    The event takes the reservation's id and day, so a call is recorded once: one that was
    given up for lost is overwritten by what really happened.
    """
    day = reservation.budget.day if reservation else clock.business_day(guild, outcome.started_at)
    values = _values(guild, call, outcome) | {"day": day}
    if reservation is None:
        return UsageEvent.objects.create(**values)
    event, _ = UsageEvent.objects.update_or_create(pk=reservation.pk, defaults=values)
    ratios.learn(
        guild,
        provider=call.provider,
        model=call.model,
        input_bytes=call.input_bytes,
        usage=outcome.usage,
    )
    budget.settle(reservation, outcome.cost)
    return event


def _values(guild: Guild, call: budget.Call, outcome: Outcome) -> dict[str, object]:
    usage = outcome.usage
    return {
        "guild": guild,
        "run_id": call.run_id,
        "step_id": call.step_id,
        "attempt": call.attempt,
        "provider": call.provider[:100],
        "model": call.model[:200],
        "purpose": call.purpose[:40],
        "owner": call.owner[:40],
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost": outcome.cost,
        "status": outcome.status,
        "estimated": usage.estimated,
        "error_class": outcome.error_class[:100],
        "started_at": outcome.started_at,
        "finished_at": outcome.finished_at,
    }
