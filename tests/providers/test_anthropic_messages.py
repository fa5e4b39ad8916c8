"""The Anthropic wire over real HTTP: what is sent, and what is made of what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apps.providers.errors import ProviderError
from apps.providers.types import ChatMessage, Completion, TextDelta, ToolCall, Usage
from evals.model_server import ModelServer
from tests.providers import asking
from tests.providers.asking import KEY, a_request, from_bytes, run


def answer(server: ModelServer, *request: Any, **how: Any) -> Completion:
    return asking.answer(server, *request, wire="anthropic", **how)


def sent(server: ModelServer, *messages: ChatMessage) -> Any:
    """The body that a transcript becomes, as the server got it."""
    server.reset({"rules": [{"reply": {"text": "fine"}}], "lenient": True})
    answer(server, a_request(messages=messages))
    return server.requests[0].body


def test_request_carries_what_the_wire_knows_and_nothing_of_ours(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-machine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: yes\nx-api-key: other")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    model_server.reset([{"reply": {"text": "fine"}}])
    answer(model_server)
    request = model_server.requests[0]
    assert request.path == "/v1/messages"
    assert request.body == {
        "model": "scripted-model",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 500,
        "stream": True,
        "tools": [
            {
                "name": "stock_search",
                "description": "Find stock.",
                "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}},
            }
        ],
    }
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.headers["accept-encoding"] == "identity"
    assert "authorization" not in request.headers
    assert not [name for name in request.headers if name.startswith(("x-leak", "x-stainless"))]


def test_results_of_parallel_calls_go_back_in_one_message(model_server: ModelServer) -> None:
    calls = (ToolCall("a", "stock_search", '{"q": "Björk"}'), ToolCall("b", "sales", "{}"))
    told = sent(
        model_server,
        ChatMessage("system", "First."),
        ChatMessage("user", "compare"),
        ChatMessage("assistant", "I look. ", calls),
        ChatMessage("tool", "12 rows", tool_call_id="a"),
        ChatMessage("tool", "", tool_call_id="b"),
        ChatMessage("system", "Second."),
        ChatMessage("user", "and now?"),
    )
    assert told["system"] == "First.\n\nSecond."
    assert told["messages"] == [
        {"role": "user", "content": "compare"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "stock_search", "input": {"q": "Björk"}},
                {"type": "tool_use", "id": "b", "name": "sales", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "12 rows"},
                {"type": "tool_result", "tool_use_id": "b"},
            ],
        },
        {"role": "user", "content": "and now?"},
    ]


def test_what_the_wire_would_refuse_is_made_fit(model_server: ModelServer) -> None:
    call = ToolCall("call:1", "stock search!", '{"q": "half')
    odd = ToolCall("call 2", "sales", '{"q": "\\ud800"}')
    nan = ToolCall("c3", "sales", '{"n": NaN}')
    huge = ToolCall("c4", "sales", '{"n": 1e400}')
    told = sent(
        model_server,
        ChatMessage("assistant", "an answer whose question was cut off "),
        ChatMessage("user", " \n"),
        ChatMessage("assistant", " ", (call, odd, nan, huge)),
        ChatMessage("tool", "lone \ud800", tool_call_id="call:1"),
    )["messages"]
    assert told[0]["role"] == "user"
    assert told[1]["content"] == "an answer whose question was cut off"
    assert told[2]["content"].strip()
    uses = told[3]["content"]
    assert [use["type"] for use in uses] == ["tool_use"] * 4
    assert (uses[0]["id"], uses[0]["name"]) == ("call_1", "stock_search_")
    assert uses[0]["input"] == {"malformed_arguments": '{"q": "half'}
    assert uses[1]["input"]["q"] == "?"
    assert uses[2]["input"] == {"malformed_arguments": '{"n": NaN}'}
    assert uses[3]["input"] == {"malformed_arguments": '{"n": 1e400}'}
    assert told[4]["content"][0]["tool_use_id"] == "call_1"


def test_options_of_the_profile_are_sent_as_they_are(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "fine"}}])
    options = {"temperature": 0, "top_p": 0.5, "effort": "high", "max_output_tokens": 90}
    answer(model_server, options=options)
    sent = model_server.requests[0].body
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (0, 0.5, 90)
    assert sent["output_config"] == {"effort": "high"}


def test_cached_tokens_are_counted_into_the_input_once(model_server: ModelServer) -> None:
    told = {"prompt_tokens": 70, "completion_tokens": 50, "cached_tokens": 30}
    model_server.reset([{"reply": {"text": "fine", "usage": told | {"reasoning_tokens": 20}}}])
    assert answer(model_server).usage == Usage(70, 50, 30, 20)


def events(*told: dict[str, Any]) -> bytes:
    lines = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in told)
    return "".join(lines).encode()


def start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"id": "m", "content": [], "usage": usage}}


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(reason: str, **usage: int) -> list[dict[str, Any]]:
    delta = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    return [delta, {"type": "message_stop"}]


def text(*pieces: str) -> list[dict[str, Any]]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(0, {"type": "text", "text": ""}, *deltas)


def completed(*told: dict[str, Any]) -> Completion:
    done = run(from_bytes(events(*told), wire="anthropic"))[-1]
    assert isinstance(done, Completion)
    return done


def test_what_is_written_into_a_cache_is_input_too() -> None:
    counted = {"input_tokens": 10, "cache_creation_input_tokens": 100, "output_tokens": 1}
    done = completed(
        start(**counted, cache_read_input_tokens=1000),
        *text("hi"),
        *end("end_turn", output_tokens=7),
    )
    assert done.usage == Usage(1110, 7, 1000)


def test_running_totals_of_the_end_replace_those_of_the_beginning() -> None:
    done = completed(
        start(input_tokens=10, output_tokens=1),
        *text("hi"),
        *end("end_turn", input_tokens=12, output_tokens=7),
    )
    assert done.usage == Usage(12, 7)


def test_cut_stream_is_charged_with_the_input_that_was_told() -> None:
    with pytest.raises(ProviderError) as caught:
        run(
            from_bytes(
                events(start(input_tokens=900, output_tokens=1), *text("x" * 400)[:2]),
                wire="anthropic",
            )
        )
    assert caught.value.usage == Usage(900, 100, estimated=True)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("a_reason_of_tomorrow", "a_reason_of_tomorrow"),
    ],
)
def test_reasons_to_stop_are_told_in_one_language(reason: str, finish: str) -> None:
    assert completed(start(), *text("hi"), *end(reason)).finish_reason == finish


def test_refusal_without_a_word_is_an_error_in_words() -> None:
    with pytest.raises(ProviderError, match="refused") as caught:
        completed(start(input_tokens=3, output_tokens=0), *end("refusal", output_tokens=0))
    assert caught.value.code == "invalid_response"
    assert caught.value.usage == Usage(3, 0)


def test_input_may_come_whole_or_not_at_all() -> None:
    use = {"type": "tool_use", "name": "stock_search"}
    done = completed(
        start(),
        *block(0, use | {"id": "a", "input": {"q": "Début"}}),
        *block(1, use | {"id": "b", "input": {}}, {"type": "input_json_delta", "partial_json": ""}),
        *end("tool_use"),
    )
    assert [(call.id, call.arguments) for call in done.tool_calls] == [
        ("a", '{"q": "Début"}'),
        ("b", "{}"),
    ]
    assert done.finish_reason == "tool_calls"


def test_calls_without_usable_ids_get_made_up_ones() -> None:
    use = {"type": "tool_use", "name": "sales", "input": {}}
    calls = [*block(0, use), *block(1, use | {"id": "a"}), *block(2, use | {"id": "a"})]
    ids = [call.id for call in completed(start(), *calls, *end("tool_use")).tool_calls]
    assert len(set(ids)) == 3
    assert all(ids)


def test_events_and_deltas_of_tomorrow_are_passed_over() -> None:
    done = completed(
        start(),
        {"type": "weather_report", "sky": "blue"},
        *block(0, {"type": "server_thing"}, {"type": "thing_delta", "thing": 1}),
        *block(1, {"type": "text", "text": "a"}, {"type": "text_delta", "text": "b"}),
        *end("end_turn"),
    )
    assert done.text == "ab"


@pytest.mark.parametrize(
    "stray",
    [
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_delta", "index": 0, "delta": 7},
        {"type": "content_block_start", "index": "0", "content_block": {"type": "text"}},
    ],
    ids=str,
)
def test_part_without_its_place_is_rubbish(stray: dict[str, Any]) -> None:
    with pytest.raises(ProviderError) as caught:
        completed(start(), *text("hi"), stray, *end("end_turn"))
    assert caught.value.code == "invalid_response"
    assert "Anthropic wire" in caught.value.message


def test_text_that_a_database_cannot_hold_is_replaced() -> None:
    told = events(start(), *text("a\x00b", "\ud83d", "\ude00", " \ud800 end"), *end("end_turn"))
    items = run(from_bytes(told, wire="anthropic"))
    done = items[-1]
    assert isinstance(done, Completion)
    assert done.text == "a\ufffdb\U0001f600 \ufffd end"
    assert "".join(item.text for item in items if isinstance(item, TextDelta)) == done.text


@pytest.mark.parametrize(
    ("status", "kind", "message", "code"),
    [
        (400, "invalid_request_error", "prompt is too long: 205000 tokens", "too_large"),
        (400, "invalid_request_error", "Your credit balance is too low", "auth_failed"),
        (413, "request_too_large", "Request exceeds the maximum size", "too_large"),
        (529, "overloaded_error", "Overloaded", "provider_unavailable"),
    ],
)
def test_refusals_of_this_provider_are_understood(
    model_server: ModelServer, status: int, kind: str, message: str, code: str
) -> None:
    error = {"status": status, "type": kind, "message": message}
    model_server.reset([{"reply": {"error": error}}])
    with pytest.raises(ProviderError) as caught:
        answer(model_server)
    assert caught.value.code == code
    assert message not in caught.value.message


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("overloaded_error", "provider_unavailable"),
        ("rate_limit_error", "rate_limited"),
        ("authentication_error", "auth_failed"),
        ("not_found_error", "unsupported_model"),
        ("error_of_tomorrow", "provider_unavailable"),
    ],
)
def test_error_event_is_told_by_its_type(model_server: ModelServer, kind: str, code: str) -> None:
    error = {"status": 500, "type": kind, "message": "hm", "after": 1}
    model_server.reset([{"reply": {"text": "one two", "error": error}}])
    with pytest.raises(ProviderError) as caught:
        answer(model_server)
    assert caught.value.code == code


def test_overload_before_the_first_word_is_tried_again(model_server: ModelServer) -> None:
    overloaded = {"error": {"status": 529, "type": "overloaded_error", "after": 0}}
    model_server.reset([{"attempts": [overloaded, {"text": "at last"}]}])
    assert answer(model_server, a_request(retries=1)).text == "at last"
    assert len(model_server.requests) == 2
