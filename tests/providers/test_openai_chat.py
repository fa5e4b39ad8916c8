"""The OpenAI wire over real HTTP: what is sent, and what is made of what comes back."""

from __future__ import annotations

import asyncio
import json
import time
from decimal import Decimal
from typing import Any

import pytest

from apps.providers.catalog import WireName
from apps.providers.errors import ProviderError
from apps.providers.types import ChatMessage, Completion, TextDelta, ToolCall, ToolDelta, Usage
from evals.model_server import ModelServer
from tests.providers.asking import (
    KEY,
    a_client,
    a_request,
    answer,
    ask,
    collected,
    from_bytes,
    run,
)

CALLS = [
    {"name": "stock_search", "arguments": {"q": "Björk – Début", "limit": 5}},
    {"name": "sales_summary", "arguments": {"group_by": "month"}},
]


@pytest.mark.parametrize("line_end", ["lf", "crlf", "cr"])
@pytest.mark.parametrize("split", [None, 1, 7, "inside"])
def test_text_and_parallel_calls_come_together_however_they_are_cut(
    model_server: ModelServer, line_end: str, split: Any, wire: WireName
) -> None:
    reply = {"text": "Zwei Stück – 6,85 €", "tool_calls": CALLS, "line_end": line_end}
    model_server.reset([{"reply": reply | {"split": split}}])
    done = answer(model_server, wire=wire)
    assert done.text == "Zwei Stück – 6,85 €"
    assert [call.name for call in done.tool_calls] == ["stock_search", "sales_summary"]
    assert json.loads(done.tool_calls[0].arguments) == CALLS[0]["arguments"]
    assert json.loads(done.tool_calls[1].arguments) == CALLS[1]["arguments"]
    assert done.finish_reason == "tool_calls"


def test_deltas_add_up_to_the_completion(model_server: ModelServer, wire: WireName) -> None:
    model_server.reset([{"reply": {"text": "One two three.", "tool_calls": CALLS}}])
    items = ask(model_server, wire=wire)
    done = items[-1]
    assert isinstance(done, Completion)
    assert "".join(i.text for i in items if isinstance(i, TextDelta)) == done.text
    for call in done.tool_calls:
        parts = [i for i in items if isinstance(i, ToolDelta) and i.call_id == call.id]
        assert sum(part.characters for part in parts) == len(call.arguments)
        assert {part.name for part in parts} == {call.name}


def test_request_carries_what_the_wire_knows_and_nothing_of_ours(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-machine")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: yes\nAuthorization: Bearer other")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    model_server.reset([{"reply": {"text": "fine"}}])
    answer(model_server)
    sent = model_server.requests[0]
    assert sent.body["stream_options"] == {"include_usage": True}
    assert sent.body["max_tokens"] == 500
    assert "usage" not in sent.body
    assert set(sent.body["tools"][0]["function"]) == {"name", "description", "parameters"}
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["accept-encoding"] == "identity"
    assert not [name for name in sent.headers if name.startswith(("x-", "openai-"))]


def test_openrouter_is_asked_for_its_cost_and_openai_for_its_own_bound(
    model_server: ModelServer,
) -> None:
    model_server.reset([{"reply": {"text": "fine"}}])
    answer(model_server, provider="openrouter")
    answer(model_server, provider="openai")
    first, second = (request.body for request in model_server.requests)
    assert first["usage"] == {"include": True}
    assert first["max_tokens"] == second["max_completion_tokens"] == 500
    assert "max_tokens" not in second


@pytest.mark.parametrize("provider", ["openai", "gemini", "custom"])
def test_options_of_the_profile_are_sent_as_they_are(
    model_server: ModelServer, provider: str
) -> None:
    model_server.reset([{"reply": {"text": "fine"}}])
    options = {"temperature": 0, "top_p": 0.5, "effort": "high", "max_output_tokens": 90}
    answer(model_server, provider=provider, options=options | {"dimensions": 8})
    answer(model_server, provider=provider, options={"max_output_tokens": 9_000})
    first, second = (request.body for request in model_server.requests)
    assert (first["temperature"], first["top_p"], first["reasoning_effort"]) == (0, 0.5, "high")
    bound = "max_completion_tokens" if provider == "openai" else "max_tokens"
    assert (first[bound], second[bound]) == (90, 500)
    assert not {"temperature", "top_p", "reasoning_effort", "reasoning"} & second.keys()
    assert "dimensions" not in first


def test_openrouter_is_told_effort_in_its_own_way(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "fine"}}])
    answer(model_server, provider="openrouter", options={"effort": "low"})
    sent = model_server.requests[0].body
    assert sent["reasoning"] == {"effort": "low"}
    assert sent["usage"] == {"include": True}
    assert "reasoning_effort" not in sent


def test_malformed_call_in_the_history_is_sent_as_json(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "fine"}}])
    call = ToolCall("call_1", "stock search!", '{"q": "half')
    messages = (
        ChatMessage("user", "lone surrogate \ud800"),
        ChatMessage("assistant", "", (call,)),
        ChatMessage("tool", "not run", tool_call_id="call_1"),
    )
    answer(model_server, a_request(messages=messages))
    sent = model_server.requests[0].messages[1]["tool_calls"][0]["function"]
    assert sent["name"] == "stock_search_"
    assert json.loads(sent["arguments"]) == {"malformed_arguments": '{"q": "half'}


@pytest.mark.parametrize("arguments", ['{"q": "half', "[1, 2]", "not json"])
def test_malformed_arguments_are_handed_on_as_they_came(
    model_server: ModelServer, arguments: str, wire: WireName
) -> None:
    calls = [{"name": "stock_search", "arguments": arguments}]
    model_server.reset([{"reply": {"tool_calls": calls, "finish_reason": "stop"}}])
    done = answer(model_server, wire=wire)
    assert [call.arguments for call in done.tool_calls] == [arguments]
    assert done.finish_reason == "stop"


@pytest.mark.parametrize("interleave", [True, False])
def test_calls_without_usable_ids_get_made_up_ones(
    model_server: ModelServer, interleave: bool
) -> None:
    calls = [
        call | {"id": given} for call, given in zip(CALLS * 2, ["", "", "a", "a"], strict=True)
    ]
    reply = {"tool_calls": calls, "interleave": interleave}
    model_server.reset([{"reply": reply}])
    one, two = answer(model_server), answer(model_server)
    ids = [call.id for call in one.tool_calls]
    assert len(set(ids)) == 4
    assert all(ids)
    assert ids == [call.id for call in two.tool_calls]
    assert [json.loads(call.arguments) for call in one.tool_calls] == [
        call["arguments"] for call in calls
    ]


def test_calls_that_share_an_index_are_told_apart_by_id(model_server: ModelServer) -> None:
    calls = [call | {"index": 0, "id": f"id{n}"} for n, call in enumerate(CALLS)]
    reply = {"tool_calls": calls, "chunk_chars": 0, "interleave": False}
    model_server.reset([{"reply": reply}])
    done = answer(model_server)
    assert [(call.id, call.name) for call in done.tool_calls] == [
        ("id0", "stock_search"),
        ("id1", "sales_summary"),
    ]


def test_provider_usage_is_taken_as_it_is_told(model_server: ModelServer) -> None:
    told = {"prompt_tokens": 70, "completion_tokens": 50, "cached_tokens": 30, "cost": 0.0018}
    model_server.reset([{"reply": {"text": "fine", "usage": told | {"reasoning_tokens": 20}}}])
    assert answer(model_server).usage == Usage(70, 50, 30, 20, Decimal("0.0018"))


def test_explicit_zero_is_kept(model_server: ModelServer, wire: WireName) -> None:
    told = {"prompt_tokens": 0, "completion_tokens": 0, "cost": 0}
    model_server.reset([{"reply": {"text": "free", "usage": told}}])
    cost = Decimal("0.0") if wire == "openai" else None
    assert answer(model_server, wire=wire).usage == Usage(0, 0, cost=cost)


def test_missing_usage_is_estimated_from_bytes_and_marked(
    model_server: ModelServer, wire: WireName
) -> None:
    reply = {"text": "é" * 400, "reasoning": "r" * 100, "usage": None}
    model_server.reset([{"reply": reply}])
    usage = answer(model_server, wire=wire).usage
    assert usage is not None
    assert usage.estimated
    assert usage.output_tokens == (800 + 100) // 4
    assert usage.input_tokens > 30


def event(delta: dict[str, Any]) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def test_text_that_a_database_cannot_hold_is_replaced() -> None:
    pieces = ["a\x00b", "\ud83d", "\ude00", " \ud800 end"]
    wire = b"".join(event({"content": piece}) for piece in pieces) + b"data: [DONE]\n\n"
    items = run(from_bytes(wire))
    done = items[-1]
    assert isinstance(done, Completion)
    assert done.text == "a\ufffdb\U0001f600 \ufffd end"
    assert "".join(i.text for i in items if isinstance(i, TextDelta)) == done.text
    assert done.finish_reason == "stop"


def test_parts_of_calls_without_index_or_with_objects_are_understood() -> None:
    search = {"name": "stock_search", "arguments": {"q": "Björk"}}
    sales = {"name": "sales_summary", "arguments": '{"group'}
    parts = [
        [{"id": "a", "function": search}],
        [{"id": "b", "function": sales}],
        [{"function": {"arguments": '_by": "day"}'}}],
    ]
    wire = b"".join(event({"tool_calls": part}) for part in parts) + b"data: [DONE]"
    done = run(from_bytes(wire))[-1]
    assert isinstance(done, Completion)
    assert [(call.id, json.loads(call.arguments)) for call in done.tool_calls] == [
        ("a", {"q": "Björk"}),
        ("b", {"group_by": "day"}),
    ]


@pytest.mark.parametrize(
    "told",
    [
        {"prompt_tokens": -1, "completion_tokens": 5},
        {"prompt_tokens": "9", "completion_tokens": 5},
        {"prompt_tokens": True, "completion_tokens": 5},
        {"completion_tokens": 5},
        "many",
    ],
    ids=str,
)
def test_usage_that_is_no_count_is_no_usage(told: Any) -> None:
    usage = b"data: " + json.dumps({"choices": [], "usage": told}).encode() + b"\n\n"
    done = run(from_bytes(event({"content": "hi"}) + usage + b"data: [DONE]\n\n"))[-1]
    assert isinstance(done, Completion)
    assert done.usage is not None
    assert done.usage.estimated


def test_fifty_streams_run_side_by_side_on_one_client(
    model_server: ModelServer, wire: WireName
) -> None:
    reply = {"text": "I heard ${question} and answer.", "delta_ms": 60}
    model_server.reset([{"reply": reply}])

    async def all_of_them() -> list[Completion]:
        client = a_client(model_server, wire=wire)
        asked = [collected(client, a_request(f"number {n}")) for n in range(50)]
        return [items[-1] for items in await asyncio.gather(*asked)]  # type: ignore[misc]

    began = time.monotonic()
    done = run(all_of_them())
    assert [one.text for one in done] == [f"I heard number {n} and answer." for n in range(50)]
    assert time.monotonic() - began < 10


def test_arguments_that_never_came_stay_empty(model_server: ModelServer) -> None:
    calls = [{"name": "stock_search", "arguments": ""}]
    model_server.reset([{"reply": {"tool_calls": calls}}])
    assert [call.arguments for call in answer(model_server).tool_calls] == [""]


def test_refusal_is_said_in_the_providers_words_or_in_ours(model_server: ModelServer) -> None:
    wire = event({"refusal": "I cannot help with that."}) + b"data: [DONE]\n\n"
    done = run(from_bytes(wire))[-1]
    assert isinstance(done, Completion)
    assert done.text == "I cannot help with that."
    model_server.reset([{"reply": {"finish_reason": "content_filter"}}])
    with pytest.raises(ProviderError, match="refused") as caught:
        answer(model_server)
    assert caught.value.usage is not None
