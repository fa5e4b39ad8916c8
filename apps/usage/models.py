"""What was spent, what the day still holds, and what is spoken for."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import TypedDict

from django.db import models
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce


class Totals(TypedDict):
    """Sums over usage events; ``cost`` in USD."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal


class UsageEventQuerySet(models.QuerySet["UsageEvent"]):
    def totals(self) -> Totals:
        """Calls, tokens and cost of these events, zero where there are none."""
        found = self.aggregate(
            calls=Count("pk"),
            input_tokens=Coalesce(Sum("input_tokens"), 0),
            output_tokens=Coalesce(Sum("output_tokens"), 0),
            cost=Coalesce(Sum("cost"), Decimal(0), output_field=cost_field()),
        )
        return Totals(
            calls=found["calls"],
            input_tokens=found["input_tokens"],
            output_tokens=found["output_tokens"],
            cost=found["cost"],
        )


def cost_field() -> models.DecimalField[Decimal, Decimal]:
    """USD with eight places: a token may cost a millionth of a cent."""
    return models.DecimalField(max_digits=14, decimal_places=8, default=Decimal(0))


class UsageEvent(models.Model):
    """One call of a model, whatever became of it. ``day`` is the guild's business day.

    ``estimated`` marks counts that were derived because the provider gave none. A run or a
    step lives in a higher room, so both are plain UUIDs.
    """

    class Status(models.TextChoices):
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELED = "canceled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    guild = models.ForeignKey("guilds.Guild", on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    run_id = models.UUIDField(null=True)
    step_id = models.UUIDField(null=True)
    attempt = models.PositiveIntegerField(default=1)
    provider = models.CharField(max_length=100)
    model = models.CharField(max_length=200)
    purpose = models.CharField(max_length=40)
    owner = models.CharField(max_length=40, blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    cost = cost_field()
    status = models.CharField(max_length=9, choices=Status.choices)
    estimated = models.BooleanField(default=False)
    error_class = models.CharField(max_length=100, blank=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField()

    objects = UsageEventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["guild", "day"], name="usage_event_day"),
            models.Index(
                fields=["run_id"], name="usage_event_run", condition=Q(run_id__isnull=False)
            ),
            models.Index(
                fields=["step_id"], name="usage_event_step", condition=Q(step_id__isnull=False)
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(cost__gte=0), name="usage_event_cost_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.model}: {self.status}"


class DayBudget(models.Model):
    """One guild's day: the row that every reservation locks, and what is settled so far."""

    guild = models.ForeignKey("guilds.Guild", on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    spent = cost_field()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["guild", "day"], name="usage_one_budget_a_day"),
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.spent} USD"


class Reservation(models.Model):
    """The worst case of a call under way. Its usage event gets the same id.

    An open one past ``expires_at`` belongs to a dead worker and is charged in full; if its
    call ends after all, the charge is corrected to what it really cost.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    guild = models.ForeignKey("guilds.Guild", on_delete=models.CASCADE, related_name="+")
    budget = models.ForeignKey(DayBudget, on_delete=models.CASCADE, related_name="reservations")
    amount = cost_field()
    charged = cost_field()
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    provider = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    purpose = models.CharField(max_length=40, blank=True)
    run_id = models.UUIDField(null=True)
    step_id = models.UUIDField(null=True)
    attempt = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["budget", "expires_at"],
                name="usage_open_reservation",
                condition=Q(settled_at__isnull=True),
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__gte=0), name="usage_reservation_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount} USD for {self.model}"


class TokenRatio(models.Model):
    """The most tokens a byte of input has cost with one model, where above the stated ratio."""

    guild = models.ForeignKey("guilds.Guild", on_delete=models.CASCADE, related_name="+")
    provider = models.CharField(max_length=100)
    model = models.CharField(max_length=200)
    tokens_per_byte = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["guild", "provider", "model"], name="usage_one_ratio_a_model"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model}: {self.tokens_per_byte:.3f}"
