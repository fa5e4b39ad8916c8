"""What models cost: today against the cap, the last week, and by model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.core import clock
from apps.guilds.acting import guild_of
from apps.guilds.policy import requires

from . import budget
from .models import UsageEvent

DAYS = 7
CHART_HEIGHT = 140


@dataclass(frozen=True)
class Bar:
    """A day of the chart: its share of the highest day, as SVG attributes."""

    day: date
    cost: Decimal
    calls: int
    x: float
    y: float
    height: float


@require_safe
@requires("usage.read")
def today(request: HttpRequest) -> HttpResponse:
    """Today's spend against the cap, seven days, and what each model cost in them."""
    guild = guild_of(request)
    last = clock.business_day(guild)
    events = UsageEvent.objects.filter(guild=guild, day__gt=last - timedelta(days=DAYS))
    spend = budget.today(guild)
    context = {
        "heading": "Usage",
        "today": spend,
        "share": round(spend.spent / spend.cap * 100) if spend.cap else None,
        "low": Decimal(spend.cap) * Decimal("0.8"),
        "bars": _bars(events, last),
        "chart_height": CHART_HEIGHT,
        "models": _models(events),
        "total": _totals(events),
    }
    return render(request, "usage/today.html", context)


def _bars(events: Any, last: date) -> list[Bar]:
    """Seven days, the oldest first; days without a call have no height."""
    found = {row["day"]: row for row in events.values("day").annotate(c=Sum("cost"), n=Count("pk"))}
    days = [last - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    costs = [Decimal(found.get(day, {}).get("c") or 0) for day in days]
    highest = max(costs) or Decimal(1)
    bars = []
    for index, (day, cost) in enumerate(zip(days, costs, strict=True)):
        height = float(cost / highest) * (CHART_HEIGHT - 8)
        x = round(index * 100 / DAYS + 4, 2)
        calls = found.get(day, {}).get("n", 0)
        bars.append(Bar(day, cost, calls, x, round(CHART_HEIGHT - height, 1), round(height, 1)))
    return bars


_SUMS = {
    "calls": Count("pk"),
    "failed": Count("pk", filter=Q(status="failed")),
    "input": Sum("input_tokens"),
    "cached": Sum("cached_tokens"),
    "output": Sum("output_tokens"),
    "spent": Sum("cost"),
}


def _models(events: Any) -> Any:
    return events.values("provider", "model", "purpose").annotate(**_SUMS).order_by("-spent")


def _totals(events: Any) -> dict[str, Any]:
    totals: dict[str, Any] = events.aggregate(**_SUMS)
    return totals
