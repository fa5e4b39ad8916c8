"""Stored base URLs lead to public addresses only, whatever a name is made to lead to."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_django import Settings

from apps.providers import addresses
from apps.providers.addresses import UnsafeAddress
from apps.providers.catalog import WireName
from apps.providers.clients.guarded import GuardedTransport
from apps.providers.errors import ProviderError
from evals.model_server import ModelServer
from tests.providers.asking import CLIENTS, KEY, a_request, collected, run

HOST = "models.example.com"


@pytest.fixture(autouse=True)
def _nothing_allowed(settings: Settings) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("64:ff9b::5db8:d822", True),
        ("127.0.0.1", False),
        ("127.9.9.9", False),
        ("10.0.0.5", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("192.0.0.8", False),
        ("198.18.0.1", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("::7f00:1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b:1::1", False),
        ("2002:7f00:1::", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
        ("2001:db8::1", False),
        ("fc00::1", False),
        ("fe80::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
    ],
)
def test_public_addresses_are_told_from_all_others(address: str, public: bool) -> None:
    assert addresses.is_public(ipaddress.ip_address(address)) is public


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://models.example.com/v1/", "https://models.example.com/v1"),
        ("HTTPS://Models.Example.com:443", "https://models.example.com"),
        ("https://models.example.com:8443/a/v1", "https://models.example.com:8443/a/v1"),
        ("https://münchen.example/v1", "https://xn--mnchen-3ya.example/v1"),
        ("https://[2606:2800:220:1:248:1893:25c8:1946]/v1",) * 2,
    ],
)
def test_base_url_is_kept_in_one_spelling(typed: str, kept: str) -> None:
    assert addresses.checked(typed) == kept


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "models.example.com/v1",
        "http://models.example.com/v1",
        "ftp://models.example.com",
        "file:///etc/passwd",
        "https://",
        "https://user@models.example.com/v1",
        "https://user:pass@models.example.com/v1",
        "https://@models.example.com/v1",
        "https://models.example.com\\@127.0.0.1/",
        "https://models.example.com/v1?key=x",
        "https://models.example.com/v1#top",
        "https://models.example.com /v1",
        "https://models.exam\tple.com/v1",
        "https://models.example.com\r\nHost: x",
        "https://models.example.com:99999",
        "https://models.example.com:0",
        "https://models.example.com:port",
        "https://[::1",
        "https://[::1]/v1",
        "https://[fe80::1%25eth0]/v1",
        "https://127.0.0.1/v1",
        "https://169.254.169.254/latest",
        "https://[::ffff:10.0.0.1]/v1",
    ],
)
def test_base_url_that_may_never_be_called_is_refused(base_url: str) -> None:
    with pytest.raises(UnsafeAddress) as caught:
        addresses.checked(base_url)
    assert (caught.value.code, caught.value.retryable) == ("unreachable", False)
    assert "pass@" not in caught.value.message


@pytest.mark.parametrize(
    ("entry", "base_url", "allowed"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434/v1", True),
        ("127.0.0.1:11434", "http://127.0.0.1:11434/v1", True),
        ("127.0.0.1:11434", "http://127.0.0.1:8080/v1", False),
        ("ollama.internal", "http://Ollama.internal/v1", True),
        ("ollama.internal", "http://evil-ollama.internal/v1", False),
        ("::1", "http://[::1]:8080/v1", True),
        ("[::1]:8080", "http://[::1]:8080/v1", True),
        ("127.0.0.1", "ftp://127.0.0.1/v1", False),
        ("127.0.0.1", "http://user@127.0.0.1/v1", False),
    ],
)
def test_operator_lists_hosts(settings: Settings, entry: str, base_url: str, allowed: bool) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = [entry]
    if allowed:
        assert addresses.checked(base_url) == base_url.lower()
    else:
        with pytest.raises(UnsafeAddress):
            addresses.checked(base_url)


def leading_to(monkeypatch: pytest.MonkeyPatch, answers: Callable[[int], list[str]]) -> list[str]:
    """Let the machine's resolver answer for HOST, by how often it was asked."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def resolver(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host not in (HOST, HOST.encode()):
            return real(host, port, *rest, **more)
        asked.append(HOST)
        found = answers(len(asked))
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    return asked


class Nowhere(httpx2.AsyncBaseTransport):
    """Writes down where a request would have gone."""

    def __init__(self, *, down: tuple[str, ...] = ()) -> None:
        self.requests: list[httpx2.Request] = []
        self.down = down

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if request.url.host in self.down:
            raise httpx2.ConnectError("down")
        return httpx2.Response(200, json={})


async def _get(inner: httpx2.AsyncBaseTransport, *urls: str) -> list[int]:
    async with httpx2.AsyncClient(transport=GuardedTransport(inner), trust_env=False) as http:
        return [(await http.get(url)).status_code for url in urls]


def test_connects_to_the_address_that_was_checked_and_keeps_the_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = leading_to(monkeypatch, lambda times: ["93.184.216.34"])
    nowhere = Nowhere()
    run(_get(nowhere, f"https://{HOST}:8443/v1/models?limit=5"))
    (request,) = nowhere.requests
    assert str(request.url) == "https://93.184.216.34:8443/v1/models?limit=5"
    assert request.headers["host"] == f"{HOST}:8443"
    assert request.extensions["sni_hostname"] == HOST
    assert len(asked) == 1


def test_name_that_turns_private_is_refused_at_the_next_connect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leading_to(monkeypatch, lambda times: ["93.184.216.34" if times == 1 else "127.0.0.1"])
    nowhere = Nowhere()
    url = f"https://{HOST}/v1"
    with pytest.raises(UnsafeAddress):
        run(_get(nowhere, url, url))
    assert len(nowhere.requests) == 1


def test_one_private_address_among_public_ones_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leading_to(monkeypatch, lambda times: ["93.184.216.34", "10.0.0.5"])
    nowhere = Nowhere()
    with pytest.raises(UnsafeAddress, match="PROVIDER_ALLOWED_HOSTS"):
        run(_get(nowhere, f"https://{HOST}/v1"))
    assert nowhere.requests == []


def test_next_address_is_tried_when_one_does_not_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    leading_to(monkeypatch, lambda times: ["93.184.216.34", "93.184.216.35"])
    nowhere = Nowhere(down=("93.184.216.34",))
    assert run(_get(nowhere, f"https://{HOST}/v1")) == [200]
    assert [str(request.url.host) for request in nowhere.requests] == [
        "93.184.216.34",
        "93.184.216.35",
    ]


def test_unknown_name_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(times: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    leading_to(monkeypatch, unknown)
    with pytest.raises(ProviderError) as caught:
        run(_get(Nowhere(), f"https://{HOST}/v1"))
    assert caught.value.code == "unreachable"
    assert HOST in caught.value.message


def test_private_server_is_never_asked(model_server: ModelServer, wire: WireName) -> None:
    """Not even when the client was made before the operator took the host off the list."""
    client = CLIENTS[wire](
        base_url=model_server.base_url, api_key=KEY, provider="custom", idle=2, guarded=True
    )
    model_server.reset([{"reply": {"text": "never"}}])
    with pytest.raises(ProviderError) as caught:
        run(collected(client, a_request(retries=2)))
    assert caught.value.code == "unreachable"
    assert "PROVIDER_ALLOWED_HOSTS" in caught.value.message
    assert model_server.requests == []


def test_listed_server_answers_through_the_guard(
    model_server: ModelServer, wire: WireName, settings: Settings
) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = [f"127.0.0.1:{model_server.port}"]
    client = CLIENTS[wire](
        base_url=model_server.base_url, api_key=KEY, provider="custom", idle=2, guarded=True
    )
    model_server.reset([{"reply": {"text": "through"}}])
    assert run(collected(client, a_request()))[-1].text == "through"
    model_server.reset([{"reply": {"redirect": "${base_url}/elsewhere"}}])
    with pytest.raises(ProviderError, match="redirects"):
        run(collected(client, a_request()))
    assert len(model_server.requests) == 1


class Greeter(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *told: Any) -> None:
        """Keep quiet."""


@contextmanager
def tls_server(name: str, folder: Path) -> Iterator[tuple[int, ssl.SSLContext, list[str]]]:
    """A real TLS server whose certificate is for this name; its port, trust and asked names."""
    pem = certificate(name, folder)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem)
    asked: list[str] = []
    serving.sni_callback = lambda sock, host, context: asked.append(host)
    server = HTTPServer(("127.0.0.1", 0), Greeter)
    server.socket = serving.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, ssl.create_default_context(cafile=str(pem)), asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def certificate(name: str, folder: Path) -> Path:
    """Key and self-signed certificate in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / f"{name}.pem"
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, plain)
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    return pem


def test_tls_proves_the_name_though_the_address_is_called(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = [HOST]
    leading_to(monkeypatch, lambda times: ["127.0.0.1"])
    with tls_server(HOST, tmp_path) as (port, trust, asked):
        inner = httpx2.AsyncHTTPTransport(verify=trust, trust_env=False)
        assert run(_get(inner, f"https://{HOST}:{port}/")) == [204]
    assert asked == [HOST]


def test_certificate_of_another_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = [HOST]
    leading_to(monkeypatch, lambda times: ["127.0.0.1"])
    with tls_server("other.example.com", tmp_path) as (port, trust, _):
        inner = httpx2.AsyncHTTPTransport(verify=trust, trust_env=False)
        with pytest.raises(httpx2.ConnectError):
            run(_get(inner, f"https://{HOST}:{port}/"))
