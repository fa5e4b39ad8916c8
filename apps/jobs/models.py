"""Rows of durable jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import models
from django.db.models import Q

from apps.guilds.models import Guild, Member

from .leases import LeasedQuerySet

LEASE = timedelta(seconds=30)


class JobQuerySet(LeasedQuerySet["Job"]):
    lease = LEASE

    def visible_to(self, member: Member) -> JobQuerySet:
        return self.filter(guild_id=member.guild_id)

    def claim(self, pk: UUID | str) -> Job | None:
        job: Job | None = super().claim(pk)
        return job


class Job(models.Model):
    """One piece of durable work. The row is the truth; a worker may die at any point."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELED = "canceled"

    LIVE = (Status.QUEUED, Status.RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    guild = models.ForeignKey(Guild, on_delete=models.CASCADE)
    kind = models.CharField(max_length=60)
    title = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.QUEUED)
    args = models.JSONField(default=dict)
    upload = models.CharField(max_length=255, blank=True)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    checkpoint = models.JSONField(default=dict)
    report = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    attempt = models.PositiveIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(Member, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects: Any = JobQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["guild", "-created_at"], name="jobs_job_guild_recent"),
            models.Index(
                fields=["status"],
                name="jobs_job_live",
                condition=Q(status__in=["queued", "running"]),
            ),
        ]
        constraints = [
            models.CheckConstraint(
                name="jobs_job_status",
                condition=Q(status__in=["queued", "running", "succeeded", "failed", "canceled"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.status}"

    @property
    def is_live(self) -> bool:
        return self.status in self.LIVE

    @property
    def percent(self) -> int | None:
        """Progress from 0 to 100; None while the length is not known."""
        return min(100, self.done * 100 // self.total) if self.total else None
