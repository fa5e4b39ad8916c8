"""The chat-completions wire, as OpenAI and OpenRouter speak it."""

from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any

from evals.model_server.conversation import Body
from evals.model_server.script import ErrorReply
from evals.model_server.speech import PAD, Event, Speech, arguments, pieces

LAST = Event("[DONE]")
KINDS: dict[int, tuple[str, str, str | None]] = {
    400: ("The request is not valid.", "invalid_request_error", None),
    401: ("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    402: ("Insufficient credits.", "insufficient_quota", "insufficient_quota"),
    403: ("This key may not use the model.", "invalid_request_error", "forbidden"),
    404: ("The model does not exist.", "invalid_request_error", "model_not_found"),
    429: ("Rate limit reached for requests.", "requests", "rate_limit_exceeded"),
    500: ("The server had an error while processing your request.", "server_error", None),
    503: ("The engine is currently overloaded.", "server_error", "overloaded"),
}


def refusal(body: Body) -> str | None:
    """Why a real provider would answer 400, or None.

    Every call of an assistant must be answered by a tool message before anything else, and
    nothing else may be: a history cut in the wrong place fails here as it would outside.
    """
    waiting: set[str] = set()
    for position, message in enumerate(body["messages"]):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return f"messages.{position}: a 'tool' message must answer a preceding 'tool_calls'"
            waiting.discard(message["tool_call_id"])
        elif waiting:
            return f"messages.{position}: tool_call_ids without an answer: {sorted(waiting)}"
        for call in message.get("tool_calls") or ():
            if not isinstance(call.get("function", {}).get("arguments"), str):
                return f"messages.{position}: function.arguments must be a string"
            waiting.add(call["id"])
    return f"tool_call_ids without an answer: {sorted(waiting)}" if waiting else None


def error(reply: ErrorReply) -> Body:
    """The JSON body of a refusal."""
    message, kind, code = KINDS.get(reply.status, KINDS[500])
    return {
        "error": {
            "message": reply.message or message,
            "type": reply.type or kind,
            "param": None,
            "code": code if reply.code is None else reply.code,
        }
    }


def error_event(reply: ErrorReply) -> Event:
    """A failure after the stream began, as OpenRouter tells it."""
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
    return Event({"object": "chat.completion.chunk", **error(reply), "choices": [choice]})


def stray_event() -> Event:
    """Valid JSON in a shape nobody expects."""
    return Event({"object": "chat.completion.chunk", "choices": "none", "hello": [1, None]})


def broken_event() -> Event:
    """An event whose data ends early."""
    return Event('{"id": "chat')


def events(speech: Speech) -> Iterator[Event]:
    """The whole stream but for its last mark."""
    yield _chunk(speech, {"role": "assistant", "content": ""})
    for piece in pieces(speech.reply.reasoning, speech.reply.chunk_chars):
        yield _chunk(speech, {"reasoning": piece}, is_delta=True)
    for piece in speech.deltas if speech.text else []:
        yield _chunk(speech, {"content": piece}, is_delta=True)
    if speech.reply.huge_event is not None:
        yield _chunk(speech, {"content": PAD}, is_delta=True, size=speech.reply.huge_event)
    for call in _call_deltas(speech):
        yield _chunk(speech, {"tool_calls": [call]}, is_delta=True)
    if speech.finish_reason():
        yield _chunk(speech, {}, finish_reason=speech.finish_reason())
    if speech.shows_usage:
        yield Event({**_head(speech, ".chunk"), "choices": [], "usage": _usage(speech)})


def message(speech: Speech) -> Body:
    """The answer in one piece."""
    said: Body = {"role": "assistant", "content": speech.text or None}
    if speech.reply.reasoning:
        said["reasoning"] = speech.reply.reasoning
    if speech.reply.tool_calls:
        said["tool_calls"] = [_opening(speech, i) for i in range(len(speech.reply.tool_calls))]
    choice = {"index": 0, "message": said, "finish_reason": speech.finish_reason()}
    usage = {"usage": _usage(speech)} if speech.shows_usage else {}
    return {**_head(speech), "choices": [choice], **usage}


def _head(speech: Speech, suffix: str = "") -> Body:
    return {
        "id": f"chatcmpl-{speech.number}",
        "object": f"chat.completion{suffix}",
        "created": speech.created,
        "model": speech.conversation.model,
    }


def _chunk(
    speech: Speech,
    delta: Body,
    *,
    finish_reason: str | None = None,
    **shape: Any,
) -> Event:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return Event({**_head(speech, ".chunk"), "choices": [choice]}, **shape)


def _opening(speech: Speech, position: int, said: str | None = None) -> Body:
    call = speech.reply.tool_calls[position]
    function = {"name": call.name, "arguments": arguments(call) if said is None else said}
    return {"id": speech.call_id(position, "call"), "type": "function", "function": function}


def _call_deltas(speech: Speech) -> Iterator[Body]:
    """The calls' pieces: in turns across calls, as some providers do, or one after another."""
    streams = [list(_one_call(speech, i)) for i in range(len(speech.reply.tool_calls))]
    if not speech.reply.interleave:
        return chain.from_iterable(streams)
    return (piece for turn in zip_longest(*streams) for piece in turn if piece is not None)


def _one_call(speech: Speech, position: int) -> Iterator[Body]:
    call = speech.reply.tool_calls[position]
    index = position if call.index is None else call.index
    whole = speech.reply.chunk_chars == 0
    yield {"index": index, **_opening(speech, position, None if whole else "")}
    for piece in [] if whole else pieces(arguments(call), speech.reply.chunk_chars):
        yield {"index": index, "function": {"arguments": piece}}


def _usage(speech: Speech) -> Body:
    usage = speech.reply.usage
    total = speech.prompt_tokens + speech.completion_tokens
    counted: Body = {
        "prompt_tokens": speech.prompt_tokens,
        "completion_tokens": speech.completion_tokens,
        "total_tokens": total,
    }
    if usage and usage.cached_tokens is not None:
        counted["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage and usage.reasoning_tokens is not None:
        counted["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    if usage and usage.cost is not None:
        counted["cost"] = usage.cost
    return counted
