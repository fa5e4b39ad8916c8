"""Jobs on a page: the list, one job's progress and report, and stopping it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.guilds.acting import acting
from apps.guilds.policy import decide, require, requires

from . import operations
from .models import Job

LISTED = 100
ERRORS_SHOWN = 200
COUNTS = ("read", "created", "updated", "skipped")


@require_safe
@requires("job.read")
def jobs(request: HttpRequest) -> HttpResponse:
    """The newest hundred jobs of the guild."""
    mine = Job.objects.visible_to(acting(request)).select_related("created_by")
    context = {"heading": "Imports", "jobs": mine.order_by("-created_at")[:LISTED]}
    return render(request, "jobs/jobs.html", context | {"actions_template": "jobs/_actions.html"})


@require_safe
@requires("job.read")
def job(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """One job with its progress bar and report."""
    return render(request, "jobs/job.html", {"heading": "Import"} | _context(request, job_id))


@require_safe
@requires("job.read")
def progress(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """The job's fragment; its page asks for it once a second while the job runs."""
    return render(request, "jobs/_job.html", _context(request, job_id))


@require_POST
@requires("job.read")
def cancel(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Ask a live job to stop; needs the right to have started it."""
    member = acting(request)
    require(member, "shop.import")
    found = get_object_or_404(Job.objects.visible_to(member), pk=job_id)
    operations.cancel(found, actor=member)
    return redirect("jobs:job", found.pk)


def _context(request: HttpRequest, job_id: UUID) -> dict[str, Any]:
    member = acting(request)
    found: Any = get_object_or_404(Job.objects.visible_to(member), pk=job_id)
    report = found.report if isinstance(found.report, dict) else {}
    errors = report.get("errors") or []
    found.live = found.is_live
    found.dry_run = bool(found.args.get("dry_run"))
    found.counts = [(name, report[name]) for name in COUNTS if isinstance(report.get(name), int)]
    found.errors = errors[:ERRORS_SHOWN]
    found.error_count = max(len(errors), int(report.get("errors_total") or 0))
    found.more_errors = max(0, found.error_count - len(found.errors))
    return {"job": found, "may_cancel": bool(decide(member, "shop.import"))}
