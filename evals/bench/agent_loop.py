"""A run of two turns through the loop, against the bare SDK streaming the same two turns.

Both talk to the scripted server in its own process, which takes its time as a provider does.
CPU is this process's alone: the database, Valkey and the model server work in others. The loop
also runs the tool, commits each step, keeps the ledger and feeds the live stream; the SDK does
none of that, so the ratio is what all of it costs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import openai
from django.conf import settings
from django.db import connections

from apps.agents import context, loop, operations
from apps.agents.models import Run
from apps.guilds.models import Member
from apps.providers.clients import openai_wire
from evals.bench import rows
from evals.bench.report import Measured, median

QUESTION = "Which drum and bass twelves under $10 have not sold in 90 days?"
AT_ONCE = (1, 20)
ITEMS = 4_000
TURNS = 2
SDK = "bare openai SDK, the same two turns"


class NotTheSame(RuntimeError):
    """A run did not go its two turns, so its time says nothing."""


@dataclass(frozen=True)
class Took:
    """Seconds of CPU and of the clock, a run."""

    cpu: float
    wall: float


def measure(*, runs: int) -> list[Measured]:
    """CPU and clock a run at each concurrency; with more at once, five times the runs."""
    member = rows.demo_shop("Shop of the loop", ITEMS)
    turns = _turns_of(_warm_up(member))
    _sdk_runs(turns, 2, 2)
    found: list[Measured] = []
    for at_once in AT_ONCE:
        count = runs if at_once == 1 else runs * 5
        theirs = _counted(partial(_sdk_runs, turns, count, at_once))
        queued = [_queue(member) for _ in range(count)]
        ours = _counted(partial(_by_loop, queued, at_once))
        _check(queued)
        found += _rows(at_once, count, ours, theirs)
    return found


def _rows(at_once: int, count: int, ours: Took, theirs: Took) -> list[Measured]:
    case = f"{count} runs, {at_once} at once"
    added = (ours.wall - theirs.wall) * 1000
    return [
        Measured("agent loop, CPU a run", case, ours.cpu * 1000, "ms", SDK, theirs.cpu * 1000),
        Measured(
            "agent loop, clock a run", f"{case}, median", ours.wall * 1000, "ms", SDK,
            theirs.wall * 1000, f"{added:+.0f} ms",
        ),
    ]  # fmt: skip


def _counted(work: Callable[[], list[float]]) -> Took:
    """CPU of this process over all runs, and the median of their times."""
    before = time.process_time()
    times = work()
    return Took((time.process_time() - before) / len(times), median(times))


def _queue(member: Member) -> Run:
    thread = operations.start_thread(member, QUESTION)
    return operations.ask(thread, QUESTION, actor=member, wake=False)


def _warm_up(member: Member) -> Run:
    """One run, so that nothing is imported or first connected inside a measurement."""
    run = _queue(member)
    _execute(run)
    _check([run])
    return run


def _by_loop(queued: list[Run], at_once: int) -> list[float]:
    """Threads of one process, as a worker has them."""
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(_execute, queued))


def _execute(run: Run) -> float:
    started = time.perf_counter()
    try:
        claimed = Run.objects.claim(run.pk)
        if claimed is not None:
            loop.execute(claimed)
    finally:
        connections.close_all()
    return time.perf_counter() - started


def _check(queued: list[Run]) -> None:
    for run in Run.objects.filter(pk__in=[run.pk for run in queued]):
        if (run.status, run.turns) != (Run.Status.SUCCEEDED, TURNS):
            raise NotTheSame(f"A run ended {run.status}, {run.turns} turns: {run.error_message}")


def _turns_of(run: Run) -> list[dict[str, Any]]:
    """The bodies that the run sent, turn by turn."""
    whole = replace(context.request_for(run), model=settings.LLM_MODEL)
    last = next(at for at, one in enumerate(whole.messages) if one.role == "user")
    requests = [replace(whole, messages=whole.messages[: last + 1]), whole]
    return [openai_wire.payload(request, provider="scripted") for request in requests]


def _sdk_runs(turns: list[dict[str, Any]], runs: int, at_once: int) -> list[float]:
    return asyncio.run(_by_sdk(turns, runs, at_once))


async def _by_sdk(turns: list[dict[str, Any]], runs: int, at_once: int) -> list[float]:
    gate = asyncio.Semaphore(at_once)
    async with openai.AsyncOpenAI(
        base_url=settings.LLM_BASE_URL, api_key=settings.LLM_API_KEY, max_retries=0
    ) as client:

        async def one() -> float:
            async with gate:
                started = time.perf_counter()
                for body in turns:
                    await _stream(client, body)
                return time.perf_counter() - started

        return list(await asyncio.gather(*(one() for _ in range(runs))))


async def _stream(client: openai.AsyncOpenAI, body: dict[str, Any]) -> str:
    """Read one turn to its end; its text."""
    parts: list[str] = []
    async for chunk in await client.chat.completions.create(**body):
        parts.extend(choice.delta.content or "" for choice in chunk.choices)
    return "".join(parts)
