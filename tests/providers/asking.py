"""Asking the clients of both wires of a scripted server, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar

from apps.providers.catalog import WireName
from apps.providers.clients.anthropic_messages import AnthropicMessages
from apps.providers.clients.calling import Item, WireClient
from apps.providers.clients.openai_chat import OpenAIChat
from apps.providers.clients.pool import close_clients
from apps.providers.types import ChatMessage, ChatRequest, Completion, ToolSpec
from evals.model_server import ModelServer

KEY = "sk-canary-4f1d9e77aa310b5c8e2f"
SEARCH = ToolSpec(
    "stock_search",
    "Find stock.",
    {"type": "object", "properties": {"q": {"type": "string"}}},
    examples=("never sent over a wire",),
)
CLIENTS: dict[WireName, type[WireClient]] = {
    "openai": OpenAIChat,
    "anthropic": AnthropicMessages,
}
T = TypeVar("T")


def a_request(question: str = "hello", **changes: Any) -> ChatRequest:
    values: dict[str, Any] = {
        "model": "scripted-model",
        "messages": (ChatMessage("system", "Be brief."), ChatMessage("user", question)),
        "tools": (SEARCH,),
        "max_output_tokens": 500,
        "guild_id": 1,
        "now": datetime(2026, 3, 4, 12, tzinfo=UTC),
        "retries": 0,
    }
    return ChatRequest(**(values | changes))


def a_client(
    server: ModelServer,
    *,
    idle: float = 5,
    provider: str = "local",
    wire: WireName = "openai",
    **more: Any,
) -> WireClient:
    base_url = server.base_url + "/v1"
    return CLIENTS[wire](base_url=base_url, api_key=KEY, provider=provider, idle=idle, **more)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run on a loop of its own, and close what it opened."""

    async def closing() -> T:
        try:
            return await work
        finally:
            await close_clients()

    return asyncio.run(closing())


async def collected(client: WireClient, request: ChatRequest) -> list[Item]:
    return [item async for item in client.stream(request)]


def ask(server: ModelServer, request: ChatRequest | None = None, **how: Any) -> list[Item]:
    """Every item of one answer."""
    return run(collected(a_client(server, **how), request or a_request()))


def answer(server: ModelServer, request: ChatRequest | None = None, **how: Any) -> Completion:
    """The completion of one answer, which is its last item and the only one of its kind."""
    items = ask(server, request, **how)
    ends = [item for item in items if isinstance(item, Completion)]
    assert items[-1:] == ends
    return ends[0]


async def from_bytes(body: bytes, *, idle: float = 5, wire: WireName = "openai") -> list[Item]:
    """Every item of an answer whose event stream is exactly these bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        base = f"http://127.0.0.1:{port}/v1"
        client = CLIENTS[wire](base_url=base, api_key=KEY, provider="local", idle=idle)
        return await collected(client, a_request())
