"""The page of what models cost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from apps.core import clock
from apps.usage.models import DayBudget, UsageEvent

pytestmark = pytest.mark.django_db


@pytest.fixture
def spent(member, settings):
    settings.DAILY_AI_BUDGET = Decimal("5.00")
    today = clock.business_day(member.guild)
    DayBudget.objects.create(guild=member.guild, day=today, spent=Decimal("1.25"))
    for back, cost in ((0, "1.25"), (1, "0.5"), (30, "9")):
        UsageEvent.objects.create(
            id=uuid4(), guild=member.guild, day=today - timedelta(days=back), provider="openai",
            model="small-3", purpose="chat", input_tokens=100, output_tokens=10, cost=Decimal(cost),
            status="succeeded", started_at=clock.now(), finished_at=clock.now(),
        )  # fmt: skip


def test_today_the_week_and_the_models(client, ada, spent):
    client.force_login(ada)
    body = client.get("/usage/").content.decode()
    assert "$1.25" in body
    assert "25 %" in body
    assert "$1.75" in body
    assert "small-3" in body
    assert "$9.00" not in body
    assert body.count('class="day"') == 7


def test_a_budget_of_zero_is_closed(client, ada, member, settings):
    settings.DAILY_AI_BUDGET = Decimal(0)
    client.force_login(ada)
    assert "a budget of zero starts nothing" in client.get("/usage/").content.decode()


def test_others_see_their_own_spending_or_nothing(client, stranger, clerk, spent):
    client.force_login(stranger)
    assert "small-3" not in client.get("/usage/").content.decode()
    client.force_login(clerk)
    assert client.get("/usage/").status_code == 403
