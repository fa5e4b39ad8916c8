"""Every response is closed exactly once, whatever becomes of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from apps.providers.catalog import WireName
from apps.providers.errors import ProviderError
from evals.model_server import ModelServer
from tests.providers.asking import a_client, a_request, collected, run

closings: list[int] = []
arrived = threading.Event()


class CountedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._number = len(closings)
        closings.append(0)
        arrived.set()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            yield chunk

    async def aclose(self) -> None:
        closings[self._number] += 1
        await self._inner.aclose()


class CountingTransport(httpx2.AsyncHTTPTransport):
    """The real transport; its responses count how often they are closed."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        response.stream = CountedStream(response.stream)
        return response


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    closings.clear()
    arrived.clear()
    monkeypatch.setattr(httpx2, "AsyncHTTPTransport", CountingTransport)


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "fine"},
        {"error": 500},
        {"garbage": "html"},
        {"garbage": "bytes"},
        {"garbage": "shape"},
        {"text": "one two", "cut": 1},
        {"text": "one two", "error": {"status": 502, "after": 1}},
        {"text": "one two", "silence": {"seconds": 9, "at": 1}},
        {"huge_event": 40_000_000},
    ],
    ids=str,
)
def test_response_is_closed_once(
    model_server: ModelServer, reply: dict[str, Any], wire: WireName
) -> None:
    model_server.reset([{"reply": reply}])
    try:
        run(collected(a_client(model_server, idle=0.4, wire=wire), a_request()))
    except ProviderError:
        assert reply != {"text": "fine"}
    assert closings == [1]


@pytest.mark.parametrize("at", ["headers", 1])
def test_canceled_response_is_closed_once(
    model_server: ModelServer, at: Any, wire: WireName
) -> None:
    silence = {"seconds": 9, "at": at}
    model_server.reset([{"reply": {"text": "one two", "silence": silence}}])

    async def cancel() -> None:
        task = asyncio.create_task(collected(a_client(model_server, wire=wire), a_request()))
        await asyncio.to_thread(arrived.wait, 30)
        await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    run(cancel())
    assert closings == [1]
