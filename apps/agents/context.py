"""What a model is told, rebuilt from rows at every turn."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from apps.core import clock
from apps.core.tools import MODEL_EFFECTS_THAT_RUN, registry
from apps.guilds.models import Guild
from apps.providers.types import ChatMessage, ChatRequest, ToolCall, ToolSpec
from apps.shop.models import Shop

from . import limits
from .models import Run, Step

PROMPT = Path(__file__).parent / "prompts" / "system.md"


def request_for(run: Run) -> ChatRequest:
    """The next call: system prompt, history, question, and steps so far.

    The gateway names the model, so that a key and its model are always of one owner.
    """
    currency = currency_of(run.guild)
    return ChatRequest(
        model="",
        messages=(
            ChatMessage("system", system_prompt(run, currency)),
            *history(run),
            *own(run),
        ),
        tools=tuple(tool_specs()),
        max_output_tokens=limits.OUTPUT_TOKENS,
        guild_id=run.guild_id,
        now=clock.now(),
        time_zone=run.guild.time_zone,
        currency=currency,
    )


def system_prompt(run: Run, currency: str) -> str:
    """The prompt file with the guild's facts and the run's own data marker filled in."""
    return PROMPT.read_text().format(
        guild=" ".join(run.guild.name.split()),
        today=clock.business_day(run.guild).strftime("%A %d %B %Y"),
        time_zone=run.guild.time_zone,
        currency=currency or "the shop's own currency",
        marker=run.marker,
    )


def currency_of(guild: Guild) -> str:
    """The shop's currency; empty until a first import names one."""
    return Shop.objects.filter(guild=guild).values_list("currency", flat=True).first() or ""


def tool_specs() -> list[ToolSpec]:
    """Every registered tool that a model may call now, in order of name."""
    return [
        ToolSpec(
            name=tool.name,
            description=tool.description,
            parameters=tool.schema(),
            examples=tool.examples,
            fills=_hints(tool.args_model),
        )
        for tool in registry
        if tool.effect in MODEL_EFFECTS_THAT_RUN
    ]


def _hints(model: Any) -> dict[str, dict[str, Any]]:
    hints = {}
    for name, field in model.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and extra:
            hints[name] = dict(extra)
    return hints


def history(run: Run) -> list[ChatMessage]:
    """The thread's last messages before this run, whole exchanges only."""
    earlier = run.thread.runs.filter(created_at__lt=run.created_at, status=Run.Status.SUCCEEDED)
    runs = list(earlier.order_by("-created_at")[: limits.HISTORY_MESSAGES // 2])[::-1]
    steps: dict[Any, list[Step]] = {}
    for step in Step.objects.filter(run__in=runs).order_by("index"):
        steps.setdefault(step.run_id, []).append(step)
    exchanges = [_exchange(one, steps.get(one.pk, []), run.marker) for one in runs]
    kept: list[ChatMessage] = []
    for messages in reversed(exchanges):
        if len(kept) + len(messages) > limits.HISTORY_MESSAGES:
            messages = [messages[0], messages[-1]]
        if len(kept) + len(messages) > limits.HISTORY_MESSAGES:
            break
        kept = messages + kept
    return kept


def _exchange(run: Run, steps: list[Step], marker: str) -> list[ChatMessage]:
    """An earlier question with its results under the marker that the present prompt names."""
    results = _messages(steps, marker, limits.HISTORY_RESULT_CHARACTERS)
    return [ChatMessage("user", run.question), *results, ChatMessage("assistant", run.answer)]


def own(run: Run) -> list[ChatMessage]:
    """The run's question and what it has done so far."""
    steps = list(run.steps.order_by("index"))
    return [
        ChatMessage("user", run.question),
        *_messages(steps, run.marker, limits.RESULT_CHARACTERS),
    ]


def _messages(steps: Iterable[Step], marker: str, longest: int) -> list[ChatMessage]:
    messages = []
    for step in steps:
        if step.kind == Step.Kind.MODEL and step.calls:
            calls = tuple(ToolCall(c["id"], c["name"], c["arguments"]) for c in step.calls)
            messages.append(ChatMessage("assistant", step.text, tool_calls=calls))
        elif step.kind == Step.Kind.TOOL:
            content = wrap(step.result or {}, marker, longest)
            messages.append(ChatMessage("tool", content, tool_call_id=step.call_id))
    return messages


def wrap(result: dict[str, Any], marker: str, longest: int) -> str:
    """A tool result as data between the run's markers, at most ``longest`` characters."""
    text = json.dumps(result, ensure_ascii=False, default=str)
    if len(text) > longest:
        text = _shortened(result, longest)
    text = text.replace(f"data-{marker}", "data-")
    return f"<data-{marker}>\n{text}\n</data-{marker}>"


def _shortened(result: dict[str, Any], longest: int) -> str:
    rows = result.get("rows")
    if not isinstance(rows, list):
        return json.dumps({"cut": "too long", "start": json.dumps(result)[: longest // 2]})
    kept, size = [], len(json.dumps({**result, "rows": []}, default=str))
    for row in rows:
        size += len(json.dumps(row, ensure_ascii=False, default=str)) + 2
        if size > longest - 200:
            break
        kept.append(row)
    cut = [*result.get("cut", ()), f"only {len(kept)} rows fit here; totals cover all"]
    return json.dumps({**result, "rows": kept, "cut": cut}, ensure_ascii=False, default=str)
