"""The command that prints a guild's day."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from apps.guilds.models import Guild
from apps.usage import budget


@pytest.mark.django_db
def test_prints_one_object_or_one_sentence(
    guild: Guild, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.DAILY_AI_BUDGET = Decimal(5)
    budget.settle(budget.reserve(guild, Decimal(1)), Decimal("0.25"))
    budget.reserve(guild, Decimal(1))
    call_command("usage_today", "--guild", str(guild.pk), "--json")
    told = json.loads(capsys.readouterr().out)
    assert Decimal(told["spent_usd"]) == Decimal("0.25")
    assert Decimal(told["reserved_usd"]) == Decimal(1)
    assert Decimal(told["left_usd"]) == Decimal("3.75")
    call_command("usage_today", "--guild", str(guild.pk))
    assert "$0.2500 spent" in capsys.readouterr().out


@pytest.mark.django_db
def test_unknown_guild_is_told() -> None:
    with pytest.raises(CommandError, match="no such guild"):
        call_command("usage_today", "--guild", "987654")
