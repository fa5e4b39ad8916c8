"""Waking a worker: a broker that is away or hangs costs seconds, never the row."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery
from django.conf import settings

from apps.jobs import waking


@pytest.fixture
def hanging() -> Iterator[int]:
    """A port that accepts and never answers, as a stopped server does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def task_at(port: int) -> Any:
    app = Celery("away", broker=f"redis://127.0.0.1:{port}/0", set_as_current=False)
    app.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS

    @app.task
    def work(row_id: str) -> None:
        """Never runs."""

    return work


def test_a_broker_that_refuses_is_told_at_once() -> None:
    start = time.monotonic()
    assert waking.wake(task_at(9), "row") is False
    assert time.monotonic() - start < 5


def test_a_broker_that_hangs_is_given_up(hanging: int) -> None:
    start = time.monotonic()
    assert waking.wake(task_at(hanging), "row") is False
    assert time.monotonic() - start < 20


def test_a_sweep_stops_at_the_first_message_that_fails(hanging: int) -> None:
    from uuid import uuid4

    start = time.monotonic()
    assert waking.wake_all(task_at(hanging), [uuid4() for _ in range(20)]) == 0
    assert time.monotonic() - start < 20
