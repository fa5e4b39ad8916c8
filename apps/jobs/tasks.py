"""What a worker does for jobs. Tasks take ids, claim, delegate."""

from __future__ import annotations

from celery import shared_task

from apps.core import clock

from . import running
from .models import Job
from .waking import wake_all

# A longer job hands itself back and goes on from its checkpoint.
SOFT_LIMIT = 30 * 60
HARD_LIMIT = SOFT_LIMIT + 120


@shared_task(name="apps.jobs.execute_job", soft_time_limit=SOFT_LIMIT, time_limit=HARD_LIMIT)
def execute_job(job_id: str) -> None:
    """Run one queued job; a second delivery does nothing."""
    if job := Job.objects.claim(job_id):
        running.execute(job)


def sweep() -> None:
    """Wake workers for jobs that wait or went silent; give up those that always do."""
    for job in Job.objects.given_up():
        lost = "Stopped: its worker died five times. Check the file, then start it again."
        Job.objects.filter(pk=job.pk, status=job.status).update(
            status=Job.Status.FAILED, error=lost, finished_at=clock.now(), lease_token=None
        )
        running.drop_upload(job)
    wake_all(execute_job, list(Job.objects.claimable().values_list("pk", flat=True)[:50]))
