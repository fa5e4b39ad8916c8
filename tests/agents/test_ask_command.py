"""``bin/manage ask``: the main job from the command line, with no worker and no key."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.agents.models import Run
from apps.guilds.models import Member, User

pytestmark = pytest.mark.usefixtures("own_db", "member")


def ask(question: str, **options: Any) -> dict[str, Any]:
    out = StringIO()
    try:
        call_command("ask", question, json=True, stdout=out, **options)
    except SystemExit:
        pass
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


@pytest.fixture
def stock(shared_data: Path, member: Member) -> None:
    """The 322 real listings, imported as a person would."""
    path = shared_data / "discogs-inventory" / "inventory-322-reshaped.csv"
    call_command("import_stock", str(path), currency="USD", json=True, stdout=StringIO())


@pytest.mark.usefixtures("stock")
def test_how_many_items_are_priced_under_ten_dollars() -> None:
    answer = ask("how many items are priced under $10?")
    assert answer["status"] == "succeeded"
    assert answer["termination_reason"] == "completed"
    assert "138" in answer["answer"]
    step = next(s for s in answer["steps"] if s["kind"] == "tool")
    assert (step["tool"], step["args"]) == ("stock_search", {"price_max": "10"})
    assert step["rows"] == 138
    assert (step["totals"]["least"], step["totals"]["rows"]) == ("0.61", 138)
    assert answer["flags"] == []


@pytest.mark.usefixtures("stock")
@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("how many items are priced over $50?", 38),
        ('how many 7" records do we have?', 125),
        ('how many 12" do we have?', 7),
        ("how many items are in stock?", 322),
    ],
)
def test_known_answers_of_the_real_file(question: str, rows: int) -> None:
    answer = ask(question)
    step = next(s for s in answer["steps"] if s["kind"] == "tool")
    assert step["rows"] == rows
    assert str(rows) in answer["answer"]


@pytest.mark.usefixtures("stock")
def test_the_object_has_the_keys_it_promises() -> None:
    answer = ask("what is under $10?")
    assert set(answer) == {
        "run_id", "thread_id", "status", "termination_reason", "answer", "steps", "citations",
        "proposals", "usage", "flags",
    }  # fmt: skip
    assert set(answer["usage"]) == {"input_tokens", "output_tokens", "cost_usd", "thread_cost_usd"}
    for step in answer["steps"]:
        assert {"index", "kind", "tool", "args", "rows", "ms", "status"} <= set(step)


def test_a_thread_can_be_gone_on_with() -> None:
    first = ask("what is under $10?")
    second = ask("and under $5?", thread=first["thread_id"])
    assert second["thread_id"] == first["thread_id"]


def test_a_change_is_refused_in_words() -> None:
    answer = ask("delete all stock")
    assert not [s for s in answer["steps"] if s["kind"] == "tool"]
    assert "change" in answer["answer"]


@pytest.mark.parametrize(
    ("question", "options", "words"),
    [
        ("", {}, "Write a question"),
        ("x" * 100_001, {}, "100,001 characters"),
        ("hello", {"user": "nobody@example.com"}, "no staff user"),
        ("hello", {"guild": "Nowhere"}, "no guild"),
        ("hello", {"thread": "not-an-id"}, "no thread"),
    ],
)
def test_what_is_wrong_is_told(question: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("ask", question, **options)
    assert not Run.objects.exists()


def test_someone_without_the_right_is_refused(clerk: User) -> None:
    with pytest.raises(CommandError, match=r"agent\.ask"):
        call_command("ask", "what is under $10?", user=clerk.email)
