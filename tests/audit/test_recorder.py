from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.models import Event
from apps.audit.recorder import NotAuditable, record

pytestmark = pytest.mark.django_db


def test_an_event_keeps_its_listed_fields() -> None:
    record("run", guild_id=7, actor="member:1", reason="completed", number=3, model="oriel")
    event = Event.objects.get()
    assert event.metadata == {"number": 3, "model": "oriel"}


def test_text_outside_the_list_fails_in_tests() -> None:
    with pytest.raises(NotAuditable, match="question"):
        record("run", guild_id=7, question="what is under ten dollars?")
    with pytest.raises(NotAuditable, match="model"):
        record("run", guild_id=7, model="x" * 200)
    with pytest.raises(NotAuditable, match="no audit event"):
        record("made_up", guild_id=7)


def test_text_outside_the_list_is_cut_in_production(settings: object) -> None:
    settings.TESTING = settings.DEBUG = False  # type: ignore[attr-defined]
    record("run", guild_id=7, number=1, question="secret words")
    assert Event.objects.get().metadata == {"number": 1}


@pytest.mark.parametrize("statement", ["DELETE FROM audit_event", "UPDATE audit_event SET kind=''"])
def test_events_can_be_neither_changed_nor_deleted(statement: str) -> None:
    record("sign_out", guild_id=None)
    with pytest.raises(DatabaseError), transaction.atomic():
        connection.cursor().execute(statement)
    assert Event.objects.count() == 1
