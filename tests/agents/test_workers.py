"""Killed and stopped workers: real processes, real signals."""

from __future__ import annotations

import signal
import time

import pytest

from apps.agents import operations, tasks
from apps.agents.models import Run
from apps.guilds.models import Member
from apps.usage.models import UsageEvent
from evals.model_server import ModelServer

from .conftest import queue
from .workers import kill, until, worker

pytestmark = [
    pytest.mark.usefixtures("own_db"),
    pytest.mark.processes,
    pytest.mark.timeout(400),
]


def row(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def start_slow_answer(member: Member) -> Run:
    """A queued run whose answer takes four seconds once its tool has run."""
    run = queue(member, "tell me slowly")
    tasks.wake(run)
    return run


def test_a_killed_worker_is_taken_over_within_thirty_seconds_and_nothing_is_twice(
    scripted: ModelServer, member: Member
) -> None:
    with worker(name="one") as first:
        run = start_slow_answer(member)
        until(lambda: run.steps.count() >= 2, seconds=60, what="the tool step")
        time.sleep(0.3)
        kill(first)
    assert row(run).status == "running"
    killed = time.monotonic()
    with worker(name="two"):
        ready = time.monotonic()
        until(lambda: row(run).attempt == 2, seconds=60, what="the take-over")
        assert time.monotonic() - max(killed, ready) < 30
        until(lambda: row(run).status == "succeeded", seconds=60, what="the answer")
    assert row(run).answer.endswith("which is done.")
    assert [s.kind for s in run.steps.order_by("index")] == ["model", "tool", "model"]
    events = UsageEvent.objects.filter(run_id=run.pk)
    assert events.filter(status="succeeded").count() == 2


def test_a_stopped_worker_hands_its_run_back(scripted: ModelServer, member: Member) -> None:
    with worker(name="one") as first:
        run = start_slow_answer(member)
        until(lambda: run.steps.count() >= 2, seconds=60, what="the tool step")
        time.sleep(0.3)
        first.send_signal(signal.SIGTERM)
        first.wait(60)
    assert row(run).status == "running"
    with worker(name="two"):
        until(lambda: row(run).status == "succeeded", seconds=60, what="the hand-over")
    assert row(run).answer.endswith("which is done.")


def test_a_run_whose_wake_up_was_lost_is_swept_up(scripted: ModelServer, member: Member) -> None:
    run = queue(member, "hello")
    with worker():
        until(lambda: row(run).status == "succeeded", seconds=60, what="the sweep")


def test_stop_reaches_another_process_within_a_second(
    scripted: ModelServer, member: Member
) -> None:
    with worker():
        run = queue(member, "silent provider")
        tasks.wake(run)
        scripted.wait_for(1, 60)
        time.sleep(0.3)
        operations.cancel(run, actor=member)
        took = until(lambda: row(run).status == "canceled", seconds=10, what="the stop")
    assert took < 1.0
    scripted.wait_until_closed(scripted.requests[0])
