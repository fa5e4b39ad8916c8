"""The loop: a claimed run, turn by turn, from rows to rows.

A second worker can go on where a dead one stopped: everything is rebuilt from stored steps,
and every write carries the lease token, so that a stale worker writes nothing.
"""

from __future__ import annotations

import logging
import time
from decimal import Decimal
from typing import Any
from uuid import uuid4

import redis.asyncio
from django.db import connections, transaction

from apps.audit.recorder import record
from apps.core import clock, topics
from apps.core.money import format_cost
from apps.guilds import policy
from apps.llm import gateway
from apps.providers.errors import ProviderError
from apps.providers.types import Completion, TextDelta, ToolCall
from apps.usage.errors import BudgetRefused
from apps.usage.models import UsageEvent

from . import context, limits
from .dispatch import Outcome, run_call, too_many
from .errors import DeadlinePassed, LeaseLost, RunCanceled, Stopped
from .models import Run, Step
from .runtime import Handle, runtime
from .streams import Publisher, async_client

log = logging.getLogger("gatehouse.loop")
Reason = Run.Reason


def execute(run: Run) -> None:
    """Execute a claimed run to its end; how it ended is written to its row."""
    publisher = Publisher(run)
    try:
        with runtime.holding(run) as handle:
            _work(run, handle, publisher)
    except LeaseLost:
        log.warning("run %s was taken over or handed back", run.pk)
        return
    except RunCanceled:
        _finish(run, Run.Status.CANCELED, Reason.CANCELED, answer=_said_so_far(run))
    except DeadlinePassed:
        words = f"Stopped after {limits.WALL_SECONDS} seconds. Ask a narrower question."
        _finish(run, Run.Status.FAILED, Reason.DEADLINE, words=words, answer=_said_so_far(run))
    except Stopped as stop:
        _finish(run, Run.Status.FAILED, stop.reason, words=stop.words)
    except policy.Denied as denied:
        _finish(run, Run.Status.DENIED, Reason.PERMISSION_DENIED, words=str(denied))
    except BudgetRefused as refused:
        _finish(run, Run.Status.FAILED, Reason.DAILY_BUDGET, words=str(refused))
    except ProviderError as error:
        _finish(run, Run.Status.FAILED, Reason.PROVIDER_FAILED, words=_provider_words(error))
    except Exception as error:
        log.exception("run %s failed", run.pk)
        words = f"The answer failed inside Gatehouse ({type(error).__name__}). Ask again."
        _finish(run, Run.Status.FAILED, Reason.EXECUTOR_FAILED, words=words)
    publisher.done()


_ONLY_SETTINGS_HELP = frozenset({"auth_failed", "unsupported_model"})


def _provider_words(error: ProviderError) -> str:
    """Cause and next step; who can change settings is told of the model that needs none."""
    if error.code in _ONLY_SETTINGS_HELP:
        return f"{error} Without LLM_API_KEY the house model still looks things up."
    return str(error)


def _work(run: Run, handle: Handle, publisher: Publisher) -> None:
    policy.require(run.member, "agent.ask", surface="run")
    profile = gateway.current_profile(run.guild)
    Run.objects.held(run).update(provider=profile.provider, model=profile.label)
    while True:
        handle.check()
        last = _last_turn(run)
        if last is not None and not last.calls:
            return _answer(run, last.text)
        if last is not None:
            _run_calls(run, last, handle, publisher)
        turn = last.turn + 1 if last else 1
        if turn > limits.TURNS:
            words = f"Stopped after {limits.TURNS} turns without an answer. Ask for less at once."
            raise Stopped(Reason.STEP_LIMIT, words)
        _turn(run, turn, handle, publisher)


def _last_turn(run: Run) -> Step | None:
    """The last turn that the model finished."""
    turns = run.steps.filter(kind=Step.Kind.MODEL, status=Step.Status.SUCCEEDED)
    return turns.order_by("-turn").first()


def _turn(run: Run, turn: int, handle: Handle, publisher: Publisher) -> None:
    """One call of the model, stored as a step with the calls that it asks for."""
    request = context.request_for(run)
    step_id, started, at = uuid4(), time.perf_counter(), clock.now()
    # A connection is given back before a model call, which may take minutes.
    connections.close_all()
    step = Step(id=step_id, turn=turn, kind=Step.Kind.MODEL, started_at=at)
    said: list[str] = []
    try:
        completion = handle.call(_stream(run, request, step, publisher, said))
        step.status, step.text = Step.Status.SUCCEEDED, _clean(completion.text)
        step.calls = [_kept(call) for call in completion.tool_calls[: limits.CALLS_KEPT]]
    except (RunCanceled, DeadlinePassed):
        step.status, step.text = Step.Status.CANCELED, _clean("".join(said))
        raise
    except (ProviderError, BudgetRefused) as error:
        step.status, step.reason = Step.Status.FAILED, getattr(error, "code", "refused")
        raise
    finally:
        if step.status:
            step.ms = round((time.perf_counter() - started) * 1000)
            _charge(step)
            _store(run, step)
    publisher.step(turn)


def _charge(step: Step) -> None:
    """Tokens and cost as the ledger holds them, for every attempt at this step."""
    for event in UsageEvent.objects.filter(step_id=step.pk):
        step.input_tokens += event.input_tokens
        step.output_tokens += event.output_tokens
        step.cost += event.cost


async def _stream(
    run: Run, request: Any, step: Step, publisher: Publisher, said: list[str]
) -> Completion:
    client: redis.asyncio.Redis = async_client()

    async def on_delta(delta: Any) -> None:
        if isinstance(delta, TextDelta):
            said.append(delta.text)
            await publisher.delta(client, step.turn, delta.text)

    try:
        return await gateway.stream(
            request,
            guild=run.guild,
            purpose="chat",
            run_id=run.pk,
            step_id=step.pk,
            attempt=run.attempt,
            on_delta=on_delta,
        )
    finally:
        await client.aclose()


def _run_calls(run: Run, model_step: Step, handle: Handle, publisher: Publisher) -> None:
    """Run what a turn asked for and is not stored yet, in order."""
    done = set(
        run.steps.filter(kind=Step.Kind.TOOL, turn=model_step.turn).values_list(
            "call_id", flat=True
        )
    )
    for position, kept in enumerate(model_step.calls):
        if kept["id"] in done:
            continue
        handle.check()
        _refuse_repetition(run, kept)
        at = clock.now()
        if position < limits.CALLS_PER_TURN:
            outcome = run_call(run, ToolCall(kept["id"], kept["name"], kept["arguments"]), handle)
        else:
            outcome = too_many(kept["name"])
        _store(run, _tool_step(model_step.turn, kept, outcome, at))
        publisher.step(model_step.turn)


def _tool_step(turn: int, kept: dict[str, str], outcome: Outcome, at: Any) -> Step:
    return Step(
        turn=turn,
        kind=Step.Kind.TOOL,
        status=outcome.status,
        reason=outcome.reason[:80],
        tool=kept["name"][:100],
        call_id=kept["id"],
        arguments=outcome.arguments,
        result=outcome.result,
        rows=outcome.rows,
        started_at=at,
        ms=outcome.ms,
    )


def _refuse_repetition(run: Run, kept: dict[str, str]) -> None:
    """The same call over and over again would go on until the turns are used up."""
    recent: list[dict[str, str]] = [kept]
    for step in run.steps.filter(kind=Step.Kind.MODEL).order_by("-turn")[: limits.IDENTICAL_CALLS]:
        recent.extend(call for call in reversed(step.calls) if call["id"] != kept["id"])
    same = recent[: limits.IDENTICAL_CALLS]
    alike = all((c["name"], c["arguments"]) == (kept["name"], kept["arguments"]) for c in same)
    if len(same) == limits.IDENTICAL_CALLS and alike:
        words = f"Stopped: the model asked for the same {kept['name']} {len(same)} times in a row."
        raise Stopped(Reason.REPEATED_CALL, words)


def _kept(call: ToolCall) -> dict[str, str]:
    return {
        "id": _clean(call.id)[:200],
        "name": _clean(call.name)[:200],
        "arguments": _clean(call.arguments),
    }


def _clean(text: str) -> str:
    """PostgreSQL holds no NUL and no lone surrogate; a model may send both."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


@transaction.atomic
def _store(run: Run, step: Step) -> None:
    """Write a step while this worker holds the run; :class:`LeaseLost` when it no longer does."""
    held = Run.objects.held(run).select_for_update(of=("self",)).values_list("turns", flat=True)
    if held.first() is None:
        raise LeaseLost
    step.run, step.guild_id = run, run.guild_id
    step.index = run.steps.count()
    step.save(force_insert=True)
    if step.kind == Step.Kind.MODEL:
        Run.objects.held(run).update(turns=step.turn)


def _said_so_far(run: Run) -> str:
    """What the stopped turn had written; it stays readable."""
    cut = run.steps.filter(kind=Step.Kind.MODEL, status=Step.Status.CANCELED).order_by("-turn")
    return cut.values_list("text", flat=True).first() or ""


def _answer(run: Run, text: str) -> None:
    answer = text.strip()[: limits.ANSWER_CHARACTERS]
    if not answer:
        words = "The model ended without an answer. Ask again, or ask for less at once."
        raise Stopped(Reason.PROVIDER_FAILED, words)
    _finish(run, Run.Status.SUCCEEDED, Reason.COMPLETED, answer=answer)


@transaction.atomic
def _finish(run: Run, status: str, reason: str, *, words: str = "", answer: str = "") -> None:
    """Write how the run ended, once; a stale worker's end is dropped."""
    now = clock.now()
    changed = Run.objects.held(run).update(
        status=status,
        termination_reason=reason,
        error_message=words,
        answer=answer,
        finished_at=now,
        lease_token=None,
        lease_until=None,
    )
    if not changed:
        return
    run.thread.updated_at = now
    run.thread.save(update_fields=["updated_at"])
    run.refresh_from_db(fields=["turns", "model"])
    cost = sum(UsageEvent.objects.filter(run_id=run.pk).values_list("cost", flat=True), Decimal(0))
    record(
        "run",
        guild_id=run.guild_id,
        actor=f"member:{run.member_id}",
        status="succeeded" if status == Run.Status.SUCCEEDED else "failed",
        reason=str(reason),
        run=str(run.pk),
        number=run.number,
        termination_reason=str(reason),
        turns=run.turns,
        model=run.model[:100],
        cost_usd=format_cost(cost),
    )
    topics.changed(run.guild_id, "spend")
