"""Sealing everything anew with the current key, and telling which old keys are still needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.views.decorators.debug import sensitive_variables

from apps.audit.recorder import record
from apps.core.sealed_rows import SealedRow, sealed_models, uncovered_columns
from apps.core.sealing import SealingError, sealer

BATCH = 100
Tell = Callable[[str, int, int], None]


@dataclass
class Report:
    """What a rotation did and found. ``broken`` says of each row why it does not open."""

    current_key: str
    ring: tuple[str, ...]
    resealed: int = 0
    current: int = 0
    broken: list[str] = field(default_factory=list)
    needed: dict[str, int] = field(default_factory=dict)
    uncovered: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether every sealed value opens and every column of bytes is accounted for."""
        return not self.broken and not self.uncovered

    @property
    def removable(self) -> list[str]:
        """Old keys of the ring that nothing needs; none while a column is unaccounted for."""
        if self.uncovered:
            return []
        return [key for key in self.ring if key != self.current_key and key not in self.needed]


def rotate(*, batch: int = BATCH, tell: Tell = lambda table, done, total: None) -> Report:
    """Open every sealed value and seal it anew where its key is not the current one.

    Each batch is a transaction, so a rotation that was cut goes on where it was. ``tell``
    gets the table, how many of its rows are done, and how many there are.
    """
    ring = sealer()
    report = Report(ring.current_key_id, ring.key_ids, uncovered=uncovered_columns())
    for model in sealed_models():
        _rotate_table(model, report, batch, tell)
    report.needed = _needed()
    record(
        "key_rotation",
        guild_id=None,
        actor="operator",
        status="succeeded" if report.is_whole else "failed",
        key=report.current_key,
        resealed=report.resealed,
        current=report.current,
        broken=len(report.broken),
    )
    return report


def _sealed(model: type[SealedRow]) -> QuerySet[SealedRow]:
    return QuerySet(model).filter(ciphertext__isnull=False)


def _rotate_table(model: type[SealedRow], report: Report, batch: int, tell: Tell) -> None:
    rows = _sealed(model)
    total, done, last = rows.count(), 0, UUID(int=0)
    while True:
        with transaction.atomic():
            found = list(rows.filter(pk__gt=last).select_for_update().order_by("pk")[:batch])
            for row in found:
                _rotate_row(row, report)
        if not found:
            return
        done, last = done + len(found), found[-1].pk
        tell(model._meta.db_table, done, max(done, total))


@sensitive_variables()
def _rotate_row(row: SealedRow, report: Report) -> None:
    try:
        secret = row.open()
    except SealingError as error:
        report.broken.append(f"{row._meta.db_table} {row.pk}: {error}")
        return
    if row.key_id == report.current_key:
        report.current += 1
        return
    row.seal(secret)
    row.save(update_fields=row.SEALED_FIELDS)
    report.resealed += 1


def _needed() -> dict[str, int]:
    """How many sealed values need each key, by its id."""
    needed: Counter[str] = Counter()
    for model in sealed_models():
        needed.update(_sealed(model).values_list("key_id", flat=True))
    return dict(sorted(needed.items()))
