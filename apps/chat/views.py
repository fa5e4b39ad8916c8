"""Ask: pages of threads, asking, stopping, asking again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.agents import operations
from apps.agents.models import Run, Thread
from apps.core.tools import registry
from apps.guilds.acting import acting
from apps.guilds.policy import decide, requires
from apps.llm import gateway

from . import threads as lists
from .forms import AskForm, RenameForm
from .showing import run_view, run_views

RECENT_RUNS = 20
CHIPS = (("slow stock", "slow stock"), ("this week’s sales", "this week's sales"))
EXAMPLES = (
    ("Stock", "crate", ("stock_search",)),
    ("Sales and wants", "sales", ("sales_summary", "customer_wants")),
    ("Catalogue", "disc", ("release_lookup", "catalog_health")),
)


@require_safe
@requires("agent.ask")
def new(request: HttpRequest) -> HttpResponse:
    """An empty thread, with questions that work."""
    question = request.GET.get("q", "")[:2000]
    return render(request, "chat/new.html", _new_context(request) | {"question": question})


@require_POST
@requires("agent.ask")
def start(request: HttpRequest) -> HttpResponse:
    """The first question of a thread."""
    form = AskForm(request.POST)
    if not form.is_valid():
        context = _new_context(request) | _refused(request, form)
        return render(request, "chat/new.html", context, status=422)
    run = operations.begin(
        acting(request), form.cleaned_data["question"], thread_id=form.cleaned_data["thread"]
    )
    return redirect("chat:thread", run.thread_id)


@require_safe
@requires("agent.ask")
def thread(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """One thread of the asker's own."""
    found = _thread(request, thread_id)
    return render(request, "chat/thread.html", _thread_context(request, found))


@require_POST
@requires("agent.ask")
def ask(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """A thread's next question: the run's fragment, already connected to its stream."""
    found = _thread(request, thread_id)
    form = AskForm(request.POST)
    if not form.is_valid():
        return _ask_refused(request, found, form)
    question = form.cleaned_data["question"]
    try:
        run = operations.ask(found, question, actor=acting(request))
    except operations.Busy as busy:
        return _busy(request, found, busy.run, question)
    return _started(request, run)


@require_POST
@requires("agent.ask")
def cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Stop a live run; stopping one that has ended changes nothing."""
    run = own_run(request, run_id)
    if run.is_live:
        operations.cancel(run, actor=acting(request))
    if request.htmx:  # type: ignore[attr-defined]
        return _stopped(request, own_run(request, run_id))
    return redirect("chat:thread", run.thread_id)


def _stopped(request: HttpRequest, run: Run) -> HttpResponse:
    """A queued run has ended at once and is shown so; a running one says when it has."""
    response = fragment_of(request, run)
    if not run.is_live:
        response["HX-Reswap"] = "outerHTML"
    return response


@require_POST
@requires("agent.ask")
def retry(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask the same question again, as a new run of the same thread."""
    run = own_run(request, run_id)
    try:
        again = operations.retry(run, actor=acting(request))
    except operations.Busy as busy:
        return _busy(request, run.thread, busy.run, "")
    return _started(request, again)


@require_safe
@requires("agent.ask")
def thread_list(request: HttpRequest) -> HttpResponse:
    """Every thread of the asker, to open, rename or delete."""
    member = acting(request)
    mine = lists.with_state(Thread.objects.visible_to(member))
    context = {"heading": "Threads", "threads": mine[:500]} | lists.sidebar(member)
    return render(request, "chat/threads.html", context)


@require_POST
@requires("agent.ask")
def rename(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """Give a thread another title; an empty one keeps the old."""
    found = _thread(request, thread_id)
    form = RenameForm(request.POST)
    if form.is_valid():
        operations.rename(found, form.cleaned_data["title"])
    return redirect("chat:threads")


@require_http_methods(["GET", "HEAD", "POST"])
@requires("agent.ask")
def delete(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """Ask once, then delete a thread with its runs and steps."""
    found = _thread(request, thread_id)
    if request.method != "POST":
        context = {"heading": "Delete a thread", "thread": found, "runs": found.runs.count()}
        return render(request, "chat/delete.html", context)
    operations.delete_thread(found, actor=acting(request))
    return redirect("chat:threads")


def _thread(request: HttpRequest, thread_id: UUID) -> Thread:
    found: Thread = get_object_or_404(Thread.objects.visible_to(acting(request)), pk=thread_id)
    return found


def own_run(request: HttpRequest, run_id: UUID) -> Run:
    rows = Run.objects.visible_to(acting(request)).select_related(
        "thread", "member", "guild", "canceled_by"
    )
    found: Run = get_object_or_404(rows, pk=run_id)
    return found


def _started(request: HttpRequest, run: Run) -> HttpResponse:
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('chat:thread', args=[run.thread_id])}#run-{run.pk}")
    return fragment_of(request, run)


def fragment_of(request: HttpRequest, run: Run) -> HttpResponse:
    """The run, and out of band what changed around it: button, spend, its line in the list."""
    thread = run.thread
    item = lists.with_state(Thread.objects.filter(pk=thread.pk)).get()
    context = {
        "view": run_view(run),
        "item": item,
        "thread": thread,
        "live": run if run.is_live else None,
    }
    return render(request, "chat/_run_and_around.html", context)


def _ask_refused(request: HttpRequest, found: Thread, form: AskForm) -> HttpResponse:
    refused = _refused(request, form)
    if not request.htmx:  # type: ignore[attr-defined]
        context = _thread_context(request, found) | refused
        return render(request, "chat/thread.html", context, status=422)
    return _composer(request, found, refused, status=422)


def _busy(request: HttpRequest, found: Thread, live: Run, question: str) -> HttpResponse:
    words = "Stop it or wait for it; your question is kept."
    error = {"title": "This thread is still being answered", "words": words}
    refused = {"error": error, "question": question, "live": live}
    if not request.htmx:  # type: ignore[attr-defined]
        context = _thread_context(request, found) | refused
        return render(request, "chat/thread.html", context, status=409)
    return _composer(request, found, refused, status=422)


def _composer(
    request: HttpRequest, found: Thread, refused: dict[str, Any], *, status: int
) -> HttpResponse:
    context = {"thread": found} | _composer_context(request, found) | refused
    response = render(request, "chat/_composer.html", context, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#composer", "outerHTML"
    return response


def _refused(request: HttpRequest, form: AskForm) -> dict[str, Any]:
    words = " ".join(str(error) for errors in form.errors.values() for error in errors)
    error = {"title": "The question was not sent", "words": words}
    return {"error": error, "question": request.POST.get("question", "").replace("\x00", "")}


def _composer_context(request: HttpRequest, found: Thread | None) -> dict[str, Any]:
    action = reverse("chat:ask", args=[found.pk]) if found else reverse("chat:start")
    profile = gateway.current_profile(acting(request).guild)
    return {"ask_action": action, "model_label": profile.label}


def _new_context(request: HttpRequest) -> dict[str, Any]:
    return (
        {
            "heading": "Ask",
            "examples": examples(request),
            "bar_template": "chat/_bar_threads.html",
            "new_thread": uuid4(),
        }
        | lists.sidebar(acting(request))
        | _composer_context(request, None)
    )


def _thread_context(request: HttpRequest, found: Thread) -> dict[str, Any]:
    runs = found.runs.select_related("member", "thread", "guild", "canceled_by")
    count = runs.count()
    newest = runs.order_by("-created_at", "-number").prefetch_related("steps")
    shown = list(newest if request.GET.get("all") else newest[:RECENT_RUNS])[::-1]
    return (
        {
            "heading": found.title,
            "thread": found,
            "runs": run_views(shown),
            "earlier": count - len(shown),
            "live": next((run for run in shown if run.is_live), None),
            "chips": CHIPS,
            "bar_template": "chat/_bar_threads.html",
        }
        | lists.sidebar(acting(request), found)
        | _composer_context(request, found)
    )


def examples(request: HttpRequest) -> list[dict[str, Any]]:
    """Questions from the tools' own examples, of the tools that this member may use."""
    groups = []
    for label, icon, names in EXAMPLES:
        tools = [registry.get(name) for name in names if name in registry]
        allowed = [tool for tool in tools if decide(acting(request), tool.capability)]
        each = 4 // max(1, len(allowed))
        questions = [q for tool in allowed for q in _anywhere(tool.examples)[:each]]
        if questions:
            groups.append({"label": label, "icon": icon, "questions": questions})
    return groups


def _anywhere(questions: Sequence[str]) -> list[str]:
    """Questions that make sense in any shop: none that names a release by its number."""
    return [question for question in questions if not re.search(r"\brelease \d", question)]
