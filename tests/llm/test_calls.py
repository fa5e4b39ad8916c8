"""Bounded text calls: what is asked for is a bound, and it holds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from apps.guilds.models import Guild
from apps.llm import calls
from apps.providers.errors import ProviderError
from apps.usage import budget
from apps.usage.models import UsageEvent
from evals.model_server import ModelServer

pytestmark = pytest.mark.usefixtures("own_db")


def ask(guild: Guild, prompt: str = "Name this thread: slow stock", **changes: Any) -> str:
    bounds: dict[str, Any] = {
        "seconds": 30,
        "retries": 0,
        "max_input_bytes": 1000,
        "max_output_tokens": 20,
    }
    return calls.text_now(prompt, guild=guild, purpose="title", **(bounds | changes))


def test_text_leaves_a_usage_event_of_its_purpose(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "Slow stock"}}])
    assert ask(guild, system="Three words.") == "Slow stock"
    sent = scripted.requests[0].body
    assert sent["max_tokens"] == 20
    assert "tools" not in sent
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert UsageEvent.objects.get().purpose == "title"


def test_input_over_its_bound_is_never_sent(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "fine"}}])
    with pytest.raises(ProviderError) as caught:
        ask(guild, "é" * 501)
    assert caught.value.code == "too_large"
    assert "1,002" in caught.value.message
    assert scripted.requests == []


def test_time_is_up_and_the_call_is_charged(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "late", "silence": 20}}])
    began = time.monotonic()
    with pytest.raises(ProviderError) as caught:
        ask(guild, seconds=0.6)
    assert caught.value.code == "timeout"
    assert time.monotonic() - began < 3
    event = UsageEvent.objects.get()
    assert (event.status, event.estimated) == ("canceled", True)
    assert budget.today(guild).reserved == 0


@pytest.mark.parametrize(("retries", "asked"), [(0, 1), (1, 2)])
def test_tries_again_as_often_as_asked(
    scripted: ModelServer, guild: Guild, retries: int, asked: int
) -> None:
    scripted.reset([{"reply": {"error": 503}}])
    with pytest.raises(ProviderError):
        ask(guild, retries=retries)
    assert len(scripted.requests) == asked
    assert UsageEvent.objects.count() == 1
