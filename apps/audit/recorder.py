"""Audit has one door: :func:`record`."""

from __future__ import annotations

import logging
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import DatabaseError, transaction

from apps.core import clock

from .kinds import KINDS, LONGEST
from .models import Event

log = logging.getLogger("gatehouse.audit")


class NotAuditable(ValueError):
    """The event's kind or one of its fields is not on the allow-list."""


def record(
    kind: str,
    *,
    guild_id: int | None,
    actor: str = "",
    status: str = "succeeded",
    reason: str = "",
    target: str = "",
    **metadata: Any,
) -> Event | None:
    """Append one event. Text outside its list fails in tests and is cut in production."""
    kept = _allowed(kind, metadata)
    try:
        with transaction.atomic():
            return Event.objects.create(
                guild_id=guild_id,
                kind=kind,
                status=status,
                actor=actor[:LONGEST],
                target=target[:LONGEST],
                reason=reason[:80],
                metadata=kept,
                at=clock.now(),
            )
    except DatabaseError as error:
        log.error("audit event %s was not written: %s", kind, type(error).__name__)
        raise


def _allowed(kind: str, metadata: dict[str, Any]) -> dict[str, Any]:
    fields = KINDS.get(kind)
    strict = settings.TESTING or settings.DEBUG
    if fields is None:
        raise NotAuditable(f"there is no audit event of kind {kind!r}")
    odd = [name for name, value in metadata.items() if name not in fields or not _plain(value)]
    if odd and strict:
        raise NotAuditable(f"audit event {kind!r} may not carry {', '.join(sorted(odd))}")
    return {
        name: str(value) if isinstance(value, Decimal) else value
        for name, value in metadata.items()
        if name not in odd
    }


def _plain(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST and "\n" not in value
    return value is None or isinstance(value, bool | int | float | Decimal)
