"""A request as the messages wire carries it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from apps.providers.types import ChatMessage, ChatRequest, ToolCall, ToolSpec

from .wording import call_id, json_object, malformed, tool_name, writable

_SILENT = "(nothing was said)"
_EARLIER = "(The beginning of this conversation is left out.)"


def payload(request: ChatRequest, *, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Keyword arguments for the SDK. What is not known of a model is left out.

    ``options`` are what the profile sets; they are sent whatever is known of the model.
    """
    chosen = options or {}
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _messages(request.messages),
        "max_tokens": request.max_output_tokens,
        "stream": True,
    }
    system = [writable(each.content) for each in request.messages if each.role == "system"]
    if told := "\n\n".join(text for text in system if text.strip()):
        body["system"] = told
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if "effort" in chosen:
        body["output_config"] = {"effort": chosen["effort"]}
    # Not every model takes them, so the SDK does not name them.
    if sampling := {name: chosen[name] for name in ("temperature", "top_p") if name in chosen}:
        body["extra_body"] = sampling
    return body


def _messages(messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
    """The transcript without the system's part; results of parallel calls share one message."""
    spoken = [message for message in messages if message.role != "system"]
    told: list[dict[str, Any]] = []
    for is_result, group in groupby(spoken, key=lambda message: message.role == "tool"):
        several = list(group)
        told.extend([_results(several)] if is_result else map(_message, several))
    if not told or told[0]["role"] != "user":
        told.insert(0, {"role": "user", "content": _EARLIER})
    return told


def _message(message: ChatMessage) -> dict[str, Any]:
    text = writable(message.content)
    if not message.tool_calls:
        # The wire refuses a message of nothing but white space.
        return {"role": message.role, "content": text.rstrip() or _SILENT}
    return {"role": message.role, "content": list(_blocks(text, message.tool_calls))}


def _blocks(text: str, calls: Iterable[ToolCall]) -> Iterator[dict[str, Any]]:
    if text.strip():
        yield {"type": "text", "text": text.rstrip()}
    for call in calls:
        yield {
            "type": "tool_use",
            "id": call_id(call.id),
            "name": tool_name(call.name),
            "input": _input(call.arguments),
        }


def _input(arguments: str) -> dict[str, Any]:
    """The call's input; what JSON can say but not carry on, such as half a pair, is replaced."""
    given = writable(arguments)
    try:
        told = json.dumps(json_object(given), ensure_ascii=False, allow_nan=False)
    except ValueError:  # 1e400 is read as infinity
        told = json.dumps(malformed(given), ensure_ascii=False)
    sent: dict[str, Any] = json.loads(writable(told))
    return sent


def _results(messages: Iterable[ChatMessage]) -> dict[str, Any]:
    return {"role": "user", "content": [_result(message) for message in messages]}


def _result(message: ChatMessage) -> dict[str, Any]:
    told = {"type": "tool_result", "tool_use_id": call_id(message.tool_call_id)}
    content = writable(message.content)
    return told | ({"content": content} if content else {})


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.parameters),
    }
