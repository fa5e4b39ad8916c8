"""A run as its page shows it. Everything comes from rows; nothing here calls a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from apps.agents import limits, presentation, streams
from apps.agents.models import Run, Step
from apps.core.money import format_cost
from apps.usage.models import UsageEvent

from .tables import TableView, drawer_url, table_view

LONG_QUESTION = 600
ARGUMENT = 120


@dataclass(frozen=True)
class Notice:
    """Why a run did not finish: what happened, and what to do next."""

    kind: str
    icon: str
    title: str
    words: str
    href: str = ""
    label: str = ""


@dataclass(frozen=True)
class Source:
    n: int
    label: str
    tool: str
    url: str
    drawer: bool


@dataclass
class RunView:
    """What ``chat/_run.html`` shows."""

    run: Run
    steps: Sequence[dict[str, Any]]
    tables: Sequence[TableView] = ()
    notes: Sequence[str] = ()
    answer_html: str = ""
    citations: Sequence[Source] = ()
    linked: int = 0
    flagged: int = 0
    cost: Decimal = Decimal(0)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    ms: int = 0
    after: str = "0-0"
    notice: Notice | None = None
    tool_names: Sequence[str] = field(default_factory=list)

    @property
    def live(self) -> bool:
        return self.run.is_live

    @property
    def asker(self) -> str:
        return self.run.member.display_name

    @property
    def long(self) -> bool:
        return len(self.run.question) > LONG_QUESTION

    @property
    def question(self) -> str:
        text = self.run.question
        return f"{text[:LONG_QUESTION].rstrip()}…" if self.long else text

    @property
    def model(self) -> str:
        return self.run.model

    @property
    def turns(self) -> int:
        return self.run.turns

    @property
    def turn_limit(self) -> int:
        return limits.TURNS

    @property
    def figures(self) -> int:
        return self.linked + self.flagged

    @property
    def outcome(self) -> str:
        """What came of the tools, in the trace's one line: the last outcome."""
        return self.steps[-1]["outcome"] if self.steps else ""

    @property
    def tool_ms(self) -> int | None:
        return sum(step["ms"] or 0 for step in self.steps) if self.steps else None


def run_views(runs: Sequence[Run]) -> list[RunView]:
    """Views of several runs, whose steps are prefetched, with one query for what they cost."""
    events: dict[Any, list[UsageEvent]] = {run.pk: [] for run in runs}
    for event in UsageEvent.objects.filter(run_id__in=list(events)):
        events[event.run_id].append(event)
    return [run_view(run, events=events[run.pk]) for run in runs]


def run_view(run: Run, *, events: Sequence[UsageEvent] | None = None) -> RunView:
    """The view of one run."""
    shown = presentation.run_view(run, ref_url=drawer_url, events=events)
    usage = shown["usage"]
    view = RunView(
        run=run,
        steps=[step_view(step) for step in shown["steps"]],
        cost=usage["cost"],
        calls=usage["calls"],
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        ms=round((usage["seconds"] or 0) * 1000),
        tool_names=list(dict.fromkeys(step["label"] for step in shown["steps"])),
    )
    if run.is_live:
        view.after = streams.resume_after(run)
        return view
    return _with_answer(view, shown)


def _with_answer(view: RunView, shown: dict[str, Any]) -> RunView:
    view.answer_html = shown["answer_html"]
    view.citations = [_source(item) for item in shown["citations"]]
    view.linked, view.flagged = shown["figures"]["linked"], shown["figures"]["flagged"]
    tables = [result for result in shown["tables"] if result["kind"] == "table"]
    view.tables = [result_view(view.run, result) for result in tables]
    notes = [note for step in shown["steps"] for note in step["notes"]]
    view.notes = list(dict.fromkeys(notes))
    view.notice = notice_of(view)
    return view


def result_view(
    run: Run, result: dict[str, Any], *, sort: str = "", descending: bool = False
) -> TableView:
    """A table of a run, as ``agents.presentation`` lists it, sorted by one of its columns."""
    linked = result | {"link": result.get("link") or _list_link(run, result)}
    return table_view(run.pk, linked, sort=sort, descending=descending)


def _list_link(run: Run, result: dict[str, Any]) -> str:
    """The shop's own list with the same filters, for the tool whose arguments it shares."""
    step = next(step for step in run.steps.all() if step.pk == result["step_id"])
    if step.tool != "stock_search" or not isinstance(step.arguments, dict):
        return ""
    query = {name: value for name, value in step.arguments.items() if name != "limit" and value}
    if step.arguments.get("in_stock") is False:
        query["in_stock"] = "no"
    return f"{reverse('shop:stock')}?{urlencode(query)}"


def _source(item: dict[str, Any]) -> Source:
    return Source(
        n=item["n"],
        label=item["label"],
        tool=item["tool"],
        url=item["url"],
        drawer=bool(item["ref"]),
    )


def step_view(step: dict[str, Any]) -> dict[str, Any]:
    """One tool call: ``stock_search(price_max=10) → 47 rows, 12 ms``."""
    return step | {
        "args": [(name, value[:ARGUMENT]) for name, value in step["args"]],
        "bad": step["status"] != Step.Status.SUCCEEDED,
    }


TITLES = {
    Run.Reason.STEP_LIMIT: "Stopped after eight turns",
    Run.Reason.REPEATED_CALL: "Stopped: the same call came again and again",
    Run.Reason.DEADLINE: "Stopped: it took too long",
    Run.Reason.DAILY_BUDGET: "Not started: today’s budget does not allow it",
    Run.Reason.PERMISSION_DENIED: "Not allowed",
    Run.Reason.PROVIDER_FAILED: "The model’s provider failed",
    Run.Reason.EXECUTOR_FAILED: "An error of ours stopped the run",
    Run.Reason.LOST: "The worker was lost",
}
WARNINGS = frozenset({Run.Reason.DAILY_BUDGET, Run.Reason.STEP_LIMIT, Run.Reason.REPEATED_CALL})


def notice_of(view: RunView) -> Notice | None:
    """What a page says about a run that did not finish; None for one that did."""
    run = view.run
    if run.status == Run.Status.SUCCEEDED:
        return None
    if run.status == Run.Status.CANCELED:
        return Notice("", "stop", _stopped(run), _charged(view))
    reason = run.termination_reason
    warn = reason in WARNINGS or run.status == Run.Status.DENIED
    words = run.error_message or "Ask again; the log of the worker says more."
    budgets = reason == Run.Reason.DAILY_BUDGET
    return Notice(
        kind="warn" if warn else "bad",
        icon="warn" if warn else "bad",
        title=TITLES.get(Run.Reason(reason), "The run failed") if reason else "The run failed",
        words=words,
        href=reverse("usage:today") if budgets else "",
        label="See the budget" if budgets else "",
    )


def _stopped(run: Run) -> str:
    moment = run.finished_at or run.cancel_requested_at
    by = f" by {run.canceled_by.display_name}" if run.canceled_by else ""
    at = f" at {date_format(timezone.localtime(moment), 'H:i:s')}" if moment else ""
    return f"Stopped{by}{at}"


def _charged(view: RunView) -> str:
    spent = (
        f"Charged {format_cost(view.cost)} for what was done."
        if view.cost
        else "Nothing was charged."
    )
    return f"{spent} Nothing runs on."
