"""Which model serves a guild, and what is said when none can."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from apps.guilds.models import Guild
from apps.providers import catalog, operations, registry
from apps.providers.addresses import UnsafeAddress
from apps.providers.apps import check_timeout
from apps.providers.clients import pool
from apps.providers.errors import ProviderError
from apps.providers.refusals import NotUsable
from apps.providers.resolver import Resolved, resolve
from apps.providers.types import Profile
from evals.model_server import ModelServer
from tests.providers.asking import KEY, a_request, collected, run


@pytest.mark.parametrize(
    ("base_url", "provider"),
    [
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.openai.com/v1/", "openai"),
        ("https://api.anthropic.com", "anthropic"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini"),
        ("http://127.0.0.1:11434/v1", "127.0.0.1"),
        ("https://OpenRouter.ai.example.com/v1", "openrouter.ai.example.com"),
        ("http://[::1", "unknown"),
        ("rubbish", "unknown"),
    ],
)
def test_provider_is_known_by_its_whole_host(base_url: str, provider: str) -> None:
    assert registry.provider_of(base_url) == provider


def test_without_a_key_the_house_model_serves(settings: Settings) -> None:
    settings.LLM_API_KEY = ""
    profile = registry.current_profile()
    assert profile == Profile(
        "house", "house model (no key)", "house model (no key)", is_house=True
    )
    assert type(registry.client_for(profile)).__name__ == "HouseModel"


@pytest.mark.parametrize(
    "base_url", ["rubbish", "ftp://host/v1", "http://", "http://[::1", "https://user:pass@host/v1"]
)
def test_impossible_base_url_is_told_without_showing_it(settings: Settings, base_url: str) -> None:
    settings.LLM_API_KEY, settings.LLM_MODEL = "sk-canary-4f1d9e77aa310b5c8e2f", "mine"
    settings.LLM_BASE_URL = base_url
    profile = registry.current_profile()
    assert profile.label
    with pytest.raises(ProviderError) as caught:
        registry.client_for(profile)
    assert "LLM_BASE_URL" in caught.value.message
    assert "pass" not in caught.value.message
    assert not caught.value.retryable


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "soon", None])
def test_waiting_time_that_is_none_stops_the_start(settings: Settings, seconds: object) -> None:
    settings.LLM_TIMEOUT = seconds
    with pytest.raises(ImproperlyConfigured, match="LLM_TIMEOUT"):
        check_timeout()


def stored(server: ModelServer, provider: str = "custom") -> Any:
    """A client as the key of a guild gets it."""
    return registry.client_of(provider, server.base_url + "/v1", KEY)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "openrouter", "custom"])
def test_key_is_sent_where_it_may_go_in_the_wire_of_its_provider(
    model_server: ModelServer, settings: Settings, provider: str
) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = ["127.0.0.1"]
    wire = catalog.get(provider).wire
    model_server.reset(
        {"rules": [{"when": {"wire": wire}, "reply": {"text": "fine"}}], "api_key": KEY}
    )
    done = run(collected(stored(model_server, provider), a_request()))[-1]
    assert (done.text, done.provider) == ("fine", provider)


def test_stored_address_is_guarded_and_the_operators_own_is_not(
    model_server: ModelServer, settings: Settings
) -> None:
    model_server.reset([{"reply": {"text": "fine"}}])
    settings.PROVIDER_ALLOWED_HOSTS = ["127.0.0.1"]
    client = stored(model_server)
    settings.PROVIDER_ALLOWED_HOSTS = []
    with pytest.raises(UnsafeAddress):
        stored(model_server)
    with pytest.raises(ProviderError) as caught:
        run(collected(client, a_request()))
    assert caught.value.code == "unreachable"
    assert model_server.requests == []
    trusted = registry.client_of("custom", model_server.base_url + "/v1", KEY, by_operator=True)
    assert run(collected(trusted, a_request()))[-1].text == "fine"


def test_failure_says_where_its_key_is_mended(
    model_server: ModelServer, settings: Settings
) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = ["127.0.0.1"]
    model_server.reset([{"reply": {"error": 401}}])
    with pytest.raises(ProviderError, match="the key under Providers"):
        run(collected(stored(model_server), a_request()))
    trusted = registry.client_of("custom", model_server.base_url + "/v1", KEY, by_operator=True)
    with pytest.raises(ProviderError, match="LLM_API_KEY"):
        run(collected(trusted, a_request()))


def test_key_is_in_no_repr_of_what_holds_it() -> None:
    client = registry.client_of("anthropic", "", KEY)
    headers = pool.key_headers("anthropic", KEY), pool.key_headers("openai", KEY)
    assert KEY not in repr((client, vars(client), headers))


def test_operators_own_model_is_reached_with_the_settings(
    model_server: ModelServer, settings: Settings
) -> None:
    settings.LLM_API_KEY, settings.LLM_MODEL = KEY, "mine"
    settings.LLM_BASE_URL = model_server.base_url + "/v1"
    settings.PROVIDER_ALLOWED_HOSTS = []
    model_server.reset({"rules": [{"reply": {"text": "fine"}}], "api_key": KEY})
    found = Resolved(
        provider="127.0.0.1",
        model="mine",
        owner="tenant",
        label="mine",
        base_url=settings.LLM_BASE_URL,
    )
    assert run(collected(registry.client_for(found), a_request()))[-1].text == "fine"
    assert run(collected(registry.client_for(registry.current_profile()), a_request()))
    with pytest.raises(NotUsable):
        registry.client_for(replace(found, base_url="https://elsewhere"))


def test_operators_own_key_may_be_of_the_other_wire(settings: Settings) -> None:
    settings.LLM_API_KEY, settings.LLM_MODEL = KEY, "mine"
    settings.LLM_BASE_URL = "https://api.anthropic.com"
    client = registry.client_for(registry.current_profile())
    assert repr(client) == "AnthropicMessages('api.anthropic.com')"


def test_house_serves_what_resolves_to_it() -> None:
    found = Resolved(provider="house", model="house model (no key)", owner="house", label="")
    assert type(registry.client_for(found)).__name__ == "HouseModel"


@pytest.mark.django_db
def test_key_of_a_guild_is_opened_for_its_call_and_no_longer_once_revoked(
    model_server: ModelServer, settings: Settings, guild: Guild
) -> None:
    settings.PROVIDER_ALLOWED_HOSTS = ["127.0.0.1"]
    rules = [{"when": {"wire": "anthropic"}, "reply": {"text": "fine"}}]
    model_server.reset({"rules": rules, "api_key": KEY})
    key = operations.add_credential(
        guild=guild,
        provider="anthropic",
        label="main",
        secret=KEY,
        base_url=model_server.base_url,
        actor=None,
    )
    operations.select_model(
        guild=guild,
        purpose="chat",
        credential=key,
        model="scripted-model",
        params={"temperature": 0.5},
        actor=None,
    )
    found = resolve(guild)
    assert run(collected(registry.client_for(found), a_request()))[-1].text == "fine"
    assert model_server.requests[0].body["temperature"] == 0.5
    operations.revoke(key, actor=None)
    with pytest.raises(NotUsable):
        registry.client_for(found)
