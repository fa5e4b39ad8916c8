"""The stream of one live run, as server-sent events.

Holds no database connection while it waits. What it sends is text and signals; everything
final is rendered from rows by the fragments that the page then fetches.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.db import connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.html import escape

from apps.agents import streams
from apps.agents.models import Run
from apps.guilds.acting import acting_or_none
from apps.guilds.models import Member
from apps.guilds.policy import decide

RECHECK_SECONDS = 60.0
RETRY_MS = 1000


async def stream(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Events of a run of one's own, after ``Last-Event-ID`` or ``?after=``.

    403 for whoever may not ask, 404 for other people's runs.
    """
    member = acting_or_none(request)
    status = await sync_to_async(_door)(member, run_id)
    session_key = request.session.session_key or ""
    await sync_to_async(connections.close_all)()
    if member is None or status != 200:
        return HttpResponse(status=status)
    after = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    response = StreamingHttpResponse(
        _frames(run_id, after, member.pk, session_key), content_type="text/event-stream"
    )
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def _door(member: Member | None, run_id: UUID) -> int:
    if member is None or not decide(member, "agent.ask"):
        return 403
    return 200 if Run.objects.visible_to(member).filter(pk=run_id).exists() else 404


async def _frames(run_id: UUID, after: str, member_id: int, session_key: str) -> AsyncIterator[str]:
    yield f"retry: {RETRY_MS}\n\n"
    checked = time.monotonic()
    async for event in streams.follow(run_id, after):
        if time.monotonic() - checked > RECHECK_SECONDS:
            if not await _still_allowed(run_id, member_id, session_key):
                yield frame("", "denied", "Rights were withdrawn.")
                return
            checked = time.monotonic()
        if event is None:
            yield ": still here\n\n"
        elif event.kind != "delta":
            yield frame(event.id, event.kind, event.kind)
        elif event.text:
            yield frame(event.id, "delta", escape(event.text))


def frame(event_id: str, event: str, data: str) -> str:
    """One event. Every line of the data gets its own field, whatever ends it."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {event}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"


@sync_to_async(thread_sensitive=False)
def _still_allowed(run_id: UUID, member_id: int, session_key: str) -> bool:
    """Whether the session still stands and its member may still see the run."""
    try:
        member = Member.objects.filter(pk=member_id, is_active=True).first()
        if member is None or _user_of(session_key) != member.user_id:
            return False
        visible = Run.objects.visible_to(member).filter(pk=run_id).exists()
        return bool(visible and decide(member, "agent.ask"))
    finally:
        connections.close_all()


def _user_of(session_key: str) -> int | None:
    store = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    request: Any = SimpleNamespace(session=store)
    user_id: int | None = get_user(request).pk
    return user_id
