"""Rows of threads, runs and steps. The rows are the truth; workers come and go."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db import models
from django.db.models import Q

from apps.core import clock
from apps.guilds.models import Guild, Member
from apps.jobs.leases import LeasedQuerySet

LEASE = timedelta(seconds=20)
QUESTION_LIMIT = 100_000
RUN_STATUSES = ["queued", "running", "succeeded", "failed", "denied", "canceled"]


class ThreadQuerySet(models.QuerySet["Thread"]):
    def visible_to(self, member: Member) -> ThreadQuerySet:
        """A thread is its asker's."""
        return self.filter(guild_id=member.guild_id, member_id=member.pk)


class Thread(models.Model):
    """A conversation of one member with the agent."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    guild = models.ForeignKey(Guild, on_delete=models.CASCADE)
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="threads")
    title = models.CharField(max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(default=clock.now)

    objects: Any = ThreadQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["member", "-updated_at"], name="agents_thread_member_recent")
        ]

    def __str__(self) -> str:
        return self.title


class RunQuerySet(LeasedQuerySet["Run"]):
    lease = LEASE

    def visible_to(self, member: Member) -> RunQuerySet:
        return self.filter(guild_id=member.guild_id, thread__member_id=member.pk)

    def live(self) -> RunQuerySet:
        return self.filter(status__in=Run.LIVE)

    def claim(self, pk: UUID | str) -> Run | None:
        claimed = super().claim(pk)
        if claimed is None:
            return None
        related = self.select_related("guild", "member", "thread")
        run: Run | None = related.filter(pk=pk, lease_token=claimed.lease_token).first()
        return run


class Run(models.Model):
    """One question and everything done to answer it."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        DENIED = "denied"
        CANCELED = "canceled"

    class Reason(models.TextChoices):
        """Why it ended; a closed set."""

        COMPLETED = "completed"
        CANCELED = "canceled"
        STEP_LIMIT = "step_limit"
        DAILY_BUDGET = "daily_budget"
        DEADLINE = "deadline"
        PERMISSION_DENIED = "permission_denied"
        PROVIDER_FAILED = "provider_failed"
        EXECUTOR_FAILED = "executor_failed"
        REPEATED_CALL = "tool_limit"
        LOST = "lost"

    LIVE = (Status.QUEUED, Status.RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    number = models.PositiveIntegerField()
    guild = models.ForeignKey(Guild, on_delete=models.CASCADE)
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="runs")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="runs")
    retry_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True)
    question = models.TextField()
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.QUEUED)
    termination_reason = models.CharField(max_length=20, choices=Reason.choices, blank=True)
    error_message = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    marker = models.CharField(max_length=16)
    provider = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=120, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    turns = models.PositiveIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    canceled_by = models.ForeignKey(
        Member, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=clock.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects: Any = RunQuerySet.as_manager()

    class Meta:
        ordering = ["created_at", "number"]
        indexes = [
            models.Index(fields=["thread", "created_at"], name="agents_run_thread"),
            models.Index(
                fields=["status"],
                name="agents_run_live",
                condition=Q(status__in=["queued", "running"]),
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["guild", "number"], name="agents_run_number_once"),
            models.CheckConstraint(
                name="agents_run_status",
                condition=Q(status__in=RUN_STATUSES),
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.number}"

    @property
    def is_live(self) -> bool:
        return self.status in self.LIVE


class Step(models.Model):
    """One thing a run did: a model's turn, or a tool call."""

    class Kind(models.TextChoices):
        MODEL = "model"
        TOOL = "tool"

    class Status(models.TextChoices):
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        REFUSED = "refused"
        CANCELED = "canceled"

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    guild = models.ForeignKey(Guild, on_delete=models.CASCADE)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    index = models.PositiveIntegerField()
    turn = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    status = models.CharField(max_length=12, choices=Status.choices)
    reason = models.CharField(max_length=80, blank=True)
    text = models.TextField(blank=True)
    calls = models.JSONField(default=list)
    tool = models.CharField(max_length=100, blank=True)
    call_id = models.CharField(max_length=200, blank=True)
    arguments = models.JSONField(default=dict)
    result = models.JSONField(null=True)
    rows = models.IntegerField(null=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=Decimal(0))
    started_at = models.DateTimeField()
    ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["run", "index"], name="agents_step_index_once"),
            models.UniqueConstraint(
                fields=["run", "turn", "call_id"],
                name="agents_step_call_once",
                condition=Q(kind="tool"),
            ),
        ]

    def __str__(self) -> str:
        return f"step {self.index}: {self.kind} {self.tool}".strip()
