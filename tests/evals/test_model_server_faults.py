"""What goes wrong on a provider's wire, as bytes on a real socket."""

import itertools
import json
import time
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from evals.model_server import ModelServer
from tests.evals.wire import body, chat_sdk, chunks, data_of, messages_sdk, post, seconds, text_of

TEN_WORDS = "one two three four five six seven eight nine ten"


def streamed_until_it_breaks(server: ModelServer) -> tuple[bytes, Exception | None]:
    """The bytes of a stream, and the transport's error if it ended in one."""
    url = f"{server.base_url}/v1/chat/completions"
    got = b""
    with httpx2.stream("POST", url, json=body(stream=True), timeout=10) as response:
        try:
            for chunk in response.iter_raw():
                got += chunk
        except httpx2.TransportError as error:
            return got, error
    return got, None


def whole_events(stream: bytes) -> list[Any]:
    return data_of(stream[: stream.rfind(b"\n\n") + 2])


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, openai.BadRequestError, None),
        (401, openai.AuthenticationError, "invalid_api_key"),
        (429, openai.RateLimitError, "rate_limit_exceeded"),
        (500, openai.InternalServerError, None),
    ],
)
def test_an_error_status_has_a_providers_body(
    model_server: ModelServer, status: int, error: type[openai.APIStatusError], code: str | None
) -> None:
    model_server.reset([{"reply": {"error": {"status": status, "retry_after": 7}}}])
    client = chat_sdk(model_server)
    messages = body()["messages"]
    for stream in (False, True):
        with pytest.raises(error) as caught:
            client.chat.completions.create(model="m", messages=messages, stream=stream)
        assert caught.value.code == code
        assert caught.value.response.headers["retry-after"] == "7"


def test_an_error_can_say_anything(model_server: ModelServer) -> None:
    told = {"status": 402, "message": "Add credits.", "type": "billing", "code": 402}
    model_server.reset([{"reply": {"error": told}}])
    response = post(model_server)
    expected = {"message": "Add credits.", "type": "billing", "param": None, "code": 402}
    assert (response.status_code, response.json()["error"]) == (402, expected)
    model_server.reset([{"reply": {"error": {"status": 502, "body": "<h1>Bad gateway</h1>"}}}])
    response = post(model_server)
    assert (response.status_code, response.text) == (502, "<h1>Bad gateway</h1>")
    assert response.headers["content-type"].startswith("text/html")


def test_the_messages_wire_has_its_own_errors(model_server: ModelServer) -> None:
    client = messages_sdk(model_server)
    model_server.reset([{"reply": {"error": 429}}])
    with pytest.raises(anthropic.RateLimitError, match="rate_limit_error"):
        client.messages.create(model="m", max_tokens=9, messages=body()["messages"])
    model_server.reset([{"reply": {"text": TEN_WORDS, "error": {"status": 529, "after": 2}}}])
    with client.messages.stream(model="m", max_tokens=9, messages=body()["messages"]) as stream:
        got: list[str] = []
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            got.extend(stream.text_stream)
        assert stream.current_message_snapshot.content[0].text == "one two "
        assert got == ["one ", "two "]


def test_a_stream_can_break_with_an_error_event(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": TEN_WORDS, "error": {"status": 503, "after": 3}}}])
    events = data_of(b"".join(chunks(model_server)))
    assert text_of(events[:-1]) == "one two three "
    assert events[-1]["error"]["code"] == "overloaded"
    assert events[-1]["choices"][0]["finish_reason"] == "error"


def test_a_redirect_is_seen_when_it_is_followed(model_server: ModelServer) -> None:
    reply = {"redirect": {"to": "${base_url}/elsewhere", "status": 307}, "text": "never"}
    model_server.reset([{"reply": reply}])
    response = post(model_server)
    assert response.status_code == 307
    assert response.headers["location"] == f"{model_server.base_url}/elsewhere"
    post(model_server, follow_redirects=True)
    assert [r.path for r in model_server.requests[1:]] == ["/v1/chat/completions", "/elsewhere"]
    model_server.reset([{"reply": {"redirect": "http://127.0.0.1:9/"}}])
    assert post(model_server).status_code == 302


def test_garbage_instead_of_a_body(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"garbage": "html"}}])
    page = post(model_server, body(stream=True))
    assert page.headers["content-type"] == "text/html"
    assert page.content.startswith(b"<!doctype html>")
    model_server.reset([{"reply": {"garbage": "bytes"}}])
    rubbish = post(model_server, body(stream=True))
    assert rubbish.headers["content-type"].startswith("text/event-stream")
    with pytest.raises(UnicodeDecodeError):
        rubbish.content.decode()
    model_server.reset([{"reply": {"garbage": "empty"}}])
    assert post(model_server, body(stream=True)).content == b""


def test_garbage_within_a_stream_comes_once_after_its_deltas(model_server: ModelServer) -> None:
    reply = {"text": TEN_WORDS, "garbage": {"kind": "json", "after": 2}}
    model_server.reset([{"reply": reply}])
    lines = [line for line in b"".join(chunks(model_server)).split(b"\n") if line]
    broken = [line for line in lines if not _is_event(line)]
    assert broken == [b'data: {"id": "chat']
    assert b'"two "' in lines[lines.index(broken[0]) - 1]
    model_server.reset([{"reply": reply | {"garbage": "shape"}}])
    events = data_of(b"".join(chunks(model_server)))
    assert [event["choices"] for event in events if "hello" in event] == ["none"]


def _is_event(line: bytes) -> bool:
    text = line.removeprefix(b"data: ")
    try:
        return text == b"[DONE]" or bool(json.loads(text))
    except ValueError:
        return False


@pytest.mark.parametrize("kind", ["json", "shape"])
def test_garbage_as_a_whole_answer(model_server: ModelServer, kind: str) -> None:
    model_server.reset([{"reply": {"text": TEN_WORDS, "garbage": kind}}])
    response = post(model_server)
    if kind == "json":
        with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
            response.json()
    else:
        assert response.json() == {"hello": [1, None]}


@pytest.mark.parametrize("line_end", ["lf", "crlf"])
def test_a_huge_event_has_exactly_its_size(model_server: ModelServer, line_end: str) -> None:
    size = 1_000_003
    reply = {"text": "small", "huge_event": size, "line_end": line_end}
    model_server.reset([{"reply": reply}])
    end = {"lf": b"\n", "crlf": b"\r\n"}[line_end]
    events = b"".join(chunks(model_server)).split(end + end)
    assert max(len(event + end) for event in events) == size
    assert text_of(data_of(end.join(events))).startswith("smallxxxx")


def test_a_huge_event_on_the_messages_wire_counts_its_name(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"huge_event": 70_000}}])
    url = f"{model_server.base_url}/v1/messages"
    events = httpx2.post(url, json=body(stream=True, max_tokens=9)).content.split(b"\n\n")
    assert max(len(event) + 1 for event in events) == 70_000


def test_silence_after_the_headers_ends_when_the_client_leaves(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"silence": 60}}])
    url = f"{model_server.base_url}/v1/chat/completions"
    with httpx2.stream("POST", url, json=body(stream=True), timeout=1.5) as response:
        assert response.status_code == 200
        with pytest.raises(httpx2.ReadTimeout):
            response.read()
    request = model_server.requests[0]
    assert 1 < model_server.wait_until_closed(request) - request.received_at < 5
    assert request.bytes_sent == 0


def test_silence_before_the_headers(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"silence": {"seconds": 60, "at": "request"}}}])
    with pytest.raises(httpx2.ReadTimeout):
        post(model_server, timeout=1)
    request = model_server.wait_for(1)[0]
    model_server.wait_until_closed(request)
    assert request.status is None


def test_silence_after_some_deltas_and_then_the_rest(model_server: ModelServer) -> None:
    reply = {"text": TEN_WORDS, "silence": {"seconds": 0.3, "at": 4}}
    model_server.reset([{"reply": reply}])
    started = time.monotonic()
    url = f"{model_server.base_url}/v1/chat/completions"
    with httpx2.stream("POST", url, json=body(stream=True)) as response:
        heard = [(time.monotonic() - started, line) for line in response.iter_lines()]
    before = next(at for at, line in heard if '"four "' in line)
    after = next(at for at, line in heard if '"five "' in line)
    assert after - before >= 0.25
    assert text_of(data_of("\n".join(line for _, line in heard).encode())) == TEN_WORDS


def test_pauses_between_deltas_and_before_the_first(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "a b c d", "delta_ms": 50, "first_ms": 200}}])
    chunks(model_server)
    request = model_server.requests[0]
    assert seconds(request.received_at, request.first_byte_at) >= 0.2
    model_server.wait_until(lambda: request.finished_at is not None)
    assert 0.15 <= seconds(request.first_byte_at, request.finished_at) < 5


def test_keep_alives_fill_a_silence(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "a b", "silence": 0.4, "keep_alive_ms": 50}}])
    stream = b"".join(chunks(model_server))
    assert stream.index(b": SCRIPTED") < stream.index(b"data: ")
    assert 2 <= stream.count(b": SCRIPTED PROCESSING\n\n") <= 8


def test_no_keep_alive_comes_before_the_headers(model_server: ModelServer) -> None:
    silence = {"seconds": 0.2, "at": "request"}
    model_server.reset([{"reply": {"text": "a b", "silence": silence, "keep_alive_ms": 20}}])
    stream = b"".join(chunks(model_server))
    assert stream.startswith(b"data: ")
    assert text_of(data_of(stream)) == "a b"


def test_comments_before_every_event(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "a b", "comments": True}}])
    events = b"".join(chunks(model_server)).split(b"\n\n")
    assert [event.startswith(b":") for event in events[:6]] == [True, False] * 3


def test_a_client_that_leaves_a_running_stream_is_recorded(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": TEN_WORDS * 20, "delta_ms": 20}}])
    url = f"{model_server.base_url}/v1/chat/completions"
    with httpx2.stream("POST", url, json=body(stream=True)) as response:
        list(itertools.islice(response.iter_lines(), 8))
    left = time.monotonic()
    request = model_server.requests[0]
    assert model_server.wait_until_closed(request) - left < 2
    assert 0 < request.bytes_sent < 20_000
    assert not request.cut


@pytest.mark.parametrize("deltas", [0, 4, 10])
def test_a_cut_closes_the_socket_after_its_deltas(model_server: ModelServer, deltas: int) -> None:
    model_server.reset([{"reply": {"text": TEN_WORDS, "cut": deltas}}])
    got, error = streamed_until_it_breaks(model_server)
    assert isinstance(error, httpx2.RemoteProtocolError)
    assert len(text_of(whole_events(got)).split()) == deltas
    assert b'finish_reason": "stop' not in got
    model_server.wait_until(lambda: model_server.requests[0].finished_at is not None)
    request = model_server.requests[0]
    assert (request.cut, request.closed_by_client_at) == (True, None)


def test_a_cut_of_a_whole_answer(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": TEN_WORDS, "cut": 0}}])
    with pytest.raises(httpx2.RemoteProtocolError):
        post(model_server)


@pytest.mark.parametrize(("line_end", "end"), [("lf", b"\n"), ("crlf", b"\r\n"), ("cr", b"\r")])
def test_line_ends(model_server: ModelServer, line_end: str, end: bytes) -> None:
    model_server.reset([{"reply": {"text": TEN_WORDS, "line_end": line_end}}])
    stream = b"".join(chunks(model_server))
    assert stream.endswith(b"data: [DONE]" + end + end)
    assert set(stream) & set(b"\r\n") == set(end)
    assert text_of(data_of(stream)) == TEN_WORDS


def test_chunks_that_split_characters_and_line_ends(model_server: ModelServer) -> None:
    text = "Ångström — ピンク \U0001f3b5 ende"
    reply = {"text": text, "split": "inside", "line_end": "crlf"}
    model_server.reset([{"reply": reply}])
    pieces = chunks(model_server)
    assert sum(_ends_inside_a_character(piece) for piece in pieces) >= 4
    assert any(piece.endswith(b"\r") for piece in pieces)
    assert text_of(data_of(b"".join(pieces))) == text
    model_server.reset([{"reply": {"text": text, "split": 3}}])
    pieces = chunks(model_server)
    assert max(len(piece) for piece in pieces) == 3
    assert text_of(data_of(b"".join(pieces))) == text


def _ends_inside_a_character(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


def test_the_last_mark_can_be_missing(model_server: ModelServer) -> None:
    model_server.reset([{"reply": {"text": "hi", "done": False}}])
    events = data_of(b"".join(chunks(model_server)))
    assert events[-1]["choices"][0]["finish_reason"] == "stop"


def test_headers_and_given_deltas(model_server: ModelServer) -> None:
    reply = {"text": ["sp", "lit he", "re"], "headers": {"X-Request-Id": "r1"}}
    model_server.reset([{"reply": reply}])
    assert post(model_server).headers["x-request-id"] == "r1"
    events = data_of(b"".join(chunks(model_server)))[1:4]
    assert [e["choices"][0]["delta"]["content"] for e in events] == ["sp", "lit he", "re"]
