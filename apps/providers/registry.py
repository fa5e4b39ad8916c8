"""Which model serves a guild, and the client that reaches it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from . import addresses, catalog
from .errors import ProviderError
from .models import TENANT
from .resolver import Resolved, open_secret
from .types import ChatClient, Profile

HOUSE = "house"
HOUSE_MODEL = "house model (no key)"


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
    return catalog.name_of_host(host) or host or "unknown"


def client_for(profile: Profile | Resolved) -> ChatClient:
    """The client that serves a profile, or what the resolver found; opens its key just now.

    ProviderError names the setting that is missing, NotUsable a key that is gone meanwhile.
    """
    if profile.is_house:
        from .house import HouseModel

        return HouseModel()
    if not profile.model:
        raise ProviderError(
            "unsupported_model",
            "LLM_API_KEY is set but LLM_MODEL is not. Set LLM_MODEL to a model's name at "
            f"{profile.provider}, or unset the key to use the house model.",
        )
    secret = settings.LLM_API_KEY if isinstance(profile, Profile) else open_secret(profile)
    if isinstance(profile, Profile) or _is_environment(profile):
        _check_base_url(settings.LLM_BASE_URL)
        return client_of(profile.provider, settings.LLM_BASE_URL, secret, by_operator=True)
    return client_of(profile.provider, profile.base_url, secret, options=profile.params)


def client_of(
    provider: str,
    base_url: str,
    secret: str,
    *,
    options: Mapping[str, Any] | None = None,
    by_operator: bool = False,
) -> ChatClient:
    """A client for a key and where it may go; loads the SDK of that wire, and no other.

    ``by_operator`` trusts a base URL of the settings; every other one must be https and
    public, or listed in PROVIDER_ALLOWED_HOSTS, and is checked again at each connect.
    UnsafeAddress when it is neither. ``options`` are those of the profile.
    """
    known = catalog.PROVIDERS.get(provider, catalog.PROVIDERS["custom"])
    where = base_url if by_operator else addresses.checked(base_url or known.base_url)
    adapter = catalog.adapter(known.wire)
    from .clients.failures import ENVIRONMENT, STORED

    client: ChatClient = adapter(
        base_url=where,
        api_key=secret,
        provider=provider,
        idle=settings.LLM_TIMEOUT,
        guarded=not by_operator,
        source=ENVIRONMENT if by_operator else STORED,
        options=options,
    )
    return client


def _is_environment(found: Resolved) -> bool:
    """True for the operator's own setting, whose base URL nobody else could have written."""
    return found.owner == TENANT and found.credential_id is None


async def close_clients() -> None:
    """Close the running loop's connections to providers, whichever wires they speak."""
    pool = sys.modules.get("apps.providers.clients.pool")
    if pool is not None:
        await pool.close_clients()


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
