"""The want list export: keyed by release, ten fields under nine headers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.core import clock
from apps.jobs.running import JobRun
from apps.shop.importers import fields
from apps.shop.importers.gate import enter_shop
from apps.shop.importers.order_fields import customers_named
from apps.shop.importers.pipeline import RowImport, file_name, fit_checkpoint, run_rows
from apps.shop.importers.seen import SeenNumbers
from apps.shop.importers.stubs import Named, releases_for
from apps.shop.importers.table import WANTS, Row, open_table
from apps.shop.importers.upsert import any_of, upsert
from apps.shop.models import Want


@dataclass(frozen=True, slots=True)
class Wanted:
    """A row of the file, read."""

    line: int
    release: Named
    notes: str
    added_at: datetime | None


class WantsImport(RowImport[Wanted]):
    """Wants of one customer, or of nobody in particular. A want that was filled stays so."""

    def __init__(self, *given: Any, customer: str = "") -> None:
        super().__init__(*given)
        self._name = customer
        self._seen = SeenNumbers()

    def parse(self, row: Row) -> Wanted | None:
        release_id = fields.row_id(self, row, "release_id")
        if not release_id:
            return None
        added_at = fields.moment(self, row, "date_added")
        return Wanted(row.line, named_in_list(row, release_id), row.get("notes"), added_at)

    def write(self, items: Sequence[Wanted]) -> int:
        last = {item.release.discogs_id: item for item in items}
        ids = releases_for(self.guild, (item.release for item in last.values()))
        customer = customers_named(self.guild, [self._name]).get(self._name)
        rows = [
            {
                "guild_id": self.guild.pk,
                "release_id": ids[number],
                "customer_id": customer,
                "notes": item.notes,
                "status": Want.Status.OPEN,
                "added_at": item.added_at,
                "created_at": clock.now(),
            }
            for number, item in last.items()
        ]
        key = ["guild_id", "release_id", "customer_id"]
        return sum(new for _, new in upsert(Want, rows, key=key, update=["notes", "added_at"]))

    def count_new(self, items: Sequence[Wanted]) -> int:
        numbers = {item.release.discogs_id for item in items}
        if not self.terms.as_if_empty:
            stored = Want.objects.filter(guild=self.guild, release__discogs_id__in=any_of(numbers))
            mine = {"customer__name": self._name} if self._name else {"customer": None}
            numbers -= set(stored.filter(**mine).values_list("release__discogs_id", flat=True))
        return self._seen.add(numbers)


def import_wants(job: JobRun) -> dict[str, Any]:
    """Import a want list. ``args``: path, customer, dry_run, replace_demo."""
    path = job.file()
    with open_table(path, WANTS, name=file_name(job)) as table:
        terms = enter_shop(job.guild, job.args)
        report = fit_checkpoint(job, path)
        customer = str(job.args.get("customer") or "").strip()
        run_rows(job, WantsImport(terms, table, report, customer=customer))
    return report.to_json()


def named_in_list(row: Row, release_id: int) -> Named:
    """What a want list or collection row says about its release."""
    return Named(
        release_id,
        artist=row.get("artist"),
        title=row.get("title"),
        label=row.get("label"),
        catno=row.get("catalog"),
        format=row.get("format"),
        released=row.get("released"),
    )
