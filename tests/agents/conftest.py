"""A scripted model on loopback, and a run executed as a worker would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.agents import loop, operations
from apps.agents.models import Run
from apps.guilds.models import Guild, Member
from evals.model_server import ModelServer
from tests.conftest import allow_the_operators_key

GOLDEN = Path(__file__).resolve().parents[2] / "evals" / "scripts" / "golden.yaml"
Execute = Callable[..., Run]


@pytest.fixture
def guild(own_db: str) -> Guild:
    """Every suite of this room needs committed rows, so its guild stands in its own database."""
    guild = Guild.objects.create(name="Lantern Street Records", time_zone="Europe/Lisbon")
    return allow_the_operators_key(guild)


@pytest.fixture
def scripted(settings: Any) -> Iterator[ModelServer]:
    """The golden script as the configured model, priced so that costs are known."""
    with ModelServer(GOLDEN) as server:
        settings.LLM_BASE_URL = f"{server.base_url}"
        settings.LLM_API_KEY = "sk-scripted-canary-0123456789"
        settings.LLM_MODEL = "scripted-model"
        settings.LLM_INPUT_PRICE = settings.LLM_OUTPUT_PRICE = 1
        settings.LLM_TIMEOUT = 5.0
        yield server


@pytest.fixture
def execute(own_db: str, member: Member) -> Execute:
    """Ask a question and execute the run in this thread."""

    def run_question(question: str, **options: Any) -> Run:
        run = queue(member, question, **options)
        claimed = Run.objects.claim(run.pk)
        assert claimed is not None
        loop.execute(claimed)
        run.refresh_from_db()
        return run

    return run_question


def queue(member: Member, question: str, **options: Any) -> Run:
    thread = options.pop("thread", None) or operations.start_thread(member, question)
    return operations.ask(thread, question, actor=member, wake=False, **options)


def in_thread(run: Run) -> threading.Thread:
    """Execute a queued run as another worker would: in a thread of its own."""
    from django.db import connections

    def work() -> None:
        try:
            claimed = Run.objects.claim(run.pk)
            assert claimed is not None
            loop.execute(claimed)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    return thread
