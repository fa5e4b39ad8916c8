"""Print what a guild's running day has cost."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core import clock, money
from apps.guilds.models import Guild
from apps.usage import budget
from apps.usage.models import UsageEvent


class Command(BaseCommand):
    help = "Print what the guild's day has cost so far, what is set aside, and what is left."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--guild", type=int, help="the guild's number; the first one if absent")
        parser.add_argument("--json", action="store_true", help="one JSON object, amounts in USD")

    def handle(self, *args: Any, **options: Any) -> None:
        guilds = Guild.objects.order_by("pk")
        if options["guild"]:
            guilds = guilds.filter(pk=options["guild"])
        guild = guilds.first()
        if guild is None:
            raise CommandError(
                "There is no such guild. Run bin/manage setup, or leave --guild out."
            )
        spend = budget.today(guild)
        events = UsageEvent.objects.filter(guild=guild, day=clock.business_day(guild))
        facts: dict[str, Any] = {
            "guild": guild.pk,
            "calls": events.count(),
            "spent_usd": str(spend.spent),
            "reserved_usd": str(spend.reserved),
            "left_usd": str(spend.left),
            "cap_usd": str(spend.cap),
            "resets_at": spend.resets_at.isoformat(),
        }
        self.stdout.write(json.dumps(facts) if options["json"] else _sentence(spend, facts))


def _sentence(spend: budget.Spend, facts: dict[str, Any]) -> str:
    return (
        f"{money.format_cost(spend.spent)} spent in {facts['calls']} calls, "
        f"{money.format_cost(spend.reserved)} set aside, {money.format_cost(spend.left)} left "
        f"of {money.format_cost(spend.cap)}; resets at {facts['resets_at']}."
    )
