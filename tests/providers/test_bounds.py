"""Bounds on what a provider may send: cut early, without reading it all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.providers import limits
from apps.providers.catalog import WireName
from apps.providers.clients.bounded import BoundExceeded, EventScanner
from apps.providers.clients.openai_wire import body_bytes
from apps.providers.errors import ProviderError
from evals.model_server import ModelServer
from tests.providers.asking import a_request, answer, ask


@given(
    line_end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    sizes=st.lists(st.integers(7, 40), min_size=1, max_size=5),
    cuts=st.lists(st.integers(1, 200), max_size=8),
    bound=st.integers(8, 60),
)
def test_scanner_finds_the_first_event_over_the_bound_however_it_is_cut(
    line_end: bytes, sizes: list[int], cuts: list[int], bound: int
) -> None:
    events = [b"data: " + b"x" * (size - 6) + line_end for size in sizes]
    wire = line_end.join([*events, b""])
    scanner = EventScanner(bound)
    places = sorted({cut for cut in cuts if cut < len(wire)})
    pieces = [wire[a:b] for a, b in zip([0, *places], [*places, len(wire)], strict=True)]
    too_large = any(len(event) > bound for event in events)
    try:
        for piece in pieces:
            scanner.feed(piece)
    except BoundExceeded:
        assert too_large
    else:
        assert not too_large


@pytest.mark.parametrize("line_end", ["lf", "crlf"])
def test_event_at_the_bound_passes_and_one_byte_more_is_cut(
    model_server: ModelServer, line_end: str, wire: WireName
) -> None:
    at_bound = {"huge_event": limits.SSE_EVENT_BYTES, "line_end": line_end}
    over = at_bound | {"huge_event": limits.SSE_EVENT_BYTES + 1}
    model_server.reset([{"attempts": [at_bound, over]}])
    assert len(answer(model_server, wire=wire).text) > limits.SSE_EVENT_BYTES - 1000
    with pytest.raises(ProviderError) as caught:
        ask(model_server, wire=wire)
    assert caught.value.code == "too_large"


def test_endless_event_is_cut_without_reading_it_all(
    model_server: ModelServer, wire: WireName
) -> None:
    size = 400 * 1024 * 1024
    model_server.reset([{"reply": {"huge_event": size}}])
    with pytest.raises(ProviderError) as caught:
        ask(model_server, wire=wire)
    assert caught.value.code == "too_large"
    model_server.wait_until_closed(model_server.requests[0])
    assert model_server.requests[0].bytes_sent < 2 * limits.SSE_EVENT_BYTES


def test_tool_input_over_its_bound_is_cut_while_it_comes(
    model_server: ModelServer, wire: WireName
) -> None:
    size = 16 * limits.TOOL_INPUT_BYTES
    calls = [{"name": "stock_search", "arguments": f"${{repeat /é/ {size}}}"}]
    model_server.reset([{"reply": {"tool_calls": calls, "chunk_chars": 65_536}}])
    with pytest.raises(ProviderError) as caught:
        ask(model_server, wire=wire)
    assert caught.value.code == "too_large"
    assert "tool call" in caught.value.message
    assert model_server.requests[0].bytes_sent < size


def test_tool_input_at_its_bound_passes(model_server: ModelServer, wire: WireName) -> None:
    arguments = '{"q": "' + "x" * (limits.TOOL_INPUT_BYTES - 9) + '"}'
    assert len(arguments) == limits.TOOL_INPUT_BYTES
    calls = [{"name": "stock_search", "arguments": arguments}]
    model_server.reset([{"reply": {"tool_calls": calls, "chunk_chars": 65_536}}])
    assert answer(model_server, wire=wire).tool_calls[0].arguments == arguments


def test_calls_over_their_number_are_cut(model_server: ModelServer, wire: WireName) -> None:
    calls = [{"name": "stock_search"}] * (limits.TOOL_CALLS + 1)
    model_server.reset([{"reply": {"tool_calls": calls}}])
    with pytest.raises(ProviderError) as caught:
        ask(model_server, wire=wire)
    assert caught.value.code == "too_large"


def test_request_over_its_bound_is_never_sent(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, wire: WireName
) -> None:
    monkeypatch.setattr(limits, "REQUEST_BYTES", 100_000)
    model_server.reset([{"reply": {"text": "fine"}}])
    assert answer(model_server, a_request("x" * 99_000), wire=wire).text == "fine"
    with pytest.raises(ProviderError) as caught:
        ask(model_server, a_request("x" * 100_000), wire=wire)
    assert caught.value.code == "too_large"
    assert len(model_server.requests) == 1


def test_transport_bounds_what_is_really_sent(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, wire: WireName
) -> None:
    """The body holds more than the messages, so it is measured again as it leaves."""
    monkeypatch.setattr(limits, "REQUEST_BYTES", body_bytes(a_request()))
    model_server.reset([{"reply": {"text": "fine"}}])
    with pytest.raises(ProviderError) as caught:
        ask(model_server, wire=wire)
    assert caught.value.code == "too_large"
    assert model_server.requests == []


def test_refusal_with_an_endless_body_is_read_to_its_bound(
    model_server: ModelServer, wire: WireName
) -> None:
    model_server.reset([{"reply": {"error": {"status": 500, "body": "x" * 50_000_000}}}])
    with pytest.raises(ProviderError) as caught:
        ask(model_server, wire=wire)
    assert caught.value.code == "provider_unavailable"
    assert model_server.requests[0].bytes_sent <= 50_000_000
