"""Running one job: what its function is given, and how its end is written."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection

from apps.audit.recorder import record
from apps.core import clock
from apps.core.redaction import redact

from . import registry
from .errors import Canceled, JobError, LeaseLost
from .models import LEASE, Job

log = logging.getLogger("gatehouse.jobs")


class JobRun:
    """A claimed job as its function sees it. Every write carries the lease token."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.guild = job.guild
        self.args: dict[str, Any] = job.args
        self.checkpoint: dict[str, Any] = dict(job.checkpoint)
        self._last = 0.0

    def file(self) -> Path:
        """The file to work on: the uploaded one, or the one that ``args["path"]`` names."""
        if self.job.upload:
            return Path(default_storage.path(self.job.upload))
        return Path(self.args["path"])

    def progress(self, done: int, total: int | None = None) -> None:
        """Tell how far it is, at most five times a second; also notices a cancel."""
        if time.monotonic() - self._last >= 0.2:
            self.save_checkpoint(self.checkpoint, done=done, total=total)

    def save_checkpoint(
        self,
        checkpoint: dict[str, Any],
        *,
        done: int | None = None,
        total: int | None = None,
        report: dict[str, Any] | None = None,
    ) -> None:
        """Keep where the work stands. Inside a transaction it commits with the rows.

        Raises :class:`Canceled` when somebody asked to stop, :class:`LeaseLost` when another
        worker took over.
        """
        self._last = time.monotonic()
        self.checkpoint = dict(checkpoint)
        values: dict[str, Any] = {"checkpoint": self.checkpoint, "lease_until": clock.now() + LEASE}
        values |= {} if done is None else {"done": done}
        values |= {} if total is None else {"total": total}
        values |= {} if report is None else {"report": report}
        mine = Job.objects.held(self.job)
        if not mine.update(**values):
            raise LeaseLost
        if mine.filter(cancel_requested_at__isnull=False).exists():
            raise Canceled


def execute(job: Job) -> Job:
    """Run a claimed job to its end and write how it ended. Never raises for the job's sake."""
    try:
        with _heartbeat(job):
            report = registry.work_of(job.kind)(JobRun(job))
    except LeaseLost:
        log.warning("job %s was taken over by another worker", job.pk)
    except SoftTimeLimitExceeded:
        log.warning("job %s used its time and goes on from its checkpoint", job.pk)
        Job.objects.hand_back(job)
    except Canceled:
        _finish(job, Job.Status.CANCELED, error="Canceled. What was done before stays.")
    except JobError as error:
        _finish(job, Job.Status.FAILED, error=str(error))
    except OSError as error:
        _finish(job, Job.Status.FAILED, error=_disk_words(error))
    except Exception as error:
        log.exception("job %s of kind %s failed", job.pk, job.kind)
        _finish(job, Job.Status.FAILED, error=_unexpected(error))
        if settings.TESTING:
            raise
    else:
        _finish(job, Job.Status.SUCCEEDED, report=report)
    job.refresh_from_db()
    return job


def _finish(
    job: Job, status: str, *, error: str = "", report: dict[str, Any] | None = None
) -> None:
    values: dict[str, Any] = {
        "status": status,
        "error": redact(error)[:2000],
        "finished_at": clock.now(),
        "lease_token": None,
        "lease_until": None,
    }
    if report is not None:
        values["report"] = report
    if Job.objects.held(job).update(**values):
        _audit(job, status, report or {})
        drop_upload(job)


def drop_upload(job: Job) -> None:
    """Delete the uploaded file of a job that has ended: it may hold people's addresses."""
    if job.upload:
        default_storage.delete(job.upload)
        Job.objects.filter(pk=job.pk).update(upload="")


def _audit(job: Job, status: str, report: dict[str, Any]) -> None:
    names = ("read", "created", "updated", "skipped")
    counts: dict[str, Any] = {
        name: report[name] for name in names if isinstance(report.get(name), int)
    }
    record(
        "job",
        guild_id=job.guild_id,
        actor=f"member:{job.created_by_id}" if job.created_by_id else "",
        status="succeeded" if status == Job.Status.SUCCEEDED else "failed",
        reason=status,
        job=str(job.pk),
        job_kind=job.kind,
        **counts,
    )


def _disk_words(error: OSError) -> str:
    return (
        f"The file or disk failed: {error.strerror or type(error).__name__}. "
        "Check free space and that the file is still there, then start again; "
        "what was imported stays."
    )


def _unexpected(error: Exception) -> str:
    return (
        f"Stopped by an unexpected error ({type(error).__name__}). What was done before stays; "
        "starting again goes on from there. The log of the worker says more."
    )


@contextmanager
def _heartbeat(job: Job) -> Iterator[None]:
    """Renew the lease from a thread of its own, so that a long batch never loses it."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(LEASE.total_seconds() / 4):
            try:
                Job.objects.renew(job)
            except DatabaseError as error:
                log.warning("lease of job %s not renewed: %s", job.pk, type(error).__name__)
            finally:
                connection.close()

    thread = threading.Thread(target=beat, name=f"job-{job.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
