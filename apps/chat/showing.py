"""A run as its page shows it. Everything comes from rows; nothing here calls a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from apps.agents import limits, presentation, streams
from apps.agents.models import Run, Step

from .tables import TableView, drawer_url, table_view

LONG_QUESTION = 600


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


def run_view(run: Run) -> RunView:
    """The view of one run; its steps should be prefetched where many are shown."""
    steps = sorted(run.steps.all(), key=lambda step: step.index)
    tools = [step for step in steps if step.kind == Step.Kind.TOOL]
    view = RunView(run=run, steps=[step_view(step) for step in tools])
    view.tool_names = list(dict.fromkeys(step.tool for step in tools))
    view.after = streams.resume_after(run)
    _add_usage(view, steps)
    if not run.is_live:
        _add_answer(view, steps)
        view.notice = notice_of(view)
    return view


def _add_usage(view: RunView, steps: Sequence[Step]) -> None:
    models = [step for step in steps if step.kind == Step.Kind.MODEL]
    view.calls = len(models)
    view.cost = sum((step.cost for step in models), Decimal(0))
    view.input_tokens = sum(step.input_tokens for step in models)
    view.output_tokens = sum(step.output_tokens for step in models)
    if view.run.started_at and view.run.finished_at:
        view.ms = round((view.run.finished_at - view.run.started_at).total_seconds() * 1000)


def _add_answer(view: RunView, steps: Sequence[Step]) -> None:
    shown = presentation.run_view(view.run)
    view.answer_html = shown["answer_html"]
    view.citations = [_source(item) for item in shown["citations"]]
    view.linked, view.flagged = shown["figures"]["linked"], shown["figures"]["flagged"]
    tables = [step for step in steps if is_table(step)]
    view.tables = [
        table_view(view.run, step, name=table_name(view.run, step)) for step in tables
    ]
    view.notes = [note for step in tables for note in (step.result or {}).get("notes", [])]


def table_name(run: Run, step: Step) -> str:
    """The id of a table on its page: unique among all runs of a thread."""
    return f"t{run.number}-{step.index}"


def is_table(step: Step) -> bool:
    """Whether the step holds a table that came back whole."""
    return step.status == Step.Status.SUCCEEDED and (step.result or {}).get("kind") == "table"


def _source(item: dict[str, Any]) -> Source:
    drawer = drawer_url(str(item.get("ref") or ""))
    return Source(
        n=item["n"],
        label=item["label"],
        url=drawer or item.get("url") or "",
        drawer=bool(drawer),
    )


def step_view(step: Step) -> dict[str, Any]:
    """One tool call: ``stock_search(price_max=10) → 47 rows, 12 ms``."""
    bad = step.status != Step.Status.SUCCEEDED
    return {
        "label": step.tool,
        "args": [(name, show_argument(value)) for name, value in _arguments(step).items()],
        "outcome": _failure(step) if bad else _outcome(step),
        "bad": bad,
        "ms": step.ms,
    }


def _arguments(step: Step) -> dict[str, Any]:
    given = step.arguments if isinstance(step.arguments, dict) else {}
    return {name: value for name, value in given.items() if value not in (None, "")}


def show_argument(value: Any) -> str:
    """As in a call: numbers bare, text in quotes, at most 80 characters."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if not isinstance(value, str) or text.replace(".", "", 1).replace("-", "").isdigit():
        return text[:80]
    return f'"{text[:80]}{"…" if len(text) > 80 else ""}"'


def _outcome(step: Step) -> str:
    result = step.result or {}
    if result.get("kind") == "figure":
        return f"{result.get('value')} {result.get('unit', '')}".strip()
    if step.rows is None:
        return "done"
    return "1 row" if step.rows == 1 else f"{step.rows:,} rows"


def _failure(step: Step) -> str:
    word = {"refused": "Refused", "canceled": "Stopped"}.get(step.status, "Failed")
    return f"{word}: {step.reason}" if step.reason and word != "Stopped" else word


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
    from apps.core.money import format_cost

    spent = f"Charged {format_cost(view.cost)} for what was done." if view.cost else "Nothing was charged."
    return f"{spent} Nothing runs on."
