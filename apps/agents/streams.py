"""The live stream of a run: one Redis stream, with ids that fence off dead workers.

An entry of turn ``t`` and attempt ``a`` has the id ``t·1000+a-n`` (text) or
``t·1000+500+a-n`` (a step was stored). The server refuses an id that is not the greatest, so
a dead attempt's late text never gets in. The rows are the truth: a lost stream loses nothing.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections

from .errors import LeaseLost
from .models import Run, Step

log = logging.getLogger("gatehouse.streams")
LIFETIME = 3600
STEP_OFFSET = 500
_ID = re.compile(r"^\d{1,15}-\d{1,15}$")
_END = "9000000-1"


@dataclass(frozen=True)
class Event:
    """``delta`` carries text to append; ``clear`` drops it; ``step`` and ``done`` carry none."""

    id: str
    kind: str
    text: str = ""


def key(run_id: UUID | str) -> str:
    return f"gatehouse:run:{run_id}"


def is_event_id(text: str) -> bool:
    """Whether the text could be an id that this module gave out."""
    return bool(_ID.match(text))


class Publisher:
    """Writes one attempt's entries. A server that is away is told once and then ignored."""

    def __init__(self, run: Run) -> None:
        self._key = key(run.pk)
        self._attempt = min(run.attempt, STEP_OFFSET - 1)
        self._counts: dict[int, int] = {}
        self._away = False

    def _next(self, major: int) -> str:
        self._counts[major] = self._counts.get(major, 0) + 1
        return f"{major}-{self._counts[major]}"

    async def delta(self, client: redis.asyncio.Redis, turn: int, text: str) -> None:
        """Append text of a turn; :class:`LeaseLost` when a later attempt is writing."""
        entry = self._next(turn * 1000 + self._attempt)
        try:
            await client.xadd(self._key, {"k": "delta", "t": text}, id=entry)
            await client.expire(self._key, LIFETIME)
        except redis.ResponseError:
            raise LeaseLost from None
        except (redis.RedisError, OSError) as error:
            self._tell(error)

    def step(self, turn: int) -> None:
        self._add("step", self._next(turn * 1000 + STEP_OFFSET + self._attempt))

    def done(self) -> None:
        self._add("done", _END)

    def _add(self, kind: str, entry: str) -> None:
        try:
            client = _client()
            client.xadd(self._key, {"k": kind}, id=entry)
            client.expire(self._key, LIFETIME)
        except redis.ResponseError:
            log.info("entry %s of %s came late", entry, self._key)
        except (redis.RedisError, OSError) as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if not self._away:
            log.warning("live stream is away: %s", type(error).__name__)
        self._away = True


_sync: redis.Redis | None = None


def _client() -> redis.Redis:
    global _sync
    if _sync is None:
        _sync = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
    return _sync


def async_client(*, blocking: bool = False) -> redis.asyncio.Redis:
    """A client of the running event loop; a blocking one waits without a socket timeout."""
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=None if blocking else 2,
        socket_connect_timeout=2,
    )


def resume_after(run: Run) -> str:
    """Where a page that has just rendered the stored steps must go on reading."""
    turns = run.steps.filter(kind=Step.Kind.MODEL).order_by("-turn")
    last = turns.values_list("turn", flat=True).first()
    return f"{(last or 0) * 1000 + STEP_OFFSET}-0"


async def follow(run_id: UUID, after: str) -> AsyncIterator[Event | None]:
    """Entries after an id, then ``done``; None at least every two seconds of silence.

    A stream that is missing or away never hangs a page: the row tells when the run is over.
    """
    last = after if is_event_id(after) else "0-0"
    turn_attempt = _majors(last)
    client = async_client(blocking=True)
    try:
        while True:
            entries = await _read(client, key(run_id), last)
            for entry, fields in entries:
                last = entry
                kind = fields.get("k", "")
                previous, turn_attempt = turn_attempt, _majors(entry)
                if kind == "delta" and _replaces(previous, turn_attempt):
                    yield Event(entry, "clear")
                yield Event(entry, kind, fields.get("t", ""))
                if kind == "done":
                    return
            if not entries:
                yield None
                if not await _is_live(run_id):
                    yield Event(last, "done")
                    return
    finally:
        await client.aclose()


def _majors(entry: str) -> tuple[int, int]:
    major = int(entry.split("-")[0])
    return major // 1000, major % 1000


def _replaces(previous: tuple[int, int], current: tuple[int, int]) -> bool:
    """Whether text starts anew: another turn, or another attempt at the same one."""
    return current != previous


async def _read(
    client: redis.asyncio.Redis, name: str, last: str
) -> list[tuple[str, dict[str, str]]]:
    try:
        answer = await client.xread({name: last}, count=200, block=2000)
    except (redis.RedisError, OSError):
        await asyncio.sleep(1)
        return []
    if not answer:
        return []
    return [
        (entry.decode(), {k.decode(): v.decode() for k, v in fields.items()})
        for entry, fields in answer[0][1]
    ]


@sync_to_async(thread_sensitive=False)
def _is_live(run_id: UUID) -> bool:
    try:
        return bool(Run.objects.live().filter(pk=run_id).exists())
    finally:
        connections.close_all()
