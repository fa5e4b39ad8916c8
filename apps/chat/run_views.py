"""Runs and what hangs on them: fragments, tables, exports, and the drawer of a cited row."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from apps.agents import presentation
from apps.agents.models import Run, Step
from apps.guilds.acting import acting
from apps.guilds.policy import decide, requires
from apps.shop import drawers

from . import exports
from .showing import result_view, run_view, step_view
from .tables import DRAWERS
from .views import fragment_of, own_run

PAGE = 50


@require_safe
@requires("agent.ask")
def fragment(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The run alone for a page that has it; the thread's page for anybody else."""
    run = own_run(request, run_id)
    if request.htmx:  # type: ignore[attr-defined]
        return fragment_of(request, run)
    return redirect("chat:run", run.pk)


@require_safe
@requires("agent.ask")
def trace(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The steps so far; fetched at each step while a run is live."""
    return render(request, "chat/_trace.html", {"view": run_view(own_run(request, run_id))})


@require_safe
@requires("agent.ask")
def runs(request: HttpRequest) -> HttpResponse:
    """Every run of the member, newest first."""
    mine = Run.objects.visible_to(acting(request)).select_related("thread")
    rows = mine.annotate(cost=Sum("steps__cost")).order_by("-created_at", "-number")
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    noun = "run" if page.paginator.count == 1 else "runs"
    context = {"heading": "Runs", "page": page, "noun": noun, "list_url": "chat:runs"}
    return render(request, "chat/runs.html", context)


@require_safe
@requires("agent.ask")
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One run, step by step."""
    found = own_run(request, run_id)
    view = run_view(found)
    steps = [_timeline(step, found) for step in found.steps.all()]
    context = {"heading": f"Run {found.number}", "view": view, "timeline": steps}
    return render(request, "chat/run.html", context)


def _timeline(step: Step, run: Run) -> dict[str, Any]:
    """A step on the run's clock: where it began and how long it took, in percent."""
    start = run.started_at or run.created_at
    end = run.finished_at or step.started_at
    whole = max((end - start).total_seconds() * 1000, step.ms, 1)
    begin = max(0.0, (step.started_at - start).total_seconds() * 1000)
    left = min(99.0, begin / whole * 100)
    tool = step.kind == Step.Kind.TOOL
    shown = step_view(presentation.step_view(step)) if tool else {}
    width = min(100 - left, max(0.6, step.ms / whole * 100))
    return {"step": step, "x": f"{left:.1f}", "width": f"{width:.1f}", **shown}


@require_safe
@requires("agent.ask")
def table(request: HttpRequest, run_id: UUID, step_id: UUID) -> HttpResponse:
    """A result, sorted: the figure for htmx, a page of its own without a script."""
    found = own_run(request, run_id)
    sort, descending = _order(request)
    result = _result(found, step_id)
    view = result_view(found, result, sort=sort, descending=descending)
    context = {"table": view, "heading": view.title, "run": found}
    htmx = request.htmx  # type: ignore[attr-defined]
    return render(request, "chat/_table.html" if htmx else "chat/table.html", context)


@require_safe
@requires("agent.ask")
def table_csv(request: HttpRequest, run_id: UUID, step_id: UUID) -> HttpResponse:
    """The result as CSV; ``?bom=1`` puts a byte order mark first, for spreadsheets."""
    result = _result(own_run(request, run_id), step_id)
    sort, descending = _order(request)
    text = exports.to_csv(
        result, sort=sort, descending=descending, bom=request.GET.get("bom") == "1"
    )
    return _download(text, result, "csv", "text/csv; charset=utf-8; header=present")


@require_safe
@requires("agent.ask")
def table_md(request: HttpRequest, run_id: UUID, step_id: UUID) -> HttpResponse:
    """The result as a Markdown table."""
    result = _result(own_run(request, run_id), step_id)
    sort, descending = _order(request)
    text = exports.to_markdown(result, sort=sort, descending=descending)
    return _download(text, result, "md", "text/markdown; charset=utf-8")


def _download(text: str, result: dict[str, Any], ending: str, kind: str) -> HttpResponse:
    name = slugify(result.get("title", ""))[:60] or result["tool"]
    response = HttpResponse(text, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    response["Cache-Control"] = "no-store"
    return response


def _result(found: Run, step_id: UUID) -> dict[str, Any]:
    """A table of the run, by its step; 404 for steps that hold none."""
    for result in presentation.run_view(found)["tables"]:
        if result["step_id"] == step_id and result["kind"] == "table":
            shown: dict[str, Any] = result
            return shown
    raise Http404("That step holds no table.")


def _order(request: HttpRequest) -> tuple[str, bool]:
    return request.GET.get("sort", "")[:64], request.GET.get("dir") == "desc"


@require_safe
@requires("agent.ask")
def drawer(request: HttpRequest, kind: str, row_id: int) -> HttpResponse:
    """A cited row beside its answer; a deleted one leaves a tombstone.

    Without a script the row's own page opens.
    """
    if kind not in DRAWERS:
        raise Http404("Rows of that kind do not open.")
    member = acting(request)
    if not decide(member, drawers.CAPABILITY[kind]):
        return render(request, "403.html", {"exception": "You may not see this row."}, status=403)
    shown = drawers.find(kind, row_id, member=member)
    if shown is None:
        return _gone(request, kind, row_id)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(shown.url)
    context = shown.context | {"back": "#main", "back_label": "Answer"}
    return render(request, shown.template, context)


def _gone(request: HttpRequest, kind: str, row_id: int) -> HttpResponse:
    context = {
        "ref": f"{kind}:{row_id}",
        "back": "#main",
        "back_label": "Answer",
        "heading": "Gone",
    }
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "shop/_gone.html", context)
    return render(request, "chat/gone.html", context, status=404)
