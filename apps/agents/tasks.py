"""What a worker does for runs. Tasks take ids, claim, delegate."""

from __future__ import annotations

import logging
from uuid import UUID

from celery import shared_task
from kombu.exceptions import OperationalError

from apps.jobs import tasks as jobs

from . import loop
from .models import Run
from .runtime import runtime

log = logging.getLogger("gatehouse.tasks")


@shared_task(name="apps.agents.execute_run")
def execute_run(run_id: str) -> None:
    """Execute one queued run; a second delivery does nothing, nor does a closing worker."""
    if runtime.is_closing:
        return
    if run := Run.objects.claim(run_id):
        loop.execute(run)


def wake(run_id: UUID) -> None:
    """Tell a worker about a queued run; when the broker is away the sweep finds it later."""
    try:
        execute_run.apply_async((str(run_id),), retry=False)
    except (OperationalError, OSError) as error:
        log.warning("no worker woken, the sweep will: %s", type(error).__name__)


def sweep() -> None:
    """Wake workers for runs and jobs that wait or whose worker went silent."""
    for run_id in Run.objects.claimable().values_list("pk", flat=True)[:50]:
        wake(run_id)
    jobs.sweep()
