"""A run as a page shows it, built from rows alone: trace, answer, tables, proof and cost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from apps.core import figures
from apps.core.markdown import render
from apps.core.money import format_cost
from apps.usage.models import UsageEvent

from .models import Run, Step

RefUrl = Callable[[str], str]
_REF = re.compile(r"\s?\[((?:[a-z]+:\d+)(?:\s*[,;]\s*[a-z]+:\d+)*)\]")
# Private-use characters mark where a link goes; an answer can't contain them.
_OPEN, _SHUT = "\ue000", "\ue001"
_PRIVATE = re.compile("[\ue000-\uf8ff]")


def run_view(
    run: Run,
    *,
    ref_url: RefUrl = lambda ref: f"#{ref}",
    events: Iterable[UsageEvent] | None = None,
) -> dict[str, Any]:
    """Everything that ``chat/_run.html`` shows of a run.

    Keys: run, steps, tables, answer_html, citations, figures (linked, flagged), usage, model.
    Where many runs are shown, prefetch their steps and give each its usage events.
    """
    rows = sorted(run.steps.all(), key=lambda step: step.index)
    tables = _tables(rows)
    answer = Answer(run, tables, ref_url)
    return {
        "run": run,
        "steps": [step_view(step) for step in rows if step.kind == Step.Kind.TOOL],
        "tables": tables,
        "answer_html": answer.html(),
        "citations": answer.citations,
        "figures": {"linked": answer.linked, "flagged": answer.flagged},
        "usage": usage_of(run, events),
        "model": run.model,
    }


def step_view(step: Step) -> dict[str, Any]:
    """One line of the trace: ``label``, ``args`` as pairs, ``outcome`` in words, ``ms``."""
    return {
        "id": step.pk,
        "label": step.tool,
        "args": [(name, _shown(value)) for name, value in step.arguments.items()],
        "outcome": _outcome(step),
        "status": step.status,
        "reason": step.reason,
        "error": (step.result or {}).get("error", ""),
        "ms": step.ms,
        "rows": step.rows,
        "notes": (step.result or {}).get("notes") or [],
    }


def _shown(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value):
        return value
    return json.dumps(value, ensure_ascii=False)


def arguments_text(step: Step) -> str:
    """Arguments as a trace writes them: ``price_max=10, not_sold_days=90``."""
    return ", ".join(f"{name}={_shown(value)}" for name, value in step.arguments.items())


def _outcome(step: Step) -> str:
    if step.status == Step.Status.REFUSED:
        return f"Refused: {step.reason}"
    if step.status != Step.Status.SUCCEEDED:
        return f"Failed: {step.reason}"
    if step.rows is None:
        return "done"
    return "1 row" if step.rows == 1 else f"{step.rows:,} rows"


def _tables(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Results that succeeded, each with the id of its anchor (``r1``) and of its step."""
    done = [s for s in steps if s.kind == Step.Kind.TOOL and s.status == Step.Status.SUCCEEDED]
    return [
        {**(step.result or {}), "id": f"r{number}", "step_id": step.pk, "tool": step.tool}
        for number, step in enumerate(done, 1)
    ]


def usage_of(run: Run, events: Iterable[UsageEvent] | None = None) -> dict[str, Any]:
    """Cost in USD, calls, tokens and seconds of a run, from the usage ledger."""
    events = list(UsageEvent.objects.filter(run_id=run.pk) if events is None else events)
    cost = sum((event.cost for event in events), Decimal(0))
    ended = run.finished_at
    seconds = (ended - run.started_at).total_seconds() if ended and run.started_at else None
    return {
        "cost": cost,
        "cost_text": format_cost(cost),
        "calls": len(events),
        "input_tokens": sum(event.input_tokens for event in events),
        "output_tokens": sum(event.output_tokens for event in events),
        "seconds": seconds,
        "estimated": any(event.estimated for event in events),
    }


class Answer:
    """The answer's text with its citations numbered and its figures linked or flagged."""

    def __init__(self, run: Run, results: list[dict[str, Any]], ref_url: RefUrl) -> None:
        self.citations: list[dict[str, Any]] = []
        self.linked = self.flagged = 0
        self._run, self._results, self._ref_url = run, results, ref_url
        self._rows = {
            row["ref"]: row
            for result in results
            for row in result.get("rows") or ()
            if row.get("ref")
        }
        self._html: list[str] = []
        self._cite_results()

    def html(self) -> SafeString:
        """Sanitised HTML. Figures of an unfinished answer are not judged."""
        text = _PRIVATE.sub("", self._run.answer)
        marked = self._mark(text, self._judged(text))
        shown = render(marked)
        filled = re.sub(
            f"{_OPEN}(\\d+){_SHUT}", lambda match: self._html[int(match[1])], str(shown)
        )
        return mark_safe(filled)  # noqa: S308 -- pieces are escaped by format_html

    def _judged(self, text: str) -> list[figures.Link]:
        if self._run.provider == "house" and not self._results:
            # The house model asks back with example questions; it claims nothing by itself.
            return []
        results = figures.Ledger()
        for result in self._results:
            figures.add_result(results, result, result["id"])
        return figures.check(text, [figures.from_question(self._run.question), results])

    def _mark(self, text: str, links: list[figures.Link]) -> str:
        spans = [(link.token.start, link.token.end, self._figure(link)) for link in links]
        spans += [(m.start(), m.end(), self._cites(m[1])) for m in _REF.finditer(text)]
        pieces, at = [], 0
        for start, end, html in sorted(spans):
            if start < at:
                continue
            pieces += [text[at:start], self._hold(html)]
            at = end
        return "".join([*pieces, text[at:]])

    def _hold(self, html: str) -> str:
        self._html.append(html)
        return f"{_OPEN}{len(self._html) - 1}{_SHUT}"

    def _figure(self, link: figures.Link) -> str:
        if not link.anchor:
            self.flagged += 1
            return format_html(
                '<span class="flagged">{}<svg class="i" role="img" aria-label="not found in the '
                'results"><use href="#i-warn"/></svg></span>',
                link.token.text,
            )
        self.linked += 1
        question = f"q-{self._run.pk}"
        anchor = question if link.anchor == "question" else f"{self._run.pk}-{link.anchor}"
        return format_html('<a class="fig" href="#{}">{}</a>', anchor, link.token.text)

    def _cite_results(self) -> None:
        for result in self._results:
            rows = result.get("total_rows")
            label = "done" if rows is None else "1 row" if rows == 1 else f"{rows:,} rows"
            self.citations.append(
                {
                    "n": len(self.citations) + 1,
                    "ref": "",
                    "tool": result["tool"],
                    "label": label,
                    "url": f"#{self._run.pk}-{result['id']}",
                }
            )

    def _cites(self, listed: str) -> str:
        refs = re.split(r"\s*[,;]\s*", listed)
        return "".join(self._cite(ref) for ref in refs if ref in self._rows)

    def _cite(self, ref: str) -> str:
        known = next((c for c in self.citations if c["ref"] == ref), None)
        if known is None:
            known = {
                "n": len(self.citations) + 1,
                "ref": ref,
                "tool": "",
                "label": row_label(self._rows[ref]),
                "url": self._ref_url(ref),
            }
            self.citations.append(known)
        return format_html(
            '<a class="cite" href="{}" data-drawer aria-label="Source {}">{}</a>',
            known["url"],
            known["n"],
            known["n"],
        )


def row_label(row: Mapping[str, Any]) -> str:
    """What a row is called: ``Artist — Title``, or its first texts."""
    artist, title = row.get("artist"), row.get("title") or row.get("item")
    if artist and title:
        return f"{artist} — {title}"
    texts = [str(v) for k, v in row.items() if k != "ref" and isinstance(v, str) and v]
    return str(title or " · ".join(texts[:2]) or row.get("ref", ""))
