"""A provider that is down, slow or talks rubbish: each is told in words, and left at once."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import Any

import pytest

from apps.providers.catalog import WireName
from apps.providers.errors import ProviderError
from apps.providers.types import TextDelta
from evals.model_server import ModelServer
from tests.providers.asking import CLIENTS, KEY, a_client, a_request, answer, ask, collected, run


def failure(
    server: ModelServer, wire: WireName, reply: dict[str, Any], **how: Any
) -> ProviderError:
    """What one question came to, asked once."""
    server.reset([{"reply": reply}])
    with pytest.raises(ProviderError) as caught:
        ask(server, wire=wire, **how)
    return caught.value


@pytest.mark.parametrize(
    ("status", "code", "retryable", "words"),
    [
        (400, "invalid_response", False, "HTTP 400"),
        (401, "auth_failed", False, "LLM_API_KEY"),
        (402, "auth_failed", False, "credit"),
        (403, "auth_failed", False, "rights"),
        (404, "unsupported_model", False, "LLM_MODEL"),
        (413, "too_large", False, "new thread"),
        (429, "rate_limited", True, "pause"),
        (500, "provider_unavailable", True, "HTTP 500"),
        (503, "provider_unavailable", True, "HTTP 503"),
        (504, "timeout", False, "too long"),
    ],
)
def test_status_becomes_a_code_and_a_next_step(
    model_server: ModelServer, status: int, code: str, retryable: bool, words: str, wire: WireName
) -> None:
    error = failure(model_server, wire, {"error": status})
    assert (error.code, error.retryable) == (code, retryable)
    assert words in error.message
    assert error.usage is None


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ({"status": 400, "code": "context_length_exceeded"}, "too_large"),
        ({"status": 400, "code": "model_not_found"}, "unsupported_model"),
        ({"status": 429, "code": "insufficient_quota"}, "auth_failed"),
    ],
)
def test_providers_own_reason_counts_more_than_its_status(
    model_server: ModelServer, told: dict[str, Any], code: str
) -> None:
    error = failure(model_server, "openai", {"error": told})
    assert (error.code, error.retryable) == (code, False)


@pytest.mark.parametrize(
    "reply",
    [
        {"garbage": "html"},
        {"garbage": "bytes"},
        {"garbage": "empty"},
        {"garbage": "json"},
        {"garbage": "shape"},
        {"text": "one two three", "garbage": {"kind": "json", "after": 2}},
        {"text": "one two three", "done": False},
        {"text": "", "finish_reason": None},
        {"headers": {"Content-Encoding": "gzip"}, "text": "not really compressed"},
        {"headers": {"Content-Type": "application/json"}, "text": "not a stream"},
    ],
    ids=str,
)
def test_rubbish_is_an_invalid_response(
    model_server: ModelServer, reply: dict[str, Any], wire: WireName
) -> None:
    error = failure(model_server, wire, reply)
    assert error.code == "invalid_response"
    assert not error.retryable
    assert "Ask" in error.message or "ask again" in error.message


def test_redirect_is_not_followed(model_server: ModelServer, wire: WireName) -> None:
    error = failure(model_server, wire, {"redirect": "${base_url}/elsewhere"})
    assert error.code == "invalid_response"
    assert "redirects" in error.message
    assert len(model_server.requests) == 1


def test_cut_in_the_middle_is_charged_and_not_tried_again(
    model_server: ModelServer, wire: WireName
) -> None:
    model_server.reset([{"reply": {"text": "one two three four", "cut": 2}}])
    with pytest.raises(ProviderError) as caught:
        ask(model_server, a_request(retries=2), wire=wire)
    assert caught.value.code == "provider_unavailable"
    assert caught.value.usage is not None
    assert caught.value.usage.estimated
    assert caught.value.usage.output_tokens > 0
    assert len(model_server.requests) == 1


def test_error_event_in_the_middle_is_told(model_server: ModelServer, wire: WireName) -> None:
    error = failure(
        model_server, wire, {"text": "one two", "error": {"status": 502, "after": 1, "code": 502}}
    )
    assert error.code == "provider_unavailable"
    assert error.usage is not None


def test_nobody_listening_is_unreachable(wire: WireName) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    client = CLIENTS[wire](
        base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY, provider="local", idle=2
    )
    with pytest.raises(ProviderError) as caught:
        run(collected(client, a_request()))
    assert caught.value.code == "unreachable"
    assert "LLM_BASE_URL" in caught.value.message


@pytest.mark.parametrize("at", ["request", "headers", 2])
def test_silent_provider_times_out(model_server: ModelServer, at: Any, wire: WireName) -> None:
    began = time.monotonic()
    reply = {"text": "one two three", "silence": {"seconds": 20, "at": at}}
    error = failure(model_server, wire, reply, idle=0.3)
    assert error.code == "timeout"
    assert "LLM_TIMEOUT" in error.message
    assert time.monotonic() - began < 3
    model_server.wait_until_closed(model_server.requests[0], timeout=2)


def test_slow_provider_that_keeps_the_line_alive_is_waited_for(
    model_server: ModelServer, wire: WireName
) -> None:
    silence = {"seconds": 1.5, "at": 1}
    reply = {"text": "one two", "silence": silence, "keep_alive_ms": 50, "comments": True}
    model_server.reset([{"reply": reply}])
    assert answer(model_server, idle=0.7, wire=wire).text == "one two"


def test_passing_failures_are_tried_again_before_the_first_delta(
    model_server: ModelServer, wire: WireName
) -> None:
    attempts = [{"error": {"status": 429, "retry_after": 1}}, {"error": 503}, {"text": "at last"}]
    model_server.reset([{"attempts": attempts}])
    began = time.monotonic()
    assert answer(model_server, a_request(retries=2), wire=wire).text == "at last"
    assert 1 <= time.monotonic() - began < 5
    assert len(model_server.requests) == 3


@pytest.mark.parametrize(("reply", "asked"), [({"error": 503}, 3), ({"error": 401}, 1)])
def test_tries_again_at_most_twice_and_only_what_may_pass(
    model_server: ModelServer, reply: dict[str, Any], asked: int, wire: WireName
) -> None:
    model_server.reset([{"reply": reply}])
    with pytest.raises(ProviderError):
        ask(model_server, a_request(retries=9), wire=wire)
    assert len(model_server.requests) == asked


def test_long_pause_asked_for_is_a_refusal_at_once(
    model_server: ModelServer, wire: WireName
) -> None:
    model_server.reset([{"reply": {"error": {"status": 429, "retry_after": 60}}}])
    began = time.monotonic()
    with pytest.raises(ProviderError) as caught:
        ask(model_server, a_request(retries=2), wire=wire)
    assert caught.value.retry_after == 60
    assert time.monotonic() - began < 1
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("at", ["request", "headers", 2])
def test_cancel_closes_the_response_at_once_though_the_provider_is_silent(
    model_server: ModelServer, at: Any, wire: WireName
) -> None:
    reply = {"text": "one two three", "silence": {"seconds": 20, "at": at}}
    model_server.reset([{"reply": reply}])

    async def cancel_in_the_middle() -> float:
        task = asyncio.create_task(
            collected(a_client(model_server, idle=30, wire=wire), a_request())
        )
        await asyncio.to_thread(model_server.wait_for, 1)
        await asyncio.sleep(0.1)
        canceled_at = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return canceled_at

    canceled_at = run(cancel_in_the_middle())
    closed_at = model_server.wait_until_closed(model_server.requests[0])
    assert closed_at - canceled_at < 0.5


def test_reader_that_leaves_closes_the_response(model_server: ModelServer, wire: WireName) -> None:
    model_server.reset([{"reply": {"text": "one two three", "silence": {"seconds": 20, "at": 1}}}])

    async def read_one() -> float:
        stream = a_client(model_server, wire=wire).stream(a_request())
        assert isinstance(await anext(stream), TextDelta)
        await stream.aclose()  # type: ignore[attr-defined]
        return time.monotonic()

    left_at = run(read_one())
    assert model_server.wait_until_closed(model_server.requests[0]) - left_at < 0.5


@pytest.mark.parametrize(
    "told",
    [
        {"status": 401, "message": f"Incorrect key: {KEY}", "code": KEY},
        {"status": 400, "body": f"<p>{KEY}</p>"},
        {"status": 500, "body": {"error": {"message": KEY, "type": KEY}}},
        {"status": 502, "message": KEY, "type": KEY, "after": 1},
    ],
    ids=["401", "400", "500", "event"],
)
def test_key_and_prompt_are_in_no_error_log_or_repr(
    model_server: ModelServer,
    told: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    wire: WireName,
) -> None:
    caplog.set_level(logging.DEBUG)
    model_server.reset([{"reply": {"text": "one two", "error": told}}])
    client = a_client(model_server, wire=wire)
    with pytest.raises(ProviderError) as caught:
        run(collected(client, a_request("canary question")))
    seen = [repr(caught.value), str(caught.value), repr(client), repr(vars(caught.value))]
    error: BaseException | None = caught.value
    while error is not None:
        frames = error.__traceback__
        seen.append(repr(error) + repr(frames))
        error = error.__cause__ if error.__cause__ or error.__suppress_context__ else None
    told_here = " ".join(seen) + caplog.text
    assert KEY not in told_here
    assert "canary" not in told_here


def test_sdk_that_was_told_to_log_all_is_kept_quiet(
    model_server: ModelServer, caplog: pytest.LogCaptureFixture, wire: WireName
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "anthropic", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    model_server.reset([{"reply": {"text": "fine"}}])
    answer(model_server, a_request("canary question"), wire=wire)
    assert "canary" not in caplog.text
    assert not [record for record in caplog.records if record.name.startswith(wire)]
