"""What was said so far, as far as the house model needs it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.providers.types import ChatMessage, ChatRequest, ToolCall


@dataclass(frozen=True)
class Outcome:
    """A call with what came back: a result as JSON, or words when it was none."""

    call: ToolCall | None
    result: Mapping[str, Any] | None
    words: str


@dataclass(frozen=True)
class Transcript:
    """The newest question, the call answered before it, and results that have come back."""

    question: str
    earlier_question: str
    earlier_call: ToolCall | None
    outcomes: tuple[Outcome, ...]


def transcript(request: ChatRequest) -> Transcript:
    """The request's messages, split at the newest question of a person."""
    messages = request.messages
    at = max((i for i, m in enumerate(messages) if m.role == "user"), default=-1)
    question = messages[at].content if at >= 0 else ""
    before, after = messages[: max(at, 0)], messages[at + 1 :]
    earlier = [m.content for m in before if m.role == "user"]
    calls = [call for m in before for call in m.tool_calls]
    return Transcript(
        question,
        earlier[-1] if earlier else "",
        calls[-1] if calls else None,
        tuple(_outcomes(after)),
    )


def _outcomes(messages: tuple[ChatMessage, ...]) -> list[Outcome]:
    calls = {call.id: call for m in messages for call in m.tool_calls}
    found = []
    for message in messages:
        if message.role == "tool":
            result = data_in(message.content)
            words = "" if result is not None else message.content
            found.append(Outcome(calls.get(message.tool_call_id), result, words))
    return found


def data_in(content: str) -> Mapping[str, Any] | None:
    """The first JSON object inside the text, whatever marker stands around it."""
    decoder = json.JSONDecoder()
    start = content.find("{")
    for _attempt in range(20):
        if start < 0:
            return None
        try:
            found, _end = decoder.raw_decode(content, start)
        except ValueError:
            start = content.find("{", start + 1)
            continue
        return found if isinstance(found, dict) else None
    return None


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The call's arguments; empty when they are no JSON object."""
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
