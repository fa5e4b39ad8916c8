"""How many tokens a byte of input may become: stated, and raised by what was seen."""

from __future__ import annotations

import math

from django.db import models

from apps.guilds.models import Guild
from apps.providers import limits
from apps.providers.types import Usage

from .models import TokenRatio


def most_input_tokens(guild: Guild, *, provider: str, model: str, input_bytes: int) -> int:
    """The most tokens that an input of that size is expected to be."""
    seen = _rows(guild, provider, model).values_list("tokens_per_byte", flat=True).first()
    return math.ceil(input_bytes * max(seen or 0.0, limits.INPUT_TOKENS_PER_BYTE))


def learn(guild: Guild, *, provider: str, model: str, input_bytes: int, usage: Usage) -> None:
    """Raise a model's ratio when a call took more tokens than its worst case allowed for.

    Never above ``limits.MOST_TOKENS_PER_BYTE``, so that a provider that counts wildly cannot
    close the budget.
    """
    if usage.estimated or input_bytes <= 0:
        return
    seen = min(usage.input_tokens / input_bytes, limits.MOST_TOKENS_PER_BYTE)
    if seen <= limits.INPUT_TOKENS_PER_BYTE:
        return
    row = TokenRatio(guild=guild, provider=provider[:100], model=model[:200], tokens_per_byte=seen)
    TokenRatio.objects.bulk_create([row], ignore_conflicts=True)
    _rows(guild, provider, model).filter(tokens_per_byte__lt=seen).update(tokens_per_byte=seen)


def _rows(guild: Guild, provider: str, model: str) -> models.QuerySet[TokenRatio]:
    return TokenRatio.objects.filter(guild=guild, provider=provider[:100], model=model[:200])
