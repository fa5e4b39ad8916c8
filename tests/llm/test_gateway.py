"""The one door: reserve, call, price, record, settle, also on failure and cancel."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.db import connection, connections
from pytest_django import Settings

from apps.core import clock, reading
from apps.guilds.models import Guild
from apps.llm import gateway
from apps.providers.errors import ProviderError
from apps.providers.types import ChatMessage, ChatRequest, Completion, Delta, TextDelta
from apps.usage import budget
from apps.usage.errors import BudgetRefused, UnpricedModel
from apps.usage.models import Reservation, TokenRatio, UsageEvent
from evals.model_server import ModelServer

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}
T = TypeVar("T")

pytestmark = pytest.mark.usefixtures("own_db")


def a_request(guild: Guild, question: str = "hello", **changes: Any) -> ChatRequest:
    values: dict[str, Any] = {
        "model": "scripted-model",
        "messages": (ChatMessage("user", question),),
        "tools": (),
        "max_output_tokens": 500,
        "guild_id": guild.pk,
        "now": clock.now(),
        "retries": 0,
    }
    return ChatRequest(**(values | changes))


def run(work: Coroutine[Any, Any, T]) -> T:
    async def closing() -> T:
        try:
            return await work
        finally:
            await gateway.close_connections()

    return asyncio.run(closing())


def ask(guild: Guild, question: str = "hello", *, model: str = "", **how: Any) -> Completion:
    request = a_request(guild, question, model=model)
    return run(gateway.stream(request, guild=guild, **how))


def test_answer_is_priced_recorded_and_settled(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "fine", "usage": USAGE | {"cached_tokens": 40}}}])
    run_id, step_id = uuid4(), uuid4()
    done = ask(guild, run_id=run_id, step_id=step_id, attempt=2, purpose="chat")
    assert done.text == "fine"
    assert done.usage is not None
    assert done.usage.cost == Decimal("0.0012")
    event = UsageEvent.objects.get()
    assert (event.run_id, event.step_id, event.attempt) == (run_id, step_id, 2)
    assert (event.provider, event.model) == ("127.0.0.1", "scripted-model")
    assert (event.input_tokens, event.output_tokens, event.cached_tokens) == (1000, 100, 40)
    assert (event.cost, event.status, event.estimated) == (Decimal("0.0012"), "succeeded", False)
    assert event.day == clock.business_day(guild)
    assert event.started_at <= event.finished_at
    spend = budget.today(guild)
    assert (spend.spent, spend.reserved) == (Decimal("0.0012"), Decimal(0))


def test_worst_case_is_set_aside_while_the_call_runs(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "fine", "usage": USAGE}}])
    seen: list[Decimal] = []

    def look(delta: Delta) -> None:
        def reserved() -> Decimal:
            try:
                return Reservation.objects.get(settled_at=None).amount
            finally:
                connections.close_all()

        with ThreadPoolExecutor(1) as pool:
            seen.append(pool.submit(reserved).result())

    ask(guild, on_delta=look)
    # 500 tokens written at 2 USD a million, and what is read at half a token a byte.
    assert seen
    assert Decimal("0.001") < seen[0] < Decimal("0.0011")


def test_call_over_the_budget_is_never_sent(
    scripted: ModelServer, guild: Guild, settings: Settings
) -> None:
    scripted.reset([{"reply": {"text": "fine"}}])
    settings.DAILY_AI_BUDGET = Decimal("0.0009")
    with pytest.raises(BudgetRefused, match="DAILY_AI_BUDGET"):
        ask(guild)
    assert scripted.requests == []
    assert not UsageEvent.objects.exists()


def test_unpriced_model_is_never_called(
    scripted: ModelServer, guild: Guild, settings: Settings
) -> None:
    scripted.reset([{"reply": {"text": "fine"}}])
    settings.LLM_INPUT_PRICE = settings.LLM_OUTPUT_PRICE = None
    with pytest.raises(UnpricedModel, match="LLM_OUTPUT_PRICE"):
        ask(guild)
    assert scripted.requests == []
    assert not Reservation.objects.exists()


def test_key_without_a_model_says_what_to_set(
    scripted: ModelServer, guild: Guild, settings: Settings
) -> None:
    settings.LLM_MODEL = ""
    assert "LLM_MODEL" in gateway.current_profile(guild).label
    with pytest.raises(ProviderError, match="LLM_MODEL"):
        ask(guild)


def test_failure_before_an_answer_costs_nothing_and_is_recorded(
    scripted: ModelServer, guild: Guild
) -> None:
    scripted.reset([{"reply": {"error": 401}}])
    with pytest.raises(ProviderError) as caught:
        ask(guild)
    assert caught.value.code == "auth_failed"
    event = UsageEvent.objects.get()
    assert (event.status, event.error_class, event.cost) == ("failed", "auth_failed", Decimal(0))
    assert budget.today(guild).reserved == 0


def test_failure_in_the_middle_is_charged_as_an_estimate(
    scripted: ModelServer, guild: Guild
) -> None:
    scripted.reset([{"reply": {"text": "one two three", "cut": 2}}])
    with pytest.raises(ProviderError):
        ask(guild)
    event = UsageEvent.objects.get()
    assert (event.status, event.estimated) == ("failed", True)
    assert event.cost > 0
    assert budget.today(guild).spent == event.cost


def test_usage_that_nobody_counted_is_an_estimate(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "x" * 400, "usage": None}}])
    done = ask(guild)
    event = UsageEvent.objects.get()
    assert event.estimated
    assert event.output_tokens == 100
    assert done.usage is not None
    assert done.usage.cost == event.cost > 0


@pytest.mark.parametrize("at", ["request", "headers", 2])
def test_cancel_is_quick_and_charged_once(scripted: ModelServer, guild: Guild, at: Any) -> None:
    silence = {"seconds": 20, "at": at}
    scripted.reset([{"reply": {"text": "one two three", "silence": silence}}])

    async def cancel() -> tuple[float, float]:
        task = asyncio.create_task(gateway.stream(a_request(guild), guild=guild))
        await asyncio.to_thread(scripted.wait_for, 1)
        await asyncio.sleep(0.2)
        canceled_at = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return canceled_at, time.monotonic()

    canceled_at, ended_at = run(cancel())
    assert scripted.wait_until_closed(scripted.requests[0]) - canceled_at < 0.5
    assert ended_at - canceled_at < 1
    event = UsageEvent.objects.get()
    assert (event.status, event.estimated, event.error_class) == ("canceled", True, "canceled")
    assert event.cost > 0
    spend = budget.today(guild)
    assert (spend.spent, spend.reserved) == (event.cost, Decimal(0))


def test_cancel_while_reserving_gives_everything_back(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "fine"}}])

    async def cancel_at_once() -> None:
        task = asyncio.create_task(gateway.stream(a_request(guild), guild=guild))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(cancel_at_once())
    assert scripted.requests == []
    spend = budget.today(guild)
    assert (spend.spent, spend.reserved) == (Decimal(0), Decimal(0))


def test_error_of_the_listener_ends_the_call(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "one two", "silence": {"seconds": 20, "at": 1}}}])

    async def refuse(delta: Delta) -> None:
        raise PermissionError("the lease is lost")

    began = time.monotonic()
    with pytest.raises(PermissionError):
        ask(guild, on_delta=refuse)
    assert time.monotonic() - began < 3
    scripted.wait_until_closed(scripted.requests[0])
    event = UsageEvent.objects.get()
    assert (event.status, event.error_class) == ("failed", "PermissionError")
    assert event.estimated


def test_fifty_calls_side_by_side_are_each_charged_once(
    scripted: ModelServer, guild: Guild
) -> None:
    scripted.reset([{"reply": {"text": "you said ${question}", "usage": USAGE, "delta_ms": 20}}])

    async def all_of_them() -> list[Completion]:
        asked = [gateway.stream(a_request(guild, f"number {n}"), guild=guild) for n in range(50)]
        return await asyncio.gather(*asked)

    done = run(all_of_them())
    assert [one.text for one in done] == [f"you said number {n}" for n in range(50)]
    spend = budget.today(guild)
    assert (spend.spent, spend.reserved) == (50 * Decimal("0.0012"), Decimal(0))
    assert UsageEvent.objects.totals()["calls"] == 50


def test_no_connection_is_held_while_a_model_is_silent(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": "one two", "silence": {"seconds": 1, "at": 1}}}])
    held: list[int] = []

    async def look_meanwhile() -> None:
        task = asyncio.create_task(gateway.stream(a_request(guild), guild=guild))
        await asyncio.to_thread(scripted.wait_for, 1)
        await asyncio.sleep(0.3)
        held.append(await asyncio.to_thread(open_connections))
        await task

    before = open_connections()
    run(look_meanwhile())
    assert held == [before]


def open_connections() -> int:
    """Connections of the app login to this test's database, but for the one that asks."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND usename = current_user AND pid <> pg_backend_pid()"
            )
            return int(cursor.fetchone()[0])
    finally:
        connections.close_all()


def test_gateways_rows_are_written_as_app_even_inside_a_reading_scope(
    scripted: ModelServer, guild: Guild
) -> None:
    scripted.reset([{"reply": {"text": "fine", "usage": USAGE}}])
    with reading.scope(guild.pk):
        ask(guild)
    assert UsageEvent.objects.get().status == "succeeded"


def test_first_delta_goes_at_once_and_held_text_does_not_wait_for_the_next(
    scripted: ModelServer, guild: Guild
) -> None:
    words = ["one ", "two ", "three"]
    silence = {"seconds": 1.0, "at": 2}
    scripted.reset([{"reply": {"text": words, "silence": silence, "delta_ms": 5}}])
    came: list[tuple[float, str]] = []

    async def note(delta: Delta) -> None:
        assert isinstance(delta, TextDelta)
        came.append((time.monotonic(), delta.text))

    done = ask(guild, on_delta=note)
    assert [text for _, text in came] == words
    assert came[1][0] - came[0][0] < 0.4
    assert came[2][0] - came[1][0] > 0.5
    assert done.text == "one two three"


def test_many_small_deltas_are_joined(scripted: ModelServer, guild: Guild) -> None:
    scripted.reset([{"reply": {"text": ["x"] * 400}}])
    came: list[Delta] = []
    done = ask(guild, on_delta=came.append)
    assert "".join(delta.text for delta in came if isinstance(delta, TextDelta)) == done.text
    assert 1 <= len(came) < 100


def test_model_that_takes_more_tokens_than_stated_gets_a_larger_worst_case(
    scripted: ModelServer, guild: Guild
) -> None:
    scripted.reset([{"reply": {"text": "fine", "usage": USAGE | {"prompt_tokens": 60}}}])
    ask(guild)
    ask(guild)
    first, second = Reservation.objects.order_by("created_at")
    assert first.input_tokens < 60 == second.input_tokens
    assert second.amount > first.amount


def test_provider_that_counts_wildly_raises_the_ratio_to_its_bound(
    scripted: ModelServer, guild: Guild
) -> None:
    wild = USAGE | {"prompt_tokens": 10_000}
    scripted.reset([{"attempts": [{"text": "fine", "usage": wild}, {"text": "fine"}]}])
    ask(guild)
    ask(guild)
    assert TokenRatio.objects.get().tokens_per_byte == 4.0


def test_answer_survives_a_ledger_that_is_away_and_stays_set_aside(
    scripted: ModelServer, guild: Guild
) -> None:
    scripted.reset([{"reply": {"text": "one two", "usage": USAGE}}])

    def lose_the_ledger(delta: Delta) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(rename_ledger).result()

    assert ask(guild, on_delta=lose_the_ledger).text == "one two"
    assert Reservation.objects.get().settled_at is None
    assert budget.today(guild).reserved > 0


def rename_ledger() -> None:
    try:
        with connections["owner"].cursor() as cursor:
            cursor.execute("ALTER TABLE IF EXISTS usage_usageevent RENAME TO usage_away")
    finally:
        connections.close_all()


def test_key_and_question_stay_out_of_rows_logs_and_errors(
    scripted: ModelServer, guild: Guild, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key = django_settings.LLM_API_KEY
    replies = [{"error": {"status": 400, "message": key, "code": key}}, {"text": "fine"}]
    scripted.reset([{"attempts": replies}])
    with pytest.raises(ProviderError) as caught:
        ask(guild, "canary question")
    ask(guild, "canary question")
    rows = [str(row) for model in (UsageEvent, Reservation) for row in model.objects.values()]
    told = " ".join([*rows, repr(caught.value), str(gateway.current_profile(guild)), caplog.text])
    assert len(rows) == 4
    assert key not in told
    assert "canary" not in told


def test_house_model_answers_without_a_key_and_costs_nothing(
    scripted: ModelServer, guild: Guild, settings: Settings
) -> None:
    settings.LLM_API_KEY = ""
    settings.DAILY_AI_BUDGET = Decimal(0)
    profile = gateway.current_profile(guild)
    assert (profile.provider, profile.is_house) == ("house", True)
    assert "no key" in profile.label
    done = ask(guild, "good morning", model=profile.model)
    assert done.text
    assert scripted.requests == []
    event = UsageEvent.objects.get()
    assert (event.provider, event.cost, event.status) == ("house", Decimal(0), "succeeded")
    assert not event.estimated
    assert not Reservation.objects.exists()


def test_warming_up_asks_nothing_and_never_fails(scripted: ModelServer, settings: Settings) -> None:
    gateway.warm_up()
    settings.LLM_BASE_URL = "rubbish"
    gateway.warm_up()
    settings.LLM_API_KEY = ""
    gateway.warm_up()
    assert scripted.requests == []


def test_web_process_imports_no_provider_sdk() -> None:
    code = (
        "import django, sys; django.setup(); import apps.llm.gateway, apps.llm.calls;"
        "print(sorted({'openai', 'anthropic', 'httpx2'} & set(sys.modules)))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=django_settings.BASE_DIR,
        check=True,
    )
    assert told.stdout.strip() == "[]"
