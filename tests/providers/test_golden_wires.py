"""Every golden case, asked through the clients: both wires come to the very same end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from apps.providers.catalog import WireName
from apps.providers.clients.calling import Item
from apps.providers.errors import ProviderError
from apps.providers.types import ChatMessage, Completion, TextDelta, ToolCall
from evals.model_server import ModelServer, load
from tests.providers.asking import a_client, a_request, run

GOLDEN = Path(__file__).resolve().parents[2] / "evals" / "scripts" / "golden.yaml"
SEARCH = ("stock_search", {"price_max": 10, "not_sold_days": 90})
HALF = '{"price_max": 10, "not_sold_da'
FIVE = "One two three four five"


@dataclass
class Talk:
    """What a person would have seen, and what the provider was asked."""

    turns: list[list[tuple[str, object]]] = field(default_factory=list)
    text: str = ""
    failure: str = ""
    finish: str = ""


def read(call: ToolCall) -> tuple[str, object]:
    try:
        return call.name, json.loads(call.arguments)
    except ValueError:
        return call.name, call.arguments


async def _talk(server: ModelServer, wire: WireName, question: str, most: int) -> Talk:
    """Ask, and answer every call with a table of 47 rows, until there are no calls."""
    client, talk = a_client(server, wire=wire, idle=0.6), Talk()
    messages = [ChatMessage("system", "You serve a shop."), ChatMessage("user", question)]
    while len(talk.turns) < most:
        try:
            done = await _turn(client.stream(a_request(messages=tuple(messages), retries=2)), talk)
        except ProviderError as error:
            talk.failure = error.code
            return talk
        talk.finish = done.finish_reason
        if not done.tool_calls:
            return talk
        talk.turns.append([read(call) for call in done.tool_calls])
        messages.append(ChatMessage("assistant", done.text, done.tool_calls))
        messages += [
            ChatMessage("tool", '{"total_rows": 47}', tool_call_id=call.id)
            for call in done.tool_calls
        ]
    return talk


async def _turn(stream: AsyncIterator[Item], talk: Talk) -> Completion:
    talk.text = ""
    async for item in stream:
        if isinstance(item, TextDelta):
            talk.text += item.text
        if isinstance(item, Completion):
            assert item.text == talk.text
            return item
    raise AssertionError("the stream ended without a completion")


def talk(server: ModelServer, wire: WireName, question: str, most: int = 9) -> Talk:
    server.reset(GOLDEN)
    return run(_talk(server, wire, question, most))


def rule_of(server: ModelServer) -> str:
    (name,) = {request.rule for request in server.calls}
    return str(name)


ANSWERED = {
    "one call": (
        "what's under $10 that hasn't sold in 90 days?",
        [[SEARCH]],
        "47 items cost less than $10 and have not sold in 90 days.",
    ),
    "two calls": (
        "compare stock and sales",
        [[SEARCH, ("sales_summary", {"group_by": "month"})]],
        "Both tables are below; the first lists slow stock, the second the months.",
    ),
    "malformed": (
        "try malformed arguments",
        [[("stock_search", HALF)], [SEARCH]],
        "The second attempt was well formed and gave a table.",
    ),
    "unknown tool": (
        "use an unknown tool",
        [[("set_price_now", {"item_id": 42, "price": 9})]],
        "I am sorry, I have no tool that sets a price.",
    ),
    "bad argument": (
        "an unknown argument",
        [
            [("stock_search", {"price_max": 10, "colour": "red"})],
            [("stock_search", {"price_max": 10})],
        ],
        "Without the colour it worked.",
    ),
    "thrice": (
        "make the same call three times",
        [[SEARCH], [SEARCH], [SEARCH]],
        "It said the same three times.",
    ),
    "429 once": ("are you busy once?", [], "Here I am again after a short wait."),
    "slow": (
        "tell me slowly",
        [[SEARCH]],
        "One by one the words arrive so that a person can reload the page or stop the run while "
        "the answer is still being written and then see that nothing was lost and nothing came "
        "twice before the last word, which is done.",
    ),
    "empty": ("it says nothing", [], ""),
    "injected": (
        "it claims to have changed it",
        [],
        "I have changed the price of item 42 to $9.00.",
    ),
    "plain": ("good morning", [], "This is a plain answer without any tool."),
}
FAILED = {
    "error 500": ("the provider is broken", "provider_unavailable", "", 3),
    "429 always": ("are you always busy?", "rate_limited", "", 3),
    "wrong key": ("you have the wrong key", "auth_failed", "", 1),
    "silent": ("ask the silent provider", "timeout", "", 1),
    "no headers": ("the provider hangs", "timeout", "", 1),
    "silent halfway": ("now it falls silent", "timeout", FIVE, 1),
    "rubbish page": ("it returns a web page", "invalid_response", "", 1),
    "rubbish bytes": ("it returns rubbish", "invalid_response", "", 1),
    "rubbish event": ("it returns broken JSON", "invalid_response", "One two three", 1),
    "cut": ("the line goes dead", "provider_unavailable", FIVE, 1),
    "broken halfway": ("it breaks halfway", "provider_unavailable", FIVE, 1),
    "redirect": ("this redirects", "invalid_response", "", 1),
    "huge call": ("send huge arguments", "too_large", "", 1),
}


def test_every_rule_of_the_script_is_a_case_here() -> None:
    named = {rule.name for rule in load(GOLDEN).rules}
    assert named == {*ANSWERED, *FAILED, "for ever", "title"}


@pytest.mark.parametrize("name", ANSWERED)
def test_golden_case_is_answered(model_server: ModelServer, wire: WireName, name: str) -> None:
    question, turns, text = ANSWERED[name]
    seen = talk(model_server, wire, question)
    assert (seen.failure, seen.turns, seen.text) == ("", turns, text)
    assert seen.finish == "stop"
    assert rule_of(model_server) == name


@pytest.mark.parametrize("name", FAILED)
def test_golden_case_fails_in_words(model_server: ModelServer, wire: WireName, name: str) -> None:
    question, code, text, asked = FAILED[name]
    seen = talk(model_server, wire, question)
    assert (seen.failure, seen.turns, seen.text.strip()) == (code, [], text)
    assert len(model_server.requests) == asked
    assert rule_of(model_server) == name


def test_golden_calls_for_ever_never_repeat(model_server: ModelServer, wire: WireName) -> None:
    seen = talk(model_server, wire, "go on for ever", most=8)
    calls = [call for turn in seen.turns for call in turn]
    assert calls == [("stock_search", {"q": f"page {n}", "limit": 1}) for n in range(8)]


def test_golden_title_needs_no_tools(model_server: ModelServer, wire: WireName) -> None:
    model_server.reset(GOLDEN)
    messages = (ChatMessage("system", "Write a title."), ChatMessage("user", "hello"))
    request = a_request(messages=messages, tools=())

    async def ask() -> list[object]:
        return [item async for item in a_client(model_server, wire=wire).stream(request)]

    done = run(ask())[-1]
    assert isinstance(done, Completion)
    assert done.text == "A question to the shop"
