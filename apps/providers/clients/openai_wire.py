"""A request as the chat-completions wire carries it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from apps.providers.types import ChatMessage, ChatRequest, ToolCall, ToolSpec

from .wording import MALFORMED, json_object, tool_name, writable


def payload(
    request: ChatRequest, *, provider: str, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Keyword arguments for the SDK. What a transport is not known to take is left out.

    ``options`` are what the profile sets; they are sent whatever is known of the model.
    """
    chosen = options or {}
    # OpenAI's newer models refuse max_tokens; other servers may not know the newer name.
    bound = "max_completion_tokens" if provider == "openai" else "max_tokens"
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_message(message) for message in request.messages],
        bound: request.max_output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    body |= {name: chosen[name] for name in ("temperature", "top_p") if name in chosen}
    if provider == "openrouter":
        thinking = {"reasoning": {"effort": chosen["effort"]}} if "effort" in chosen else {}
        body["extra_body"] = {"usage": {"include": True}} | thinking
    elif "effort" in chosen:
        body["reasoning_effort"] = chosen["effort"]
    return body


def body_bytes(request: ChatRequest) -> int:
    """How many bytes of UTF-8 JSON a model is given to read: the ground of every estimate."""
    told = [_message(message) for message in request.messages]
    tools = [_tool(tool) for tool in request.tools]
    text = json.dumps([told, tools], ensure_ascii=False)
    return len(text.encode("utf-8", "replace"))


def _message(message: ChatMessage) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": writable(message.content)}
    if message.tool_calls:
        told["content"] = told["content"] or None
        told["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.role == "tool":
        told["tool_call_id"] = message.tool_call_id
    return told


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = writable(call.arguments)
    told = json_object(arguments)
    # What was well formed goes back as it was sent, to the letter.
    sent = json.dumps(told, ensure_ascii=False) if MALFORMED in told else arguments
    function = {"name": tool_name(call.name), "arguments": sent}
    return {"id": call.id, "type": "function", "function": function}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}
