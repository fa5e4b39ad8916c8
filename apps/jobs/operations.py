"""Writes of the jobs room."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction

from apps.core import clock
from apps.guilds.models import Guild, Member

from . import registry, running
from .models import Job
from .waking import wake


class AlreadyTaken(RuntimeError):
    """Another process is running this job."""


def enqueue(
    kind: str,
    *,
    guild: Guild,
    args: dict[str, Any],
    created_by: Member | None = None,
    upload: File[Any] | None = None,
    title: str = "",
) -> Job:
    """Write a queued job and wake a worker on commit. A lost wake-up is swept up later."""
    from .tasks import execute_job

    job = create(kind, guild=guild, args=args, created_by=created_by, upload=upload, title=title)
    transaction.on_commit(lambda: wake(execute_job, job.pk))
    return job


def create(
    kind: str,
    *,
    guild: Guild,
    args: dict[str, Any],
    created_by: Member | None = None,
    upload: File[Any] | None = None,
    title: str = "",
) -> Job:
    """Write a queued job and wake nobody: for a command that runs it itself."""
    registry.work_of(kind)
    name = default_storage.save(f"jobs/{uuid4()}", upload) if upload else ""
    return Job.objects.create(
        kind=kind, guild=guild, args=args, created_by=created_by, upload=name, title=title[:200]
    )


def run_now(job: Job) -> Job:
    """Run a queued job in this process, through the same lease as a worker."""
    claimed = Job.objects.claim(job.pk)
    if claimed is None:
        raise AlreadyTaken(f"job {job.pk} is already running elsewhere")
    return running.execute(claimed)


def cancel(job: Job, *, actor: Member | None = None) -> bool:
    """Ask a live job to stop; a queued one stops at once. False when it has already ended."""
    now = clock.now()
    queued = Job.objects.filter(pk=job.pk, status=Job.Status.QUEUED)
    if queued.update(status=Job.Status.CANCELED, cancel_requested_at=now, finished_at=now):
        running.drop_upload(job)
        return True
    running_now = Job.objects.filter(pk=job.pk, status=Job.Status.RUNNING)
    return bool(running_now.update(cancel_requested_at=now))
