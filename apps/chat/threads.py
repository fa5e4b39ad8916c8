"""Threads as the list shows them: grouped by day, with their last run and what they cost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import DecimalField, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.agents.models import Run, Step, Thread
from apps.guilds.models import Member

SHOWN = 12


def with_state(threads: QuerySet[Thread]) -> QuerySet[Any]:
    """Threads with their last run's status and the cost of all their runs."""
    last = Run.objects.filter(thread=OuterRef("pk")).order_by("-created_at", "-number")
    costs = (
        Step.objects.filter(run__thread=OuterRef("pk"))
        .order_by()
        .values("run__thread")
        .annotate(sum=Sum("cost"))
        .values("sum")
    )
    money = DecimalField(max_digits=14, decimal_places=8)
    zero = Value(0, output_field=money)
    return threads.annotate(
        last_status=Subquery(last.values("status")[:1]),
        cost=Coalesce(Subquery(costs, output_field=money), zero),
    ).order_by("-updated_at", "-pk")


def sidebar(member: Member, current: Thread | None = None) -> dict[str, Any]:
    """The newest threads in groups of days, the current one always among them."""
    mine = Thread.objects.visible_to(member)
    newest = list(with_state(mine)[:SHOWN])
    if current and current.pk not in {thread.pk for thread in newest}:
        newest += list(with_state(mine.filter(pk=current.pk)))
    return {"groups": _by_day(newest), "thread_count": mine.count()}


def _by_day(threads: list[Any]) -> list[tuple[str, list[Any]]]:
    today = timezone.localdate()
    names = {today: "Today", today - timedelta(days=1): "Yesterday"}
    groups: dict[str, list[Any]] = {}
    for thread in threads:
        day = timezone.localtime(thread.updated_at).date()
        groups.setdefault(names.get(day, "Earlier"), []).append(thread)
    return list(groups.items())
