"""Connections to providers: built one way, shared by calls, closed with their event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

import httpx2

from apps.core.sealing import Secret
from apps.providers import limits
from apps.providers.catalog import WireName
from apps.providers.errors import ProviderError

from .bounded import BoundedTransport
from .guarded import GuardedTransport

_MOST_CLIENTS = 32
_VERSION = {"anthropic-version": "2023-06-01"}
Place = tuple[WireName, str, str, float, bool]


class Client(Protocol):
    """An SDK's client."""

    async def close(self) -> None: ...


C = TypeVar("C", bound=Client)
_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Place, Client]] = WeakKeyDictionary()


def shared(place: Place, build: Callable[[], C]) -> C:
    """One SDK client per event loop, wire, endpoint and key: connections are shared by calls.

    The oldest is dropped, not closed, when there are many: a stream may still be reading.
    """
    pool = _pools.setdefault(asyncio.get_running_loop(), {})
    if place not in pool:
        pool[place] = build()
        if len(pool) > _MOST_CLIENTS:
            del pool[next(iter(pool))]
    return pool[place]  # type: ignore[return-value]  # a place names its wire, so its class


async def close_clients() -> None:
    """Close the running loop's connections; for whoever ends a loop that it started."""
    for client in _pools.pop(asyncio.get_running_loop(), {}).values():
        await client.close()


def key_headers(wire: WireName, secret: str) -> Mapping[str, str]:
    """The headers that carry a key; none without one. ProviderError when it can be no key.

    It is judged here, since an HTTP library would quote it in its complaint.
    """
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise ProviderError(
            "auth_failed",
            "This key holds a space or a character that no key has. Copy it once more, whole.",
        )
    if wire == "anthropic":
        return _VERSION | ({"x-api-key": Secret(secret)} if secret else {})
    return {"authorization": Secret(f"Bearer {secret}")} if secret else {}


def root_of(wire: WireName, base_url: str) -> str:
    """The base URL as the wire's SDK wants it: one of them adds ``/v1`` itself."""
    root = base_url.rstrip("/")
    return root.removesuffix("/v1") if wire == "anthropic" else root


def timeouts(idle: float) -> httpx2.Timeout:
    return httpx2.Timeout(idle, connect=limits.CONNECT_SECONDS)


def http_client(
    headers: Mapping[str, str], *, idle: float, guarded: bool, whole: int | None = None
) -> httpx2.AsyncClient:
    """An HTTP client without redirects and proxy variables, bounded, and guarded if asked."""
    wire: httpx2.AsyncBaseTransport = httpx2.AsyncHTTPTransport(
        trust_env=False,
        retries=0,
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=20),
    )
    if guarded:
        wire = GuardedTransport(wire)
    return httpx2.AsyncClient(
        transport=BoundedTransport(wire, key_headers=headers, whole=whole),
        timeout=timeouts(idle),
        follow_redirects=False,
        trust_env=False,
    )
