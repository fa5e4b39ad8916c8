"""What a worker does for runs. Tasks take ids, claim, delegate."""

from __future__ import annotations

from celery import shared_task

from apps.core import clock
from apps.jobs import tasks as jobs
from apps.jobs import waking

from . import loop
from .models import Run
from .runtime import runtime


@shared_task(name="apps.agents.execute_run")
def execute_run(run_id: str) -> None:
    """Execute one queued run; a second delivery does nothing, nor does a closing worker."""
    if runtime.is_closing:
        return
    if run := Run.objects.claim(run_id):
        loop.execute(run)


def wake(run: Run) -> None:
    """Tell a worker about a queued run."""
    waking.wake(execute_run, run.pk)


def sweep() -> None:
    """Wake workers for runs and jobs that wait or went silent; give up those that always do."""
    lost = "Stopped: five workers died while answering this. Ask again, or ask for less at once."
    Run.objects.given_up().update(
        status=Run.Status.FAILED,
        termination_reason=Run.Reason.LOST,
        error_message=lost,
        finished_at=clock.now(),
        lease_token=None,
    )
    waking.wake_all(execute_run, list(Run.objects.claimable().values_list("pk", flat=True)[:50]))
    jobs.sweep()
