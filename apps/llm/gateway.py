"""The one door to models: reserve, call, price, record, settle, in that order.

It stays in order when a call fails or is canceled: whatever was used is charged once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import cast
from uuid import UUID

from django.db import DatabaseError

from apps.core import clock
from apps.guilds.models import Guild
from apps.providers import resolver
from apps.providers.clients.assembly import estimate
from apps.providers.clients.openai_wire import body_bytes
from apps.providers.errors import ProviderError
from apps.providers.models import Purpose
from apps.providers.refusals import NotUsable, ProvidersError
from apps.providers.registry import client_for, close_clients
from apps.providers.registry import current_profile as environment_profile
from apps.providers.resolver import Resolved
from apps.providers.types import (
    ChatClient,
    ChatRequest,
    Completion,
    Delta,
    Profile,
    TextDelta,
    Usage,
)
from apps.usage import budget, prices, ratios, recording
from apps.usage.models import Reservation, UsageEvent

from . import rows
from .deltas import Coalescer, OnDelta

__all__ = ["OnDelta", "close_connections", "current_profile", "stream", "warm_up"]

log = logging.getLogger("gatehouse.llm")
_NOTHING = Usage(0, 0)
_QUEUED = 64
_Queued = Delta | Completion | Exception


async def stream(
    request: ChatRequest,
    *,
    guild: Guild,
    purpose: str = "chat",
    run_id: UUID | None = None,
    step_id: UUID | None = None,
    attempt: int = 1,
    on_delta: OnDelta | None = None,
) -> Completion:
    """Ask the guild's model; deltas go to ``on_delta``, joined, while they come.

    The completion's usage carries its cost in USD. Raises BudgetRefused or UnpricedModel
    before anything is sent, ProviderError when the model fails. A cancel, or an error of
    ``on_delta``, closes the response at once and charges an estimate of what was used.
    """
    profile, client = await rows.finish(partial(_reach, guild, purpose))
    request = request if request.model else replace(request, model=profile.model)
    meter = _Meter(profile, request, body_bytes(request))
    call = budget.Call(
        provider=profile.provider,
        model=request.model,
        purpose=purpose,
        owner=profile.owner,
        output_tokens=request.max_output_tokens,
        input_bytes=meter.input_bytes,
        run_id=run_id,
        step_id=step_id,
        attempt=attempt,
    )
    reservation = await _reserve(guild, call, profile)
    ledger = _Ledger(guild, call, profile, reservation, clock.now())
    return await _charged_call(client, request, meter, ledger, on_delta)


def current_profile(guild: Guild, purpose: str = "chat") -> Profile:
    """The model that serves a guild's purpose, for people and pages; never raises for a key.

    What cannot be used has no model and a label that says why; a call of it is refused.
    """
    try:
        found = resolver.resolve(guild, purpose)
    except ProvidersError:
        return Profile("", "", "no usable model (see Providers)", is_house=False)
    return Profile(found.provider, found.model, found.label, is_house=found.is_house)


def _reach(guild: Guild, purpose: str) -> tuple[Resolved, ChatClient]:
    """Whom a call goes to, and the client that opens the key; refusals in a provider's words.

    On a thread of its own: it reads rows, and the first call of a process imports an SDK.
    """
    try:
        found = resolver.resolve(guild, _profile_purpose(purpose))
        return found, client_for(found)
    except NotUsable as error:
        raise ProviderError("auth_failed", str(error), retryable=False) from None
    except ProvidersError as error:
        raise ProviderError("unreachable", str(error), retryable=False) from None


def _profile_purpose(purpose: str) -> str:
    """Titles, summaries and the like are recorded by their own name and use the chat model."""
    return purpose if purpose in Purpose.values else Purpose.CHAT


def warm_up() -> None:
    """Load what the first call would load, for a worker that has time now; never fails."""
    profile = environment_profile()
    if not profile.is_house and profile.model:
        with suppress(ProviderError):
            client_for(profile)
            prices.worst_case(
                profile.provider, profile.model, input_tokens=1, output_tokens=1, at=clock.now()
            )


async def close_connections() -> None:
    """Close the running loop's connections to providers, before the loop itself ends."""
    await close_clients()


async def _charged_call(
    client: ChatClient,
    request: ChatRequest,
    meter: _Meter,
    ledger: _Ledger,
    on_delta: OnDelta | None,
) -> Completion:
    try:
        completion = await _pump(client, request, meter, on_delta)
    except asyncio.CancelledError:
        await ledger.close(UsageEvent.Status.CANCELED, meter.estimate(), error_class="canceled")
        raise
    except ProviderError as error:
        used = error.usage or (meter.estimate() if error.code == "timeout" else _NOTHING)
        await ledger.close(UsageEvent.Status.FAILED, used, error_class=error.code)
        raise
    except Exception as error:
        name = type(error).__name__
        await ledger.close(UsageEvent.Status.FAILED, meter.estimate(), error_class=name)
        raise
    used = completion.usage or meter.estimate()
    cost = await ledger.close(UsageEvent.Status.SUCCEEDED, used)
    return replace(completion, usage=replace(used, cost=cost))


@dataclass
class _Meter:
    """Counts what passes, for the worst case before a call and an estimate after a cut."""

    profile: Resolved
    request: ChatRequest
    input_bytes: int
    output_bytes: int = 0

    def count(self, delta: Delta) -> None:
        if isinstance(delta, TextDelta):
            self.output_bytes += len(delta.text.encode())
        else:
            self.output_bytes += delta.characters

    def estimate(self) -> Usage:
        if self.profile.is_house:
            return _NOTHING
        return estimate(self.input_bytes, self.output_bytes)


@dataclass(frozen=True)
class _Ledger:
    """Where one call is written down, once."""

    guild: Guild
    call: budget.Call
    profile: Resolved
    reservation: Reservation | None
    started_at: datetime

    async def close(
        self, status: UsageEvent.Status, usage: Usage, *, error_class: str = ""
    ) -> Decimal:
        """Price, record and settle; the cost in USD.

        When the database is away the reservation stays and is charged when it expires, so
        an answer or an error is never lost to it.
        """
        cost = self._cost(usage)
        outcome = recording.Outcome(
            status, usage, cost, self.started_at, clock.now(), error_class=error_class
        )
        close = partial(
            recording.close, self.guild, self.call, outcome, reservation=self.reservation
        )
        try:
            await rows.finish(close)
        except DatabaseError as error:
            log.warning("a call's usage could not be recorded: %s", type(error).__name__)
        return cost

    def _cost(self, usage: Usage) -> Decimal:
        if self.profile.is_house:
            return Decimal(0)
        return prices.cost(self.call.provider, self.call.model, usage, at=self.started_at)


async def _reserve(guild: Guild, call: budget.Call, profile: Resolved) -> Reservation | None:
    """The call's worst case, set aside; None for the house model, which costs nothing."""
    if profile.is_house:
        return None
    pending = rows.start(partial(_reserve_worst_case, guild, call))
    try:
        return await asyncio.shield(pending)
    except asyncio.CancelledError:
        await _release(pending)
        raise


def _reserve_worst_case(guild: Guild, call: budget.Call) -> Reservation:
    tokens = ratios.most_input_tokens(
        guild, provider=call.provider, model=call.model, input_bytes=call.input_bytes
    )
    worst = prices.worst_case(
        call.provider,
        call.model,
        input_tokens=tokens,
        output_tokens=call.output_tokens,
        at=clock.now(),
    )
    return budget.reserve(guild, worst, call=replace(call, input_tokens=tokens))


async def _release(pending: asyncio.Future[Reservation]) -> None:
    """Give back what was set aside for a call that was canceled before it began."""
    await asyncio.wait([pending])
    if not pending.cancelled() and pending.exception() is None:
        await rows.finish(partial(budget.settle, pending.result(), Decimal(0)))


async def _pump(
    client: ChatClient, request: ChatRequest, meter: _Meter, on_delta: OnDelta | None
) -> Completion:
    """Read the stream in a task of its own, so that held deltas go out while it is silent."""
    coalescer = Coalescer(on_delta or (lambda delta: None))
    queue: asyncio.Queue[_Queued] = asyncio.Queue(_QUEUED)
    reader = asyncio.create_task(_read(client, request, meter, queue))
    try:
        while not isinstance(item := await _next(queue, coalescer.due_in()), Completion):
            if isinstance(item, Exception):
                raise item
            await (coalescer.flush() if item is None else coalescer.add(item))
        await coalescer.flush()
        return item
    finally:
        reader.cancel()
        await asyncio.wait([reader])


async def _read(
    client: ChatClient, request: ChatRequest, meter: _Meter, queue: asyncio.Queue[_Queued]
) -> None:
    """Pass the stream on, its failure included; always closes it."""
    stream = cast("AsyncGenerator[Delta | Completion, None]", client.stream(request))
    try:
        async with aclosing(stream) as items:
            async for item in items:
                if not isinstance(item, Completion):
                    meter.count(item)
                await queue.put(item)
        told = ProviderError("invalid_response", "The model stopped without an answer. Ask again.")
        await queue.put(told)
    except Exception as error:  # noqa: BLE001 - it is raised again where it is awaited
        await queue.put(error)


async def _next(queue: asyncio.Queue[_Queued], seconds: float | None) -> _Queued | None:
    """The next item; None when that many seconds pass first."""
    if not queue.empty():
        return queue.get_nowait()
    try:
        async with asyncio.timeout(seconds):
            return await queue.get()
    except TimeoutError:
        return None
