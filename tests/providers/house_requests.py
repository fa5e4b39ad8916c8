"""Requests to the house model as the loop makes them, with the trade's fixed names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from apps.providers.house import MODEL, HouseModel, fixed_names
from apps.providers.house.scoring import specs
from apps.providers.types import ChatMessage, ChatRequest, Completion, TextDelta, ToolCall, ToolSpec

NOON = datetime(2026, 11, 12, 12, tzinfo=UTC)


def request(
    *messages: ChatMessage, tools: Iterable[ToolSpec] | None = None, now: datetime = NOON,
    time_zone: str = "UTC",
) -> ChatRequest:  # fmt: skip
    return ChatRequest(
        model=MODEL,
        messages=(ChatMessage("system", "You are the assistant."), *messages),
        tools=tuple(specs() if tools is None else tools),
        max_output_tokens=1024,
        guild_id=1,
        now=now,
        time_zone=time_zone,
        currency="USD",
    )


def streamed(asked: ChatRequest, model: HouseModel | None = None) -> list[Any]:
    """Everything that the model yields, in order."""

    async def collect() -> list[Any]:
        served = model or HouseModel(fixed_names.load)
        return [item async for item in served.stream(asked)]

    return asyncio.run(collect())


def completion(asked: ChatRequest, model: HouseModel | None = None) -> Completion:
    return streamed(asked, model)[-1]


def call_of(question: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """The tool and arguments that one question leads to; an empty name when none."""
    done = completion(request(ChatMessage("user", question), **more))
    if not done.tool_calls:
        return "", {}
    return done.tool_calls[0].name, json.loads(done.tool_calls[0].arguments)


def words_of(question: str, **more: Any) -> str:
    """What is said to one question; a call of a tool fails the test."""
    done = completion(request(ChatMessage("user", question), **more))
    assert not done.tool_calls, done.tool_calls
    return done.text


def exchange(
    question: str, tool: str, arguments: dict[str, Any], *results: dict[str, Any]
) -> list[ChatMessage]:
    """A question with one call per result, as the loop stores them."""
    calls = tuple(
        ToolCall(f"call_{number}", tool, json.dumps(arguments)) for number in range(len(results))
    )
    answers = [
        ChatMessage("tool", f"<data-9f>\n{json.dumps(result)}\n</data-9f>", tool_call_id=call.id)
        for call, result in zip(calls, results, strict=True)
    ]
    return [ChatMessage("user", question), ChatMessage("assistant", "", tool_calls=calls), *answers]


def answer_to(
    question: str, *results: dict[str, Any], tool: str = "stock_search", **arguments: Any
) -> str:
    """What the model says once the results are there."""
    done = completion(request(*exchange(question, tool, arguments, *results)))
    assert not done.tool_calls
    return done.text


def texts(items: Iterable[Any]) -> list[str]:
    return [item.text for item in items if isinstance(item, TextDelta)]
