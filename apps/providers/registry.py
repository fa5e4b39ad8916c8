"""Which model serves a guild, and the client that reaches it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from .errors import ProviderError
from .types import ChatClient, Profile

HOUSE = "house"
HOUSE_MODEL = "house model (no key)"
_KNOWN_HOSTS = {"openrouter.ai": "openrouter", "api.openai.com": "openai"}


def current_profile(guild: Any = None) -> Profile:
    """The model that answers for a guild: the house model while no key is set.

    Until credentials exist every guild has the one of the settings. Never raises, so that a
    page can show it; a missing or impossible setting is told when a client is asked for.
    """
    if not settings.LLM_API_KEY:
        return Profile(HOUSE, HOUSE_MODEL, HOUSE_MODEL, is_house=True)
    provider = provider_of(settings.LLM_BASE_URL)
    model = settings.LLM_MODEL
    label = f"{model} at {provider}" if model else "no model chosen (set LLM_MODEL)"
    return Profile(provider, model, label, is_house=False)


def provider_of(base_url: str) -> str:
    """A provider's short name from its base URL; its host where it has none."""
    host = (_split(base_url).hostname or "").lower()
    return _KNOWN_HOSTS.get(host, host) or "unknown"


def client_for(profile: Profile) -> ChatClient:
    """The client that serves a profile. ProviderError names the setting that is missing."""
    if profile.is_house:
        from .house import HouseModel

        return HouseModel()
    if not profile.model:
        raise ProviderError(
            "unsupported_model",
            "LLM_API_KEY is set but LLM_MODEL is not. Set LLM_MODEL to a model's name at "
            f"{profile.provider}, or unset the key to use the house model.",
        )
    _check_base_url(settings.LLM_BASE_URL)
    from .clients.openai_chat import OpenAIChat

    return OpenAIChat(
        base_url=settings.LLM_BASE_URL,
        api_key=settings.LLM_API_KEY,
        provider=profile.provider,
        idle=settings.LLM_TIMEOUT,
    )


def _split(base_url: str) -> Any:
    try:
        parts = urlsplit(base_url)
        parts.port  # noqa: B018 - raises where the port is no number
    except ValueError:
        return urlsplit("")
    return parts


def _check_base_url(base_url: str) -> None:
    parts = _split(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise ProviderError(
            "unreachable",
            "LLM_BASE_URL must be an http or https address without a user name in it, such as "
            "https://openrouter.ai/api/v1.",
            retryable=False,
        )
