"""What a worker does for jobs. Tasks take ids, claim, delegate."""

from __future__ import annotations

from celery import shared_task

from . import running
from .models import Job


@shared_task(name="apps.jobs.execute_job")
def execute_job(job_id: str) -> None:
    """Run one queued job; a second delivery does nothing."""
    if job := Job.objects.claim(job_id):
        running.execute(job)


def sweep() -> int:
    """Wake workers for queued jobs and for those whose worker went silent; how many."""
    ids = list(Job.objects.claimable().values_list("pk", flat=True)[:50])
    for job_id in ids:
        execute_job.delay(str(job_id))
    return len(ids)
