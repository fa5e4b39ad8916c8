"""The dump of releases: everything the catalogue knows about a pressing, as written."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from django.db import DataError, IntegrityError, transaction

from apps.core import clock
from apps.guilds.models import Guild
from apps.jobs.running import JobRun
from apps.shop.importers.gate import Terms, claim_shop, enter_shop
from apps.shop.importers.pipeline import file_name, fit_checkpoint, next_batch
from apps.shop.importers.release_element import FromDump, read_release
from apps.shop.importers.report import Problem, Report
from apps.shop.importers.seen import SeenNumbers
from apps.shop.importers.stubs import ids_of
from apps.shop.importers.upsert import any_of, upsert
from apps.shop.importers.xml_records import Dump, XmlRecord, open_dump, parse_record
from apps.shop.models import (
    Identifier,
    Release,
    ReleaseArtist,
    ReleaseFormat,
    ReleaseLabel,
    Track,
)
from apps.shop.models.catalog import search_text

BATCH = 200
PARTS: tuple[Any, ...] = (
    ReleaseArtist,
    ReleaseLabel,
    ReleaseFormat,
    Track,
    Identifier,
)


def import_releases(job: JobRun) -> dict[str, Any]:
    """Import a dump of releases. ``args``: path, dry_run, replace_demo."""
    path = job.file()
    with open_dump(path, name=file_name(job)) as dump:
        terms = enter_shop(job.guild, job.args)
        report = fit_checkpoint(job, path)
        _run(job, dump, terms, report)
    return report.to_json()


def _run(job: JobRun, dump: Dump, terms: Terms, report: Report) -> None:
    mark, seen = job.checkpoint.get("file", {}), SeenNumbers()
    records = dump.records(offset=mark.get("offset", 0), line=mark.get("line", 0))
    while batch := next_batch(records, BATCH):
        found = [release for record in batch if (release := _read(record, report))]
        if terms.dry_run:
            _count(terms, found, report, seen)
            job.progress(dump.done, dump.size)
            continue
        place = {"offset": batch[-1].end, "line": batch[-1].next_line}
        with transaction.atomic():
            if found:
                claim_shop(terms)
            _store(terms.guild, found, report)
            job.save_checkpoint(
                {**job.checkpoint, "file": place},
                done=dump.done,
                total=dump.size,
                report=report.to_json(),
            )


def _read(record: XmlRecord, report: Report) -> FromDump | None:
    report.read += 1
    if record.fault:
        report.skip(Problem(record.line, "release", "", record.fault))
        return None
    element, why = parse_record(record.raw)
    if element is None:
        report.skip(Problem(record.line, "release", "", why))
        return None
    if why:
        report.tell(Problem(record.line, "release", element.get("id") or "", why))
    release = read_release(element, record.line)
    if release is None:
        given = element.get("id") or ""
        report.skip(Problem(record.line, "id", given, "not a whole number above zero"))
    return release


def _count(terms: Terms, found: Sequence[FromDump], report: Report, seen: SeenNumbers) -> None:
    numbers = {release.discogs_id for release in found}
    if not terms.as_if_empty:
        stored = Release.objects.filter(guild=terms.guild, discogs_id__in=any_of(numbers))
        numbers -= set(stored.values_list("discogs_id", flat=True))
    new = seen.add(numbers)
    report.created += new
    report.updated += len(found) - new


def _store(guild: Guild, found: Sequence[FromDump], report: Report) -> None:
    """Write a batch. When the database refuses one record, find it by halves, keep the rest."""
    if not found:
        return
    try:
        with transaction.atomic():
            new = _write(guild, found)
    except (DataError, IntegrityError) as error:
        if len(found) == 1:
            why = f"the database refused the release ({type(error).__name__})"
            report.skip(Problem(found[0].line, "release", str(found[0].discogs_id), why))
            return
        middle = len(found) // 2
        _store(guild, found[:middle], report)
        _store(guild, found[middle:], report)
        return
    report.created += new
    report.updated += len(found) - new


def _write(guild: Guild, found: Sequence[FromDump]) -> int:
    last = {release.discogs_id: release for release in found}
    rows = [_row(guild, release) for release in last.values()]
    fixed = {"guild_id", "discogs_id", "created_at", "updated_at"}
    written = upsert(
        Release,
        rows,
        key=["guild_id", "discogs_id"],
        update=[name for name in rows[0] if name not in fixed],
        touch={"updated_at": clock.now()},
    )
    stored = Release.objects.filter(guild=guild, discogs_id__in=any_of(last))
    _replace_parts(guild, last, ids_of(stored))
    return sum(created for _, created in written)


def _row(guild: Guild, release: FromDump) -> dict[str, Any]:
    now = clock.now()
    row = {
        "guild_id": guild.pk,
        "discogs_id": release.discogs_id,
        **release.values,
        "is_stub": False,
        "created_at": now,
        "updated_at": now,
    }
    row["search"] = search_text(SimpleNamespace(**row))
    return row


def _replace_parts(guild: Guild, found: dict[int, FromDump], ids: dict[int, int]) -> None:
    for model in PARTS:
        model.objects.filter(release_id__in=list(ids.values())).delete()
        model.objects.bulk_create(
            model(guild_id=guild.pk, release_id=ids[number], position=at, **part)
            for number, release in found.items()
            for at, part in enumerate(release.parts[model], start=1)
        )
