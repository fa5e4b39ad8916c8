"""Writes of the agents room: ask, stop, ask again, forget."""

from __future__ import annotations

import secrets
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from apps.audit.recorder import record
from apps.core import clock
from apps.guilds import policy
from apps.guilds.models import Guild, Member

from . import tasks
from .models import QUESTION_LIMIT, Run, Thread

TITLE = 80


class QuestionTooLong(ValueError):
    """The question has more than 100,000 characters."""


class Busy(RuntimeError):
    """The thread is still answering an earlier question; carries that run."""

    def __init__(self, run: Run) -> None:
        super().__init__("This thread is still answering. Wait, or stop it first.")
        self.run = run


class EmptyQuestion(ValueError):
    """There is no question in the text."""


Refusals = (Busy, EmptyQuestion, QuestionTooLong, policy.Denied)


def start_thread(member: Member, question: str) -> Thread:
    """A new thread of the member, named after its first question."""
    return Thread.objects.create(guild_id=member.guild_id, member=member, title=title_of(question))


@transaction.atomic
def begin(
    member: Member, question: str, *, thread_id: UUID | None = None, wake: bool = True
) -> Run:
    """Start a thread with its first question.

    A form carries the id of the thread that it starts, so that a second click finds the run
    of the first one instead of asking twice.
    """
    text = check_question(question)
    Guild.objects.select_for_update(no_key=True).get(pk=member.guild_id)
    if thread_id and (begun := Run.objects.filter(thread_id=thread_id).first()):
        if begun.member_id != member.pk:
            return begin(member, question, wake=wake)
        return begun
    thread = Thread(guild_id=member.guild_id, member=member, title=title_of(text))
    thread.pk = thread_id or thread.pk
    thread.save(force_insert=True)
    return ask(thread, text, actor=member, wake=wake)


def title_of(question: str) -> str:
    """The first words of a question, on one line, at most 80 characters."""
    line = " ".join(question.replace("\0", " ").split())
    return line if len(line) <= TITLE else line[: TITLE - 1].rsplit(" ", 1)[0] + "…"


@transaction.atomic
def ask(
    thread: Thread,
    question: str,
    *,
    actor: Member,
    retry_of: Run | None = None,
    wake: bool = True,
) -> Run:
    """Write a queued run for the thread's next question and wake a worker on commit.

    One run of a thread at a time: :class:`Busy` while another is live.
    """
    policy.require(actor, "agent.ask")
    text = check_question(question)
    Guild.objects.select_for_update(no_key=True).get(pk=thread.guild_id)
    if live := thread.runs.live().first():
        raise Busy(live)
    highest = Run.objects.filter(guild_id=thread.guild_id).aggregate(n=Max("number"))["n"] or 0
    run = Run.objects.create(
        number=highest + 1,
        guild_id=thread.guild_id,
        thread=thread,
        member=actor,
        question=text,
        retry_of=retry_of,
        marker=secrets.token_hex(8),
    )
    Thread.objects.filter(pk=thread.pk).update(updated_at=clock.now())
    if wake:
        transaction.on_commit(lambda: tasks.wake(run))
    return run


def check_question(question: str) -> str:
    """The question as it is kept, or why it can't be asked."""
    text = question.replace("\0", "").strip()
    if not text:
        raise EmptyQuestion("Write a question first.")
    if len(text) > QUESTION_LIMIT:
        raise QuestionTooLong(
            f"The question has {len(text):,} characters; {QUESTION_LIMIT:,} is the most. "
            "Shorten it, or import the text as a file."
        )
    return text


def cancel(run: Run, *, actor: Member) -> bool:
    """Ask a live run to stop; a queued one stops at once. False when it has already ended."""
    now = clock.now()
    stop = {"cancel_requested_at": now, "canceled_by": actor}
    queued = Run.objects.filter(pk=run.pk, status=Run.Status.QUEUED).update(
        **stop,
        status=Run.Status.CANCELED,
        termination_reason=Run.Reason.CANCELED,
        finished_at=now,
    )
    asked = queued or Run.objects.filter(
        pk=run.pk, status=Run.Status.RUNNING, cancel_requested_at__isnull=True
    ).update(**stop)
    if asked:
        record(
            "run_cancel",
            guild_id=run.guild_id,
            actor=f"member:{actor.pk}",
            run=str(run.pk),
            number=run.number,
        )
    return bool(asked)


def retry(run: Run, *, actor: Member) -> Run:
    """Ask a run's question again, as a new run of the same thread."""
    return ask(run.thread, run.question, actor=actor, retry_of=run)


@transaction.atomic
def rename(thread: Thread, title: str) -> None:
    thread.title = title_of(title) or thread.title
    thread.save(update_fields=["title"])


@transaction.atomic
def delete_thread(thread: Thread, *, actor: Member) -> None:
    """Stop what runs in a thread and delete it with its runs and steps."""
    for run in thread.runs.live():
        cancel(run, actor=actor)
    runs = thread.runs.count()
    key = str(thread.pk)
    thread.delete()
    record(
        "thread_delete",
        guild_id=actor.guild_id,
        actor=f"member:{actor.pk}",
        thread=key,
        runs=runs,
    )
