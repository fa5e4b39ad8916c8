"""Runs written by hand: what a worker would have left behind."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from apps.agents import operations
from apps.agents.models import Run, Step, Thread
from apps.core import clock
from apps.guilds.models import Member

COLUMNS = [
    {"name": "item", "label": "Item", "kind": "text"},
    {"name": "price", "label": "Price", "kind": "money"},
    {"name": "listed", "label": "Listed", "kind": "date"},
    {"name": "age", "label": "Idle", "kind": "days"},
]
ROWS = [
    {
        "ref": "stock:1", "item": "Marrow & Pine — Weathervane", "price": "6.50",
        "listed": "2025-02-03", "age": 647,
    },
    {"ref": "stock:2", "item": "=HYPERLINK(1)", "price": "10.00", "listed": None, "age": 90},
    {"ref": "stock:3", "item": "Halden Row", "price": "3.00", "listed": "2025-02-19", "age": 631},
]  # fmt: skip


def result(**changes: Any) -> dict[str, Any]:
    """A stored table as ``core.tools`` writes it."""
    return {
        "kind": "table",
        "title": "Under $10, not sold in 90 days",
        "columns": COLUMNS,
        "rows": ROWS,
        "total_rows": 47,
        "totals": {"rows": 47, "copies": 51, "sum": "256.39", "least": "3.00", "greatest": "10.00"},
        "notes": ["Age counts from the listing, or from the last sale of that release."],
        "cut": ["3 of 47 rows are shown"],
        "currency": "USD",
        "as_of": "2026-11-12T10:42:00+00:00",
        "link": "/stock/?price_max=10&not_sold_days=90",
    } | changes


def thread_of(member: Member, title: str = "Slow stock") -> Thread:
    return operations.start_thread(member, title)


def live_run(member: Member, thread: Thread | None = None, question: str = "slow stock?") -> Run:
    """A queued run that no worker was woken for."""
    return operations.ask(thread or thread_of(member), question, actor=member, wake=False)


def finished_run(
    member: Member,
    thread: Thread | None = None,
    *,
    answer: str = "47 items ask $256.39. [stock:1]",
    table: dict[str, Any] | None = None,
) -> Run:
    """A run that answered with one table."""
    run = live_run(member, thread)
    now = clock.now()
    common: dict[str, Any] = {"run": run, "guild_id": run.guild_id, "started_at": now}
    call = {"id": "c1", "name": "stock_search", "arguments": "{}"}
    Step.objects.create(index=0, turn=1, kind="model", status="succeeded", calls=[call], **common)
    Step.objects.create(
        index=1, turn=1, kind="tool", status="succeeded", tool="stock_search", call_id="c1",
        arguments={"price_max": "10", "not_sold_days": 90, "sort": "listed"}, ms=12,
        result=table or result(), rows=47, **common,
    )  # fmt: skip
    Step.objects.create(index=2, turn=2, kind="model", status="succeeded", text=answer, **common)
    Run.objects.filter(pk=run.pk).update(
        status="succeeded", termination_reason="completed", answer=answer, turns=2,
        model="house model (no key)", provider="house",
        started_at=now, finished_at=now + timedelta(seconds=2.1),
    )  # fmt: skip
    run.refresh_from_db()
    return run


def ended_run(member: Member, status: str, reason: str, words: str = "") -> Run:
    """A run that ended without an answer."""
    run = live_run(member)
    Run.objects.filter(pk=run.pk).update(
        status=status, termination_reason=reason, error_message=words, finished_at=clock.now()
    )
    run.refresh_from_db()
    return run


def tool_step(run: Run) -> Step:
    return run.steps.get(kind="tool")
