"""Testing a key: a list of models, asked for over real sockets, in classes of failure."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pytest_django import Settings

from apps.providers import catalog, limits
from apps.providers.catalog import UnknownProvider
from apps.providers.probe import ProbeResult, probe
from evals.model_server import ModelServer
from tests.providers.asking import KEY, run

PROVIDERS = ["openai", "anthropic", "gemini", "openrouter", "custom"]
CLASSES = {
    "auth_failed",
    "rate_limited",
    "provider_unavailable",
    "invalid_response",
    "timeout",
    "unreachable",
    "unsupported_model",
}


@pytest.fixture(autouse=True)
def _loopback_allowed(settings: Settings) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = ["127.0.0.1"]


def probed(base_url: str, provider: str = "openai", secret: str = KEY, **more: Any) -> ProbeResult:
    result = run(probe(provider=provider, base_url=base_url, secret=secret, **more))
    assert result.ok is (result.error_class == "")
    assert result.error_class in CLASSES | {""}
    assert secret not in repr(result) or not secret
    return result


Answer = tuple[int, dict[str, str], bytes]


class Asked(list[tuple[str, dict[str, str]]]):
    """Paths and headers, in order."""


class Provider(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is no error here."""


@contextmanager
def provider_that(answers: Callable[[str], Answer]) -> Iterator[tuple[str, Asked]]:
    """A provider's list of models that answers anything at all; its base URL, and what came."""
    asked = Asked()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
            status, headers, body = answers(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *told: Any) -> None:
            """Keep quiet."""

    server = Provider(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def listing(*names: str) -> Answer:
    data = [{"id": name, "object": "model"} for name in names]
    return 200, {"Content-Type": "application/json"}, json.dumps({"data": data}).encode()


def always(answer: Answer) -> Callable[[str], Answer]:
    return lambda path: answer


@pytest.mark.parametrize("provider", PROVIDERS)
def test_good_key_is_told_with_the_models_it_opens(
    model_server: ModelServer, provider: str
) -> None:
    model_server.reset({"rules": [], "models": ["b-model", "a-model"], "api_key": KEY})
    result = probed(model_server.base_url + "/v1", provider)
    assert (result.ok, result.models) == (True, ("a-model", "b-model"))
    assert "2 models" in result.words
    asked = model_server.requests[-1]
    assert asked.path == "/v1/models"
    named = "x-api-key" if provider == "anthropic" else "authorization"
    assert KEY in asked.headers[named]
    assert len({"x-api-key", "authorization"} & asked.headers.keys()) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_wrong_key_is_told(model_server: ModelServer, provider: str) -> None:
    model_server.reset({"rules": [], "models": ["a"], "api_key": "sk-another-key"})
    result = probed(model_server.base_url + "/v1", provider)
    assert result.error_class == "auth_failed"
    assert result.models == ()


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "openrouter"])
def test_missing_key_is_told_without_asking(model_server: ModelServer, provider: str) -> None:
    assert probed(model_server.base_url, provider, secret="").error_class == "auth_failed"
    assert model_server.requests == []


def test_own_server_needs_no_key(model_server: ModelServer) -> None:
    model_server.reset({"rules": [], "models": ["llama"]})
    assert probed(model_server.base_url + "/v1", "custom", secret="").models == ("llama",)
    assert "authorization" not in model_server.requests[0].headers


@pytest.mark.parametrize("secret", ["sk canary", "sk-canary\r\nX: y", "sk-cänary", "sk\x00canary"])
def test_key_that_no_header_can_carry_is_told_without_showing_it(
    model_server: ModelServer, secret: str
) -> None:
    result = probed(model_server.base_url, secret=secret)
    assert result.error_class == "auth_failed"
    assert "nary" not in result.words
    assert model_server.requests == []


def test_openrouter_lists_models_to_everybody_so_its_key_is_asked_about() -> None:
    def answers(path: str) -> Answer:
        return (401, {}, b"{}") if path == "/v1/key" else listing("a/model")

    with provider_that(answers) as (base_url, asked):
        assert probed(base_url, "openrouter").error_class == "auth_failed"
        assert [path for path, _ in asked] == ["/v1/key"]


def test_gemini_calls_a_wrong_key_a_malformed_request_and_names_models_its_own_way() -> None:
    told = [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID"}}]
    with provider_that(always((400, {}, json.dumps(told).encode()))) as (base_url, _):
        assert probed(base_url, "gemini").error_class == "auth_failed"
    with provider_that(always(listing("models/gemini-2.5-flash"))) as (base_url, _):
        assert probed(base_url, "gemini").models == ("gemini-2.5-flash",)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, "invalid_response"),
        (400, "invalid_response"),
        (401, "auth_failed"),
        (402, "auth_failed"),
        (403, "auth_failed"),
        (404, "invalid_response"),
        (429, "rate_limited"),
        (500, "provider_unavailable"),
        (503, "provider_unavailable"),
        (504, "timeout"),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_status_becomes_a_class(status: int, kind: str, provider: str) -> None:
    body = json.dumps({"error": {"message": KEY, "type": KEY, "code": KEY}}).encode()
    elsewhere = {"Location": "/elsewhere"}
    with provider_that(always((status, elsewhere, body))) as (base_url, asked):
        assert probed(base_url, provider).error_class == kind
        assert len(asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        (200, {"Content-Type": "text/html"}, b"<!doctype html>"),
        (200, {}, b""),
        (200, {}, b"{"),
        (200, {}, b"[]"),
        (200, {}, b'{"data": 7}'),
        (200, {}, b'{"data": null}'),
        (200, {}, b"\xff\xfe"),
        (200, {}, b"[" * 100_000),
        (200, {"Content-Encoding": "gzip"}, b"not really"),
    ],
    ids=range(9),
)
def test_rubbish_is_an_invalid_response(answer: Answer) -> None:
    with provider_that(always(answer)) as (base_url, _):
        assert probed(base_url).error_class == "invalid_response"


def test_names_that_are_none_are_left_out_and_the_rest_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MODEL_LIST_NAMES", 3)
    odd: list[Any] = [{"id": 7}, {"id": ""}, {"id": "a\nb"}, {"id": "x" * 201}, "text", None]
    data = [*odd, *({"id": name} for name in ("d", "c", "b", "a", "a"))]
    body = json.dumps({"data": data}).encode()
    with provider_that(always((200, {}, body))) as (base_url, _):
        assert probed(base_url).models == ("a", "b", "c")


def test_list_over_its_bound_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = listing(*(f"model-{n}" for n in range(100)))
    monkeypatch.setattr(limits, "MODEL_LIST_BYTES", len(answer[2]))
    with provider_that(always(answer)) as (base_url, _):
        assert probed(base_url).ok
    monkeypatch.setattr(limits, "MODEL_LIST_BYTES", len(answer[2]) - 1)
    with provider_that(always(answer)) as (base_url, _):
        assert probed(base_url).error_class == "invalid_response"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_model_is_looked_for_in_the_list_and_then_by_its_name(provider: str) -> None:
    def answers(path: str) -> Answer:
        if path.partition("?")[0] == "/v1/models":
            return listing("listed", "local:latest")
        return listing() if path.endswith("/alias") else (404, {}, b"{}")

    with provider_that(answers) as (base_url, asked):
        for model in ("listed", "listed:free", "local"):
            assert probed(base_url, provider, model=model).ok
        assert len(asked) == 3
        assert probed(base_url, provider, model="alias").ok
        missing = probed(base_url, provider, model="no/such model?")
    assert missing.error_class == "unsupported_model"
    assert "no/such model?" in missing.words
    assert asked[-1][0] == "/v1/models/no/such%20model%3F"


def test_provider_that_trickles_is_left_when_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "PROBE_SECONDS", 0.5)

    def slow(path: str) -> Answer:
        time.sleep(1.5)
        return listing("too-late")

    began = time.monotonic()
    with provider_that(slow) as (base_url, _):
        result = probed(base_url)
        assert time.monotonic() - began < 1.2
    assert result.error_class == "timeout"


def test_nobody_listening_is_unreachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    result = probed(f"http://127.0.0.1:{port}/v1", "custom")
    assert result.error_class == "unreachable"
    assert "base URL" in result.words


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:{port}/v1", "https://127.0.0.1:{port}/v1", "rubbish", ""]
)
def test_private_or_impossible_address_is_never_called(
    model_server: ModelServer, settings: Settings, base_url: str
) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = []
    result = probed(base_url.format(port=model_server.port), "custom")
    assert result.error_class == "unreachable"
    assert model_server.requests == []


def test_unknown_provider_lists_those_there_are() -> None:
    with pytest.raises(UnknownProvider, match=", ".join(catalog.names())):
        run(probe(provider="nobody", base_url="", secret=KEY))
