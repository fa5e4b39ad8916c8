"""What the clients of both wires share: attempts, bounds, closing, and charging."""

from __future__ import annotations

import asyncio
import logging
import random
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar
from urllib.parse import urlsplit

import httpx2

from apps.core.sealing import Secret
from apps.providers import limits
from apps.providers.catalog import WireName
from apps.providers.errors import ProviderError
from apps.providers.types import ChatRequest, Completion, TextDelta, ToolDelta

from . import pool
from .assembly import Assembly
from .failures import ENVIRONMENT, Failures, SdkErrors, Source
from .openai_wire import body_bytes

Item = TextDelta | ToolDelta | Completion
S = TypeVar("S", bound=pool.Client)
_BACKOFF_SECONDS = 0.25
_TALKATIVE = ("openai", "anthropic", "httpx2", "httpcore2")


class SdkStream(Protocol):
    """A stream of events as either SDK gives it."""

    @property
    def response(self) -> httpx2.Response: ...
    def __aiter__(self) -> AsyncIterator[Any]: ...
    async def close(self) -> None: ...


class WireClient(ABC):
    """Streams one request at a time from one endpoint; any number run side by side.

    Retries, redirects and proxy variables of the SDK are off. A failure before the first
    delta is tried again at most ``request.retries`` times, and never more often than
    ``limits.RETRIES``. Raises ProviderError; closes its response once, also when canceled.
    ``idle`` is in seconds. ``guarded`` calls public addresses only; it is for every base URL
    that is not the operator's own setting. ``source`` says where people mend a failure.
    ``options`` are those of the profile: each is sent as it is, what is left out is not sent.
    """

    wire: ClassVar[WireName]
    speaks: ClassVar[str]
    sdk: ClassVar[SdkErrors]
    assembly: ClassVar[type[Assembly]]

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        provider: str,
        idle: float,
        guarded: bool = False,
        source: Source = ENVIRONMENT,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._base_url = pool.root_of(self.wire, base_url)
        self.__key = Secret(api_key)
        self._provider = provider
        self._idle = idle
        self._guarded = guarded
        self._source = source
        self._options = options or {}
        self._where = urlsplit(base_url).hostname or "the provider"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._where!r})"

    async def stream(self, request: ChatRequest) -> AsyncIterator[Item]:
        """Deltas in order, then the completion."""
        most = self._options.get("max_output_tokens", request.max_output_tokens)
        request = replace(request, max_output_tokens=min(most, request.max_output_tokens))
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
        failures = Failures(
            where=self._where,
            model=request.model,
            wire=self.speaks,
            source=self._source,
            sdk=self.sdk,
        )
        input_bytes = body_bytes(request)
        if input_bytes > limits.REQUEST_BYTES:
            raise failures.error("too_large", "The question is too large to send. Shorten it.")
        assembly = self.assembly(
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
            async for event in stream:
                for delta in assembly.add(event):
                    yield delta
        except Exception as error:  # noqa: BLE001 - the edge of a foreign library
            raise _charged(_mid_stream(error, failures), assembly) from None
        finally:
            await stream.close()
        yield self._complete(stream, failures, assembly)

    @abstractmethod
    async def _open(self, request: ChatRequest) -> SdkStream:
        """Send the request; the SDK's stream of its answer."""

    @abstractmethod
    def _is_whole(self, stream: SdkStream, assembly: Assembly) -> bool:
        """True when the stream's last mark came."""

    def _sdk_client(self, build: Callable[..., S], **options: Any) -> S:
        """The shared SDK client, which never holds the key."""
        place = (self.wire, self._base_url, self.__key, self._idle, self._guarded)

        def made() -> S:
            _quiet()
            headers = pool.key_headers(self.wire, self.__key)
            return build(
                api_key="held by the transport",
                base_url=self._base_url,
                http_client=pool.http_client(headers, idle=self._idle, guarded=self._guarded),
                max_retries=0,
                timeout=pool.timeouts(self._idle),
                **options,
            )

        return pool.shared(place, made)

    def _complete(self, stream: SdkStream, failures: Failures, assembly: Assembly) -> Completion:
        """The completion, if the stream came to its proper end."""
        if assembly.empty:
            raise _charged(failures.rubbish("the stream is empty"), assembly)
        if not self._is_whole(stream, assembly):
            what = "the stream ended without its last mark, so part may be missing"
            raise _charged(failures.rubbish(what), assembly)
        try:
            return assembly.completion()
        except ProviderError as error:
            raise _charged(error, assembly) from None


def _quiet() -> None:
    """Keep requests, prompts included, out of the log, whatever an SDK's variable asks for."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def _mid_stream(error: Exception, failures: Failures) -> ProviderError:
    told = failures.translate(error)
    return failures.broken_off() if told.code == "unreachable" else told


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
