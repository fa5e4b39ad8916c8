"""The messages wire, as Anthropic speaks it."""

import json
from collections.abc import Iterator
from typing import Any

from evals.model_server.conversation import Body, blocks
from evals.model_server.script import ErrorReply
from evals.model_server.speech import PAD, Event, Speech, arguments, pieces

LAST = Event({"type": "message_stop"}, name="message_stop")
KINDS = {
    400: ("invalid_request_error", "The request is not valid."),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "This key may not use the model."),
    404: ("not_found_error", "The model does not exist."),
    429: ("rate_limit_error", "This request would exceed your rate limit."),
    500: ("api_error", "Internal server error"),
    529: ("overloaded_error", "Overloaded"),
}
STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def refusal(body: Body) -> str | None:
    """Why a real provider would answer 400, or None."""
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: Field required"
    waiting: set[str] = set()
    for position, message in enumerate(body["messages"]):
        if message.get("role") not in ("user", "assistant"):
            return f"messages.{position}: role must be 'user' or 'assistant'"
        answered = {block.get("tool_use_id") for block in blocks(message, "tool_result")}
        if answered != waiting:
            return (
                f"messages.{position}: 'tool_use' ids and 'tool_result' blocks differ: "
                f"{sorted(waiting)} against {sorted(map(str, answered))}"
            )
        waiting = {block["id"] for block in blocks(message, "tool_use")}
    return f"'tool_use' ids without 'tool_result': {sorted(waiting)}" if waiting else None


def error(reply: ErrorReply) -> Body:
    """The JSON body of a refusal."""
    kind, message = KINDS.get(reply.status, KINDS[500])
    said = {"type": reply.type or kind, "message": reply.message or message}
    return {"type": "error", "error": said}


def error_event(reply: ErrorReply) -> Event:
    """A failure after the stream began."""
    return Event(error(reply), name="error")


def stray_event() -> Event:
    """Valid JSON in a shape nobody expects."""
    return Event({"type": "content_block_delta", "delta": 7}, name="content_block_delta")


def broken_event() -> Event:
    """An event whose data ends early."""
    return Event('{"type": "content_block_d', name="content_block_delta")


def events(speech: Speech) -> Iterator[Event]:
    """The whole stream but for its last mark."""
    usage = _usage(speech) | {"output_tokens": 0} if speech.shows_usage else {}
    start = {**_head(speech), "content": [], "stop_reason": None, "usage": usage}
    yield _named("message_start", message=start)
    yield _named("ping")
    for index, (block, deltas) in enumerate(_blocks(speech)):
        yield _named("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield _delta(speech, index, delta)
        yield _named("content_block_stop", index=index)
    stop = {"stop_reason": _stop_reason(speech), "stop_sequence": None}
    counted = {"usage": _usage(speech)} if speech.shows_usage else {}
    yield _named("message_delta", delta=stop, **counted)


def message(speech: Speech) -> Body:
    """The answer in one piece."""
    usage = {"usage": _usage(speech)} if speech.shows_usage else {}
    content = [_whole(block, deltas) for block, deltas in _blocks(speech)]
    return {**_head(speech), "content": content, "stop_reason": _stop_reason(speech), **usage}


def _head(speech: Speech) -> Body:
    return {
        "id": f"msg_{speech.number}",
        "type": "message",
        "role": "assistant",
        "model": speech.conversation.model,
        "stop_sequence": None,
    }


def _named(kind: str, **fields: Any) -> Event:
    return Event({"type": kind, **fields}, name=kind)


def _delta(speech: Speech, index: int, delta: Body) -> Event:
    size = speech.reply.huge_event if delta.get("text") == PAD else None
    data = {"type": "content_block_delta", "index": index, "delta": delta}
    return Event(data, name="content_block_delta", is_delta=True, size=size)


def _blocks(speech: Speech) -> Iterator[tuple[Body, list[Body]]]:
    """Each content block with its deltas; this wire never interleaves them."""
    size = speech.reply.chunk_chars
    if speech.reply.reasoning:
        thoughts = pieces(speech.reply.reasoning, size)
        deltas: list[Body] = [{"type": "thinking_delta", "thinking": t} for t in thoughts]
        deltas.append({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    words = [*(speech.deltas if speech.text else []), *_pad(speech)]
    if words:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": w} for w in words]
    for position, call in enumerate(speech.reply.tool_calls):
        use = {"type": "tool_use", "id": speech.call_id(position, "toolu"), "name": call.name}
        parts = pieces(arguments(call), size)
        yield use | {"input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in parts]


def _pad(speech: Speech) -> list[str]:
    return [PAD] if speech.conversation.stream and speech.reply.huge_event is not None else []


def _whole(block: Body, deltas: list[Body]) -> Body:
    """A block as the one-piece answer holds it."""
    whole = dict(block)
    for delta in deltas:
        for key in ("text", "thinking", "signature"):
            if key in delta:
                whole[key] += delta[key]
    if block["type"] == "tool_use":
        whole["input"] = _parsed("".join(delta["partial_json"] for delta in deltas))
    return whole


def _parsed(said: str) -> Any:
    """The real wire parses before it answers, so malformed arguments arrive empty here."""
    try:
        return json.loads(said)
    except ValueError:
        return {}


def _stop_reason(speech: Speech) -> str | None:
    reason = speech.finish_reason()
    return STOP_REASONS.get(reason, reason) if reason else None


def _usage(speech: Speech) -> Body:
    """This wire counts what came from a cache beside the input, not inside it."""
    told = speech.reply.usage
    cached = min((told and told.cached_tokens) or 0, speech.prompt_tokens)
    counted: Body = {
        "input_tokens": speech.prompt_tokens - cached,
        "output_tokens": speech.completion_tokens,
    }
    if told and told.cached_tokens is not None:
        counted["cache_read_input_tokens"] = cached
    if told and told.reasoning_tokens is not None:
        counted["output_tokens_details"] = {"thinking_tokens": told.reasoning_tokens}
    return counted
