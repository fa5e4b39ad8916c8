"""A real browser on a real server with a real worker: uvicorn, Valkey, PostgreSQL, Celery.

Nothing here knows what is inside: tests press keys and read what is shown.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from django.conf import settings
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application
from django.db import connections
from playwright.sync_api import BrowserContext, Page

from apps.guilds.models import Guild, Member, User
from tests.conftest import allow_the_operators_key

ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PASSWORD = "correct horse battery"


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    path = os.environ.get("GATEHOUSE_CHROMIUM") or shutil.which("chromium")
    return {**browser_type_launch_args, "executable_path": path, "args": ARGS}


@pytest.fixture(scope="session", autouse=True)
def _async_unsafe() -> Iterator[None]:
    """Playwright's sync API runs a loop in this thread; the ORM would refuse to work beside it."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    yield
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def guild(own_db: str, guild: Guild) -> Guild:
    """The operator's key answers for it, as in a development installation."""
    return allow_the_operators_key(guild)


@pytest.fixture
def house(own_db: str) -> Iterator[str]:
    """The web process of a test: uvicorn in a thread, on a port of its own; its address."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        ASGIStaticFilesHandler(get_asgi_application()),
        lifespan="off",
        timeout_graceful_shutdown=1,
        log_level="warning",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([sock])), daemon=True)
    thread.start()
    _until(lambda: server.started, "the web server")
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        sock.close()


@pytest.fixture
def worker(own_db: str) -> Iterator[None]:
    """A Celery worker on the broker's own queues, in a thread of this process."""
    from celery.contrib.testing.worker import start_worker

    from config.celery import app

    app.loader.import_default_modules()
    options: dict[str, Any] = {"pool": "threads", "concurrency": 4, "perform_ping_check": False}
    with start_worker(app, queues=["agents", "ingest"], **options):
        yield
    connections.close_all()


def _until(done: Any, what: str, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not come up in {seconds} s")
        time.sleep(0.02)


class Faults:
    """What a page complained about: errors of scripts, refusals of the policy, failed requests."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.found.append(f"pageerror: {error}"))

    def _note(self, kind: str, words: str) -> None:
        refused_in_words = "status of 422" in words
        if kind in ("error", "warning") and not refused_in_words:
            self.found.append(f"{kind}: {words}")


@pytest.fixture
def faults(page: Page) -> Iterator[Faults]:
    """Fails the test when the page complained, about the content security policy above all."""
    faults = Faults(page)
    yield faults
    assert faults.found == []


@pytest.fixture
def signed_in(house: str, ada: User, member: Member, context: BrowserContext) -> str:
    """The address of the house, with Ada's session in the browser."""
    sign_in(context, house, ada)
    return house


def sign_in(context: BrowserContext, house: str, user: User) -> None:
    """Give the browser a session of that user, as the login view would."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    key = str(session.session_key)
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": house}])
