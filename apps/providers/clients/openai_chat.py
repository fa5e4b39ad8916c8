"""The OpenAI-compatible wire: any base URL that speaks chat completions over SSE."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx2
import openai
import openai.resources.chat.completions  # loaded with this module, not by the first call

from apps.providers import limits
from apps.providers.errors import ProviderError
from apps.providers.types import ChatRequest, Completion, TextDelta, ToolDelta

from . import openai_wire
from .assembly import Assembly
from .bounded import SCANNER, BoundedTransport
from .failures import Failures

# At debug level the SDK and its HTTP client would log requests, prompts included.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)

Item = TextDelta | ToolDelta | Completion
_Pool = dict[tuple[str, str, float], openai.AsyncOpenAI]
_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pool] = WeakKeyDictionary()
_BACKOFF_SECONDS = 0.25


class OpenAIChat:
    """Streams one request at a time from one endpoint; any number run side by side.

    Retries, redirects and proxy variables of the SDK are off. A failure before the first
    delta is tried again at most ``request.retries`` times, and never more often than
    ``limits.RETRIES``. Raises ProviderError; closes its response once, also when canceled.
    """

    def __init__(self, *, base_url: str, api_key: str, provider: str, idle: float) -> None:
        self._base_url = base_url.rstrip("/")
        self.__key = api_key
        self._provider = provider
        self._idle = idle
        self._where = urlsplit(base_url).hostname or "the provider"

    def __repr__(self) -> str:
        return f"OpenAIChat({self._where!r})"

    async def stream(self, request: ChatRequest) -> AsyncIterator[Item]:
        """Deltas in order, then the completion."""
        retries = min(request.retries, limits.RETRIES)
        for attempt in range(retries + 1):
            started = False
            try:
                async with aclosing(self._attempt(request)) as items:
                    async for item in items:
                        started = True
                        yield item
                return
            except ProviderError as error:
                wait = _wait(error, attempt)
                if started or attempt == retries or wait is None:
                    raise
            await asyncio.sleep(wait)

    async def _attempt(self, request: ChatRequest) -> AsyncGenerator[Item, None]:
        failures = Failures(where=self._where, model=request.model)
        input_bytes = openai_wire.body_bytes(request)
        if input_bytes > limits.REQUEST_BYTES:
            raise failures.error("too_large", "The question is too large to send. Shorten it.")
        assembly = Assembly(
            model=request.model,
            provider=self._provider,
            input_bytes=input_bytes,
            turn=len(request.messages),
        )
        try:
            stream = await self._open(request)
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - the edge of a foreign library
            raise failures.translate(error) from None
        try:
            async for chunk in stream:
                for delta in assembly.add(chunk):
                    yield delta
        except Exception as error:  # noqa: BLE001 - the edge of a foreign library
            raise _charged(_mid_stream(error, failures, assembly), assembly) from None
        finally:
            await stream.close()
        yield _complete(stream, failures, assembly)

    async def _open(self, request: ChatRequest) -> openai.AsyncStream[Any]:
        client = _client(self._base_url, self.__key, self._idle)
        body = openai_wire.payload(request, provider=self._provider)
        stream: openai.AsyncStream[Any] = await client.chat.completions.create(**body)
        return stream


def _complete(
    stream: openai.AsyncStream[Any], failures: Failures, assembly: Assembly
) -> Completion:
    """The completion, if the stream came to its proper end."""
    if assembly.empty:
        raise _charged(failures.rubbish("the stream is empty"), assembly)
    scanner = stream.response.extensions.get(SCANNER)
    if scanner is None or not scanner.done:
        error = failures.rubbish("the stream ended without its last mark, so part may be missing")
        raise _charged(error, assembly)
    try:
        return assembly.completion()
    except ProviderError as error:
        raise _charged(error, assembly) from None


def _mid_stream(error: Exception, failures: Failures, assembly: Assembly) -> ProviderError:
    told = failures.translate(error)
    if told.code == "unreachable":
        return failures.broken_off()
    return told


def _charged(error: ProviderError, assembly: Assembly) -> ProviderError:
    """The error with what was used up to it: a stream had begun, so a provider may bill it."""
    error.usage = assembly.usage()
    return error


def _wait(error: ProviderError, attempt: int) -> float | None:
    """Seconds before the next attempt; None when there is no point in one."""
    if not error.retryable or (error.retry_after or 0) > limits.RETRY_AFTER_SECONDS:
        return None
    jitter = 1 + random.random() / 2  # noqa: S311 - spreads attempts, guards nothing
    return max(error.retry_after or 0, _BACKOFF_SECONDS * 2**attempt * jitter)


def _client(base_url: str, api_key: str, idle: float) -> openai.AsyncOpenAI:
    """One SDK client per event loop, endpoint and key: connections are shared by calls."""
    pool = _pools.setdefault(asyncio.get_running_loop(), {})
    place = (base_url, api_key, idle)
    if place not in pool:
        pool[place] = _build(base_url, api_key, idle)
    return pool[place]


def _build(base_url: str, api_key: str, idle: float) -> openai.AsyncOpenAI:
    wire = httpx2.AsyncHTTPTransport(
        trust_env=False,
        retries=0,
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=20),
    )
    http = httpx2.AsyncClient(
        transport=BoundedTransport(wire, api_key=api_key),
        timeout=httpx2.Timeout(idle, connect=limits.CONNECT_SECONDS),
        follow_redirects=False,
        trust_env=False,
    )
    return openai.AsyncOpenAI(
        api_key="held by the transport",
        base_url=base_url,
        http_client=http,
        max_retries=0,
        timeout=httpx2.Timeout(idle, connect=limits.CONNECT_SECONDS),
    )


async def close_clients() -> None:
    """Close the running loop's connections; for whoever ends a loop that it started."""
    for client in _pools.pop(asyncio.get_running_loop(), {}).values():
        await client.close()
