"""Which model serves a guild, and what is said when none can."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from apps.providers import registry
from apps.providers.apps import check_timeout
from apps.providers.errors import ProviderError
from apps.providers.types import Profile


@pytest.mark.parametrize(
    ("base_url", "provider"),
    [
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.openai.com/v1/", "openai"),
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
