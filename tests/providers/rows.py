"""Keys and models that the suites of this room begin with."""

from __future__ import annotations

from typing import Any

from apps.guilds.models import Guild, Member
from apps.providers import operations
from apps.providers.models import Credential, ModelProfile

SECRET = "sk-canary-" + "7e42c9" * 6
OTHER = "sk-canary-" + "15ab8d" * 6


def add(guild: Guild, label: str = "Shop main", **more: Any) -> Credential:
    values: dict[str, Any] = {"provider": "openai", "secret": SECRET, "actor": None}
    return operations.add_credential(guild=guild, label=label, **(values | more))


def choose(
    guild: Guild, key: Credential, purpose: str = "chat", model: str = "gpt-x", **more: Any
) -> ModelProfile:
    values: dict[str, Any] = {"actor": None}
    return operations.select_model(
        guild=guild, purpose=purpose, credential=key, model=model, **(values | more)
    )


def other_guild() -> tuple[Guild, Member]:
    guild = Guild.objects.create(name="Quayside Fair")
    return guild, Member.objects.create(guild=guild, display_name="Sam Strange", is_owner=True)
