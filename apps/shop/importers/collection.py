"""The collection export: one copy a row, with columns that the collector defined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F

from apps.core import clock
from apps.jobs.running import JobRun
from apps.shop.importers import fields
from apps.shop.importers.gate import enter_shop
from apps.shop.importers.pipeline import RowImport, file_name, fit_checkpoint, run_rows
from apps.shop.importers.stubs import Named, releases_for
from apps.shop.importers.table import COLLECTION, Row, open_table
from apps.shop.importers.upsert import any_of, upsert
from apps.shop.importers.wants import named_in_list
from apps.shop.models import CollectionEntry

MEDIA = "collection_media_condition"
SLEEVE = "collection_sleeve_condition"
_PREFIX = re.compile(r"collection[ ._]+", re.IGNORECASE)
UPDATED = ["rating", "media", "sleeve", "extra"]
KEY = ["guild_id", "release_id", "folder", "added_at", "copy"]
Place = tuple[int, str, datetime | None, int]


@dataclass(frozen=True, slots=True)
class Copy:
    """A row of the file, read. ``place`` finds it again: release, folder, date, which copy."""

    line: int
    release: Named
    place: Place
    values: dict[str, Any]


class CollectionImport(RowImport[Copy]):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._copies: Counter[tuple[int, str, datetime | None]] = Counter()
        self._own = {
            name: _PREFIX.sub("", header, count=1)
            for name, header in self.table.headers.items()
            if name.startswith("collection_") and name not in (MEDIA, SLEEVE)
        }

    def parse(self, row: Row) -> Copy | None:
        release_id = fields.row_id(self, row, "release_id")
        if not release_id:
            return None
        folder, added_at = row.get("collectionfolder"), fields.moment(self, row, "date_added")
        self._copies[release_id, folder, added_at] += 1
        copy = self._copies[release_id, folder, added_at]
        values = {
            "rating": self._rating(row),
            "media": self._grade(row, MEDIA, fields.media_grade),
            "sleeve": self._grade(row, SLEEVE, fields.sleeve_grade),
            "extra": {label: row.get(name) for name, label in self._own.items() if row.get(name)},
        }
        place = (release_id, folder, added_at, copy)
        return Copy(row.line, named_in_list(row, release_id), place, values)

    def write(self, items: Sequence[Copy]) -> int:
        ids = releases_for(self.guild, (item.release for item in items))
        rows = [
            {
                "guild_id": self.guild.pk,
                "release_id": ids[item.place[0]],
                "folder": item.place[1],
                "added_at": item.place[2],
                "copy": item.place[3],
                "created_at": clock.now(),
                **item.values,
            }
            for item in items
        ]
        return sum(new for _, new in upsert(CollectionEntry, rows, key=KEY, update=UPDATED))

    def count_new(self, items: Sequence[Copy]) -> int:
        if self.terms.as_if_empty:
            return len(items)
        numbers = [item.place[0] for item in items]
        stored = CollectionEntry.objects.filter(
            guild=self.guild, release__discogs_id__in=any_of(numbers)
        ).annotate(number=F("release__discogs_id"))
        known = set(stored.values_list("number", "folder", "added_at", "copy"))
        return len({item.place for item in items} - known)

    def _rating(self, row: Row) -> int | None:
        text = row.get("rating")
        rating = fields.whole(text, 5)
        if text and rating is None:
            self.tell(row, "rating", "not a whole number from 0 to 5; left empty")
        return rating

    def _grade(self, row: Row, field: str, read: Any) -> str:
        return str(read(self, row, field)) if row.get(field) else ""


def import_collection(job: JobRun) -> dict[str, Any]:
    """Import a collection export. ``args``: path, dry_run, replace_demo."""
    path = job.file()
    with open_table(path, COLLECTION, name=file_name(job)) as table:
        terms = enter_shop(job.guild, job.args)
        report = fit_checkpoint(job, path)
        run_rows(job, CollectionImport(terms, table, report), remembers=True)
    return report.to_json()
