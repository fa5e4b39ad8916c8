"""Rows of the audit trail."""

from __future__ import annotations

from django.db import models


class Event(models.Model):
    """One thing that happened. The ``app`` login can add events, not change or delete them."""

    class Status(models.TextChoices):
        ALLOWED = "allowed"
        DENIED = "denied"
        SUCCEEDED = "succeeded"
        FAILED = "failed"

    guild_id = models.BigIntegerField(null=True)
    kind = models.CharField(max_length=40)
    status = models.CharField(max_length=12, choices=Status.choices)
    actor = models.CharField(max_length=120, blank=True)
    target = models.CharField(max_length=120, blank=True)
    reason = models.CharField(max_length=80, blank=True)
    metadata = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["guild_id", "-at"], name="audit_event_guild_at")]
        constraints = [
            models.CheckConstraint(
                name="audit_event_status",
                condition=models.Q(status__in=["allowed", "denied", "succeeded", "failed"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.status}"
