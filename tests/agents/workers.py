"""Real worker processes for tests: Celery, in a process of its own that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import connections

from config.celery import app

ROOT = Path(__file__).resolve().parents[2]
ADDRESSES = {
    "DATABASE_URL": "default",
    "OWNER_DATABASE_URL": "owner",
    "READER_DATABASE_URL": "reader",
    "ANALYST_DATABASE_URL": "analyst",
}


def environment() -> dict[str, str]:
    """The environment of a process that works on this test's database and settings."""
    values = dict(os.environ)
    for name, alias in ADDRESSES.items():
        config = connections.settings[alias]
        secret = quote(config["PASSWORD"], safe="")
        values[name] = (
            f"postgresql://{config['USER']}:{secret}@{config['HOST']}:{config['PORT']}"
            f"/{config['NAME']}"
        )
    for name in ("LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL"):
        values[name] = str(getattr(settings, name))
    for name in ("LLM_INPUT_PRICE", "LLM_OUTPUT_PRICE"):
        if getattr(settings, name) is not None:
            values[name] = str(getattr(settings, name))
    return values | {"REDIS_URL": settings.REDIS_URL, "SECRET_KEY": settings.SECRET_KEY}


@contextmanager
def worker(queues: str = "agents", name: str = "one") -> Iterator[subprocess.Popen[Any]]:
    """A worker process that answers; it is killed at the end if it still lives."""
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker", "-Q", queues]
    command += ["-n", f"{name}@test", "-P", "threads", "-c", "4", "--loglevel", "WARNING"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(), start_new_session=True, stdin=subprocess.DEVNULL
    )
    try:
        until(lambda: _answers(f"{name}@test"), seconds=120, what="the worker's start")
        yield process
    finally:
        kill(process)


def _answers(name: str) -> bool:
    return bool(app.control.ping([name], timeout=0.5))


def kill(process: subprocess.Popen[Any]) -> None:
    """``kill -9`` of the worker and whatever it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


def until(condition: Callable[[], Any], *, seconds: float, what: str) -> float:
    """Wait until it holds; the seconds it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, f"{what} did not happen in {seconds} s"
        time.sleep(0.05)
    return time.monotonic() - start
