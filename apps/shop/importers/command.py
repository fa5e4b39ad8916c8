"""The command of an importer: a job that runs in this process, and goes on when it was killed."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core import clock
from apps.guilds.models import Guild
from apps.guilds.operations import ensure_first_guild
from apps.jobs import operations
from apps.jobs.models import LEASE, Job

BUSY = "Another process is importing this file. Let it end first."


class ImportCommand(BaseCommand):
    """``FILE`` and the options of every importer; ``kind`` is the job's."""

    kind = ""
    file_help = "the file as Discogs exported it"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help=self.file_help)
        parser.add_argument("--dry-run", action="store_true", help="read and report; write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")
        parser.add_argument(
            "--replace-demo", action="store_true", help="delete the demo shop's rows first"
        )
        parser.add_argument("--guild", default="", help="id or name; the first one if left out")

    def job_args(self, options: dict[str, Any]) -> dict[str, Any]:
        """What the job is given besides the path, from the command's options."""
        return {}

    def handle(self, *args: Any, **options: Any) -> None:
        job = self._run(find_guild(options["guild"]), self._args(options))
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(job), ensure_ascii=False))
        elif job.status == Job.Status.SUCCEEDED:
            self._print(job.report, dry_run=options["dry_run"])
        if job.status != Job.Status.SUCCEEDED:
            raise CommandError(job.error or f"The import ended as {job.status}.")

    def _args(self, options: dict[str, Any]) -> dict[str, Any]:
        given = {"path": str(options["file"].absolute()), **self.job_args(options)}
        given |= {name: True for name in ("dry_run", "replace_demo") if options[name]}
        return given

    def _run(self, guild: Guild, args: dict[str, Any]) -> Job:
        job = self._left_behind(guild, args) or operations.create(
            self.kind, guild=guild, args=args, title=Path(args["path"]).name
        )
        try:
            return operations.run_now(job)
        except operations.AlreadyTaken:
            raise CommandError(BUSY) from None

    def _left_behind(self, guild: Guild, args: dict[str, Any]) -> Job | None:
        """The job of the same import that was killed, once its lease has run out."""
        same = Job.objects.filter(guild=guild, kind=self.kind, args=args, upload="")
        job = same.filter(status__in=Job.LIVE).order_by("-created_at").first()
        if job is None or args.get("dry_run"):
            return None
        self.stderr.write("Going on with an import of this file that did not end.")
        deadline = time.monotonic() + LEASE.total_seconds() + 2
        while job.lease_until and job.lease_until > clock.now():
            if time.monotonic() > deadline:
                raise CommandError(BUSY)
            time.sleep(0.5)
            job.refresh_from_db()
        return job if job.is_live else None

    def _print(self, report: dict[str, Any], *, dry_run: bool) -> None:
        verb = "would be" if dry_run else "were"
        self.stdout.write(
            f"{report['read']} rows read: {report['created']} {verb} created, "
            f"{report['updated']} updated, {report['skipped']} skipped."
        )
        for problem in report["errors"][:20]:
            value = f" ({problem['value']})" if problem["value"] else ""
            self.stdout.write(
                f"  line {problem['line']}, {problem['field']}{value}: {problem['why']}"
            )
        more = report["errors_total"] - min(20, len(report["errors"]))
        if more > 0:
            self.stdout.write(f"  … and {more} more; --json lists the first thousand.")


def find_guild(wanted: str) -> Guild:
    """The guild of that id or name; the first one for an empty text."""
    if not wanted:
        return ensure_first_guild()[0]
    named = Guild.objects.filter(pk=int(wanted)) if wanted.isdigit() else None
    guild = (named or Guild.objects.filter(name__iexact=wanted)).first()
    if guild is None:
        raise CommandError(f"There is no guild {wanted[:80]!r}.")
    return guild


def _as_json(job: Job) -> dict[str, Any]:
    report = dict(job.report)
    if job.status != Job.Status.SUCCEEDED:
        report |= {"status": job.status, "error": job.error}
    return {**report, "job": str(job.pk)}
