"""The way every import goes: a batch of rows, its checkpoint and its report in one commit.

A job that is killed therefore goes on after its last whole batch, with its counts right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from django.db import DataError, IntegrityError, reset_queries, transaction

from apps.core import clock
from apps.jobs.running import JobRun
from apps.shop.importers.gate import Terms, claim_shop
from apps.shop.importers.report import Problem, Report
from apps.shop.importers.table import Row, Table

BATCH = 1000
Item = TypeVar("Item")
Given = TypeVar("Given")


class RowImport(ABC, Generic[Item]):
    """One kind of file: how a row is read, and how a batch of read rows is written."""

    def __init__(self, terms: Terms, table: Table, report: Report) -> None:
        self.terms = terms
        self.guild = terms.guild
        self.zone = clock.zone(terms.guild)
        self.table = table
        self.report = report

    @abstractmethod
    def parse(self, row: Row) -> Item | None:
        """The row as it will be stored; None when it was skipped and told."""

    @abstractmethod
    def write(self, items: Sequence[Item]) -> int:
        """Store a batch; how many of its rows are new."""

    @abstractmethod
    def count_new(self, items: Sequence[Item]) -> int:
        """For a dry run: how many of these rows would be new."""

    def line_of(self, item: Item) -> int:
        """The line that an item came from, for a problem that the database finds."""
        return int(getattr(item, "line", 0))

    def tell(self, row: Row, field: str, why: str) -> None:
        """A problem with a field of a row that is kept."""
        self.report.tell(Problem(row.line, self.heading(field), row.get(field), why))

    def skip(self, row: Row, field: str, why: str) -> None:
        """A row that can't be imported for the sake of this field."""
        self.report.skip(Problem(row.line, self.heading(field), row.get(field), why))

    def heading(self, field: str) -> str:
        """A column as the file writes it."""
        return self.table.headers.get(field, field)


def run_rows(
    job: JobRun,
    work: RowImport[Any],
    *,
    currency: str = "",
    part: str = "",
    remembers: bool = False,
) -> None:
    """Import every row of the table, going on from the job's checkpoint.

    ``part`` names the file where a job has two. A work that ``remembers`` earlier rows is
    shown them again after a restart, unwritten and uncounted.
    """
    mark = job.checkpoint.get(part or "file", {})
    start = (0, 0) if remembers else (mark.get("offset", 0), mark.get("line", 0))
    rows = work.table.rows(offset=start[0], line=start[1])
    if remembers and mark:
        _remember(work, rows, mark["offset"])
    while batch := next_batch(rows, BATCH):
        items = [item for row in batch if (item := _read(work, row)) is not None]
        place = {"offset": batch[-1].end, "line": batch[-1].next_line}
        if work.terms.dry_run:
            _count(work, items)
            job.progress(batch[-1].end, work.table.size)
            continue
        with transaction.atomic():
            if items:
                claim_shop(work.terms, currency)
            _store(work, items)
            job.save_checkpoint(
                {**job.checkpoint, part or "file": place},
                done=batch[-1].end,
                total=work.table.size,
                report=work.report.to_json(),
            )


def next_batch(rows: Iterator[Given], size: int) -> list[Given]:
    """The next rows, at most that many; none at the end.

    With DEBUG on, Django keeps the last 9,000 statements with what was bound to them: a batch
    each would grow to gigabytes, so they are let go here.
    """
    reset_queries()
    return list(islice(rows, size))


def file_name(job: JobRun) -> str:
    """What people call the job's file: an upload's own name stands at its title's end."""
    if job.job.upload:
        return job.job.title.partition(": ")[2] or "The file"
    return job.file().name


def fit_checkpoint(job: JobRun, *paths: Path) -> Report:
    """The report so far; an empty one when a file is not the one that was begun."""
    stamps = []
    for path in paths:
        stat = path.stat()
        stamps.append([stat.st_size, stat.st_mtime_ns])
    if job.checkpoint.get("stamps") == stamps and not job.args.get("dry_run"):
        return Report.load(job.job.report)
    job.checkpoint = {"stamps": stamps}
    return Report()


def _read(work: RowImport[Any], row: Row) -> Any:
    work.report.read += 1
    if row.fault:
        work.report.skip(Problem(row.line, "", row.text.strip(), row.fault))
        return None
    return work.parse(row)


def _remember(work: RowImport[Any], rows: Iterator[Row], offset: int) -> None:
    kept, work.report = work.report, Report()
    for row in rows:
        _read(work, row)
        if row.end >= offset:
            break
    work.report = kept


def _count(work: RowImport[Any], items: Sequence[Any]) -> None:
    new = work.count_new(items)
    work.report.created += new
    work.report.updated += len(items) - new


def _store(work: RowImport[Any], items: Sequence[Any]) -> None:
    """Write a batch. When the database refuses one row, find it by halves and keep the rest."""
    if not items:
        return
    try:
        with transaction.atomic():
            new = work.write(items)
    except (DataError, IntegrityError) as error:
        if len(items) == 1:
            why = f"the database refused the row ({type(error).__name__})"
            work.report.skip(Problem(work.line_of(items[0]), "", "", why))
            return
        middle = len(items) // 2
        _store(work, items[:middle])
        _store(work, items[middle:])
        return
    work.report.created += new
    work.report.updated += len(items) - new
