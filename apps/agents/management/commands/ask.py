"""Ask a question from the command line, through the same loop as the panel."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.agents import loop, operations
from apps.agents.models import Run, Thread
from apps.agents.presentation import arguments_text, run_view, usage_of
from apps.guilds.models import Guild, Member
from apps.guilds.operations import ensure_first_guild
from apps.usage.models import UsageEvent


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("question", help="the question; - reads it from standard input")
        parser.add_argument("--as", dest="user", default="", help="e-mail of the staff user")
        parser.add_argument("--guild", default="", help="id or name; the first guild if left out")
        parser.add_argument("--thread", default="", help="id of the thread to go on with")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        question = sys.stdin.read() if options["question"] == "-" else options["question"]
        member = find_member(options["guild"], options["user"])
        run = self._ask(member, question, options["thread"])
        claimed = Run.objects.claim(run.pk)
        try:
            if claimed is not None:
                loop.execute(claimed)
            run = _ended(run)
        except KeyboardInterrupt:
            operations.cancel(run, actor=member)
            raise
        if options["json"]:
            self.stdout.write(json.dumps(as_json(run), ensure_ascii=False, indent=2))
        else:
            self._print(run)
        if run.status != Run.Status.SUCCEEDED:
            sys.exit(1)

    def _ask(self, member: Member, question: str, thread_id: str) -> Run:
        try:
            if not thread_id:
                return operations.begin(member, question, wake=False)
            thread = self._thread(member, thread_id)
            return operations.ask(thread, question, actor=member, wake=False)
        except operations.Refusals as error:
            raise CommandError(str(error)) from None

    def _thread(self, member: Member, thread_id: str) -> Thread:
        try:
            thread: Thread = Thread.objects.visible_to(member).get(pk=thread_id)
        except (Thread.DoesNotExist, ValidationError):
            raise CommandError(f"{member} has no thread {thread_id[:80]!r}.") from None
        return thread

    def _print(self, run: Run) -> None:
        view = run_view(run)
        for step in run.steps.filter(kind="tool"):
            shown = next(s for s in view["steps"] if s["id"] == step.pk)
            self.stdout.write(
                f"{step.tool}({arguments_text(step)}) → {shown['outcome']}, {step.ms} ms"
            )
        self.stdout.write(run.answer or run.error_message)
        self.stdout.write(f"{run.model} · {view['usage']['cost_text']}")


def _ended(run: Run) -> Run:
    """The run once it is over: a worker may have claimed it first."""
    while True:
        run.refresh_from_db()
        if not run.is_live:
            return run
        time.sleep(0.2)


def find_member(guild_name: str, email: str) -> Member:
    """The member that a command acts as, or :class:`CommandError` naming what is missing."""
    guild = _guild(guild_name)
    members = guild.members.filter(is_active=True, user__is_active=True).select_related(
        "guild", "user"
    )
    if email:
        member = members.filter(user__email__iexact=email).first()
    else:
        member = members.order_by("-is_owner", "pk").first()
    if member is None:
        who = f"staff user {email[:80]!r}" if email else "active staff user"
        raise CommandError(f"{guild} has no {who}.")
    return member


def _guild(name: str) -> Guild:
    if not name:
        return ensure_first_guild()[0]
    found = Guild.objects.filter(name__iexact=name).first()
    if found is None and name.isdecimal():
        found = Guild.objects.filter(pk=int(name[:18])).first()
    if found is None:
        raise CommandError(f"There is no guild {name[:80]!r}.")
    return found


def as_json(run: Run) -> dict[str, Any]:
    """The run as one object: answer, steps, citations, usage and flags."""
    rows = list(run.steps.order_by("index"))
    view, usage = run_view(run), usage_of(run)
    spent = UsageEvent.objects.filter(run_id__in=run.thread.runs.values_list("pk", flat=True))
    return {
        "run_id": str(run.pk),
        "thread_id": str(run.thread_id),
        "status": run.status,
        "termination_reason": run.termination_reason,
        "answer": run.answer or run.error_message,
        "steps": [
            {
                "index": step.index,
                "kind": step.kind,
                "tool": step.tool,
                "args": step.arguments,
                "rows": step.rows,
                "ms": step.ms,
                "status": step.status,
                **({"totals": step.result.get("totals")} if step.result else {}),
            }
            for step in rows
        ],
        "citations": [
            {"n": c["n"], "ref": c["ref"], "tool": c["tool"], "label": c["label"]}
            for c in view["citations"]
        ],
        "proposals": [],
        "usage": {
            "input_tokens": usage["input_tokens"],
            "output_tokens": usage["output_tokens"],
            "cost_usd": f"{usage['cost']:f}",
            "thread_cost_usd": f"{spent.totals()['cost']:f}",
        },
        "flags": [f"{view['figures']['flagged']} figures not found in the results"]
        if view["figures"]["flagged"]
        else [],
    }
