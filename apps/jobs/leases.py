"""Leases: one worker at a time holds a row of durable work, and a silent one loses it.

A model with a lease has the fields ``status`` (with ``queued``, ``running`` and ``failed``),
``attempt``, ``lease_token``, ``lease_until``, ``created_at`` and ``started_at``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar, TypeVar
from uuid import UUID, uuid4

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from apps.core import clock

M = TypeVar("M", bound=models.Model)
SETTLING = timedelta(seconds=5)


class LeasedQuerySet(models.QuerySet[M]):
    """Claiming, holding and losing rows; every step is one conditional update."""

    lease: ClassVar[timedelta] = timedelta(seconds=30)
    most_attempts: ClassVar[int] = 5

    def _free(self) -> Q:
        stale = Q(status="running", lease_until__lt=clock.now())
        return Q(status="queued") | stale

    def claimable(self) -> Any:
        """Rows that no message woke in time, and those whose worker has been silent."""
        old_enough = Q(created_at__lt=clock.now() - SETTLING)
        return self.filter(self._free(), old_enough, attempt__lt=self.most_attempts)

    def claim(self, pk: UUID | str) -> Any:
        """Mark a row running under a fresh lease; None when another worker has it."""
        token, now = uuid4(), clock.now()
        free = self.filter(self._free(), pk=pk, attempt__lt=self.most_attempts)
        changed = free.update(
            status="running",
            lease_token=token,
            lease_until=now + self.lease,
            attempt=F("attempt") + 1,
            started_at=Coalesce("started_at", now),
        )
        return self.filter(pk=pk, lease_token=token).first() if changed else None

    def held(self, row: Any) -> Any:
        """The row as long as this worker's lease token is still the row's."""
        return self.filter(pk=row.pk, lease_token=row.lease_token, status="running")

    def renew(self, row: Any) -> bool:
        """Hold on for another while; False when the row was lost."""
        return bool(self.held(row).update(lease_until=clock.now() + self.lease))

    def hand_back(self, row: Any) -> None:
        """Let another worker take the row over at once."""
        self.held(row).update(lease_until=clock.now())

    def given_up(self) -> Any:
        """Rows that went silent as often as a row may."""
        return self.filter(self._free(), attempt__gte=self.most_attempts)
