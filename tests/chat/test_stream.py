"""The stream of a run over HTTP: what is sent, from where it goes on, and to whom."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connections
from django.test import AsyncClient

from apps.agents import streams
from apps.agents.models import Run
from apps.chat import stream as views
from apps.guilds.models import Member, User

from .rows import live_run

pytestmark = pytest.mark.usefixtures("own_db")


def put(run: Run, *entries: tuple[str, str, str]) -> None:
    """Entries as a worker writes them: id, kind, text."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for entry, kind, text in entries:
            client.xadd(streams.key(run.pk), {"k": kind, "t": text}, id=entry)


def read(user: User, run: Run, query: str = "", **headers: str) -> tuple[Any, str]:
    """The whole stream as a browser gets it."""
    client = AsyncClient()
    client.force_login(user)

    async def get() -> tuple[Any, str]:
        response: Any = await client.get(f"/runs/{run.pk}/stream/{query}", headers=headers)
        if not response.streaming:
            return response, ""
        return response, "".join([part.decode() async for part in response])

    return async_to_sync(get)()


@pytest.fixture
def run(own_db: str, member: Member) -> Run:
    return live_run(member)


def test_text_is_escaped_and_every_line_is_kept(ada: User, run: Run):
    put(
        run,
        ("1001-1", "delta", "a <b>\n\nc\r\nd"),
        ("1001-2", "delta", " e"),
        ("9000000-1", "done", ""),
    )
    response, body = read(ada, run)
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-store"
    assert body.startswith("retry: 1000\n\n")
    assert "id: 1001-1\nevent: delta\ndata: a &lt;b&gt;\ndata: \ndata: c\ndata: d\n\n" in body
    assert "id: 1001-2\nevent: delta\ndata:  e\n\n" in body
    assert body.endswith("id: 9000000-1\nevent: done\ndata: done\n\n")


@pytest.mark.parametrize("how", ["header", "query"])
def test_a_page_goes_on_after_the_last_event(ada: User, run: Run, how: str):
    put(run, ("1001-1", "delta", "one"), ("1001-2", "delta", "two"), ("9000000-1", "done", ""))
    after = {"Last-Event-ID": "1001-1"} if how == "header" else {}
    body = read(ada, run, "?after=1001-1" if how == "query" else "", **after)[1]
    assert "data: one" not in body
    assert "data: two" in body
    assert "event: clear" not in body


def test_a_higher_attempt_clears_what_the_dead_one_wrote(ada: User, run: Run):
    put(run, ("1001-1", "delta", "dead"), ("1002-1", "delta", "alive"), ("9000000-1", "done", ""))
    body = read(ada, run)[1]
    assert body.index("data: dead") < body.rindex("event: clear") < body.index("data: alive")


def test_rubbish_as_an_id_starts_from_the_beginning(ada: User, run: Run):
    put(run, ("1001-1", "delta", "one"), ("9000000-1", "done", ""))
    assert "data: one" in read(ada, run, "?after=;DROP")[1]


def test_a_run_that_ended_without_a_stream_is_done_at_once(ada: User, run: Run):
    Run.objects.filter(pk=run.pk).update(status="failed")
    assert "event: done" in read(ada, run)[1]


def test_strangers_and_the_signed_out_get_no_stream(run: Run, stranger: User, clerk: User):
    assert read(stranger, run)[0].status_code == 404
    assert read(clerk, run)[0].status_code == 403

    async def signed_out() -> int:
        return (await AsyncClient().get(f"/runs/{run.pk}/stream/")).status_code

    assert async_to_sync(signed_out)() == 403


@pytest.mark.parametrize("withdrawn", ["member", "session"])
def test_rights_are_looked_at_again_while_a_stream_is_open(
    ada: User, member: Member, run: Run, monkeypatch: pytest.MonkeyPatch, withdrawn: str
):
    monkeypatch.setattr(views, "RECHECK_SECONDS", 0.0)
    put(run, ("1001-1", "delta", "one"))
    client = AsyncClient()
    client.force_login(ada)

    async def watch() -> list[str]:
        response: Any = await client.get(f"/runs/{run.pk}/stream/")
        parts = []
        async for part in response:
            parts.append(part.decode())
            if "data: one" in parts[-1]:
                await asyncio.to_thread(withdraw)
        return parts

    def withdraw() -> None:
        if withdrawn == "member":
            Member.objects.filter(pk=member.pk).update(is_active=False)
        else:
            client.session.flush()
        connections.close_all()

    parts = async_to_sync(watch)()
    assert "event: denied" in parts[-1]
    assert Run.objects.get().is_live


def test_an_open_stream_holds_no_connection(ada: User, run: Run):
    client = AsyncClient()
    client.force_login(ada)
    connections.close_all()

    async def held() -> int:
        response: Any = await client.get(f"/runs/{run.pk}/stream/")
        parts = response.streaming_content
        await anext(parts)
        count = await asyncio.to_thread(_sessions)
        await parts.aclose()
        return count

    assert async_to_sync(held)() == 0


def _sessions() -> int:
    """Connections of the app's login to this database, besides the one that asks."""
    import psycopg

    name = connections.settings["default"]["NAME"]
    with psycopg.connect(settings.SUPERUSER_DATABASE_URL, dbname="postgres") as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s", [name]
        ).fetchone()
    return int(found[0]) if found else 0
