"""A request as the chat-completions wire carries it."""

from __future__ import annotations

import json
import re
from typing import Any

from apps.providers.types import ChatMessage, ChatRequest, ToolCall, ToolSpec

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def payload(request: ChatRequest, *, provider: str) -> dict[str, Any]:
    """Keyword arguments for the SDK. What a transport is not known to take is left out."""
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
    if provider == "openrouter":
        body["extra_body"] = {"usage": {"include": True}}
    return body


def body_bytes(request: ChatRequest) -> int:
    """How many bytes of UTF-8 JSON a model is given to read: the ground of every estimate."""
    told = [_message(message) for message in request.messages]
    tools = [_tool(tool) for tool in request.tools]
    text = json.dumps([told, tools], ensure_ascii=False)
    return len(text.encode("utf-8", "replace"))


def _message(message: ChatMessage) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": _writable(message.content)}
    if message.tool_calls:
        told["content"] = told["content"] or None
        told["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.role == "tool":
        told["tool_call_id"] = message.tool_call_id
    return told


def _call(call: ToolCall) -> dict[str, Any]:
    name = _NOT_IN_A_NAME.sub("_", call.name)[:64] or "unnamed"
    function = {"name": name, "arguments": _json_object(_writable(call.arguments))}
    return {"id": call.id, "type": "function", "function": function}


def _json_object(arguments: str) -> str:
    """The arguments as sent, or wrapped where they are no JSON object.

    Providers parse the history and refuse the whole request for one malformed call in it.
    """
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"malformed_arguments": arguments[:2000]}, ensure_ascii=False)


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def _writable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
