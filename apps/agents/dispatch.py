"""One tool call: look up, validate, decide, run as ``reader``. Never raises for the call's sake."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, OperationalError, connections
from psycopg import errors as pg

from apps.core import clock, reading
from apps.core.redaction import redact
from apps.core.tools import MODEL_EFFECTS_THAT_RUN, Tool, ToolContext, ToolError, registry
from apps.guilds import policy
from apps.providers.types import ToolCall

from . import limits
from .models import Run, Step
from .runtime import Handle

log = logging.getLogger("gatehouse.dispatch")


@dataclass(frozen=True)
class Outcome:
    """What became of a call, as its step keeps it. ``arguments`` are the validated ones."""

    status: str
    result: dict[str, Any]
    arguments: dict[str, Any]
    reason: str = ""
    rows: int | None = None
    ms: int = 0


def run_call(run: Run, call: ToolCall, handle: Handle) -> Outcome:
    """Run one call for the run's member.

    A malformed or unknown call comes back as an error that the model can read, and is never
    run with other arguments than it gave.
    """
    started = time.perf_counter()
    try:
        tool = registry.get(call.name)
        raw = _parse(call)
        args = tool.validate(raw)
    except ToolError as error:
        reason = "unknown_tool" if call.name not in registry else "bad_arguments"
        return _failed(Step.Status.FAILED, reason, str(error), _seen(call), started)
    arguments = args.model_dump(mode="json", exclude_defaults=True)
    decision = policy.decide(run.member, tool.capability, args)
    if not decision:
        words = f"{tool.name} was refused: {decision.reason}. It needs {decision.capability}."
        return _failed(Step.Status.REFUSED, decision.reason, words, arguments, started)
    if tool.effect not in MODEL_EFFECTS_THAT_RUN:
        words = f"{tool.name} can't be run here: it changes something."
        return _failed(Step.Status.REFUSED, "effect", words, arguments, started)
    return _run(run, tool, args, arguments, handle, started)


def too_many(name: str) -> Outcome:
    """A call beyond those that one turn may make: told to the model, and not run."""
    words = f"{name} was not run: {limits.CALLS_PER_TURN} calls in one turn are the most."
    started = time.perf_counter()
    return _failed(Step.Status.REFUSED, "too_many_calls", words, {}, started)


def _parse(call: ToolCall) -> Any:
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        raise ToolError(
            f"{call.name} was not run: its arguments are not valid JSON. Send one JSON object."
        ) from None
    if not isinstance(value, dict):
        raise ToolError(f"{call.name} was not run: its arguments must be one JSON object.")
    if not _storable(value):
        raise ToolError(f"{call.name} was not run: its arguments hold a NUL or half a character.")
    return value


def _storable(value: dict[str, Any]) -> bool:
    """Whether PostgreSQL can hold it: no NUL, no lone surrogate, however it was escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\\u0000" not in text


def _seen(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call that did not fit, for its trace: as sent, capped."""
    return {"as_sent": redact(call.arguments[:2_000])}


def _run(
    run: Run, tool: Tool, args: Any, arguments: dict[str, Any], handle: Handle, started: float
) -> Outcome:
    context = ToolContext(actor=run.member, guild=run.guild, now=clock.now(), run_id=run.pk)
    try:
        with reading.scope(run.guild_id), handle.interruptible(_interrupt()):
            result = tool.run(context, args).to_json()
    except ToolError as error:
        return _failed(Step.Status.FAILED, "tool_error", str(error), arguments, started)
    except (OperationalError, DatabaseError) as error:
        handle.check()
        return _failed(Step.Status.FAILED, *_database_words(tool, error), arguments, started)
    except reading.StrayQuery:
        log.error("tool %s strayed to another connection", tool.name)
        words = f"{tool.name} was stopped: it tried to read outside its scope."
        return _failed(Step.Status.REFUSED, "stray_query", words, arguments, started)
    except Exception:
        handle.check()
        log.exception("tool %s failed", tool.name)
        words = f"{tool.name} failed inside Gatehouse and returned nothing. Try another way."
        return _failed(Step.Status.FAILED, "tool_failed", words, arguments, started)
    result.setdefault("as_of", "")
    result["as_of"] = result["as_of"] or context.now.isoformat()
    rows = result.get("total_rows") if result["kind"] == "table" else None
    return Outcome(Step.Status.SUCCEEDED, result, arguments, rows=rows, ms=_ms(started))


def _interrupt() -> Any:
    connection = connections[reading.READER].connection
    return connection.cancel_safe if connection is not None else lambda: None


def _database_words(tool: Tool, error: Exception) -> tuple[str, str]:
    if isinstance(error.__cause__, pg.QueryCanceled):
        return "timeout", f"{tool.name} took too long and was stopped. Ask for less at once."
    log.warning("tool %s failed in the database: %s", tool.name, type(error.__cause__).__name__)
    return "database_error", f"{tool.name} failed in the database and returned nothing."


def _failed(
    status: str, reason: str, words: str, arguments: dict[str, Any], started: float
) -> Outcome:
    result = {"kind": "error", "error": words}
    return Outcome(status, result, arguments, reason=reason, ms=_ms(started))


def _ms(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
