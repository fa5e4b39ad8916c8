"""Trying a key that is kept, against a provider on loopback."""

from __future__ import annotations

from typing import Any

import pytest

from apps.audit.models import Event
from apps.guilds.models import Member
from apps.providers import operations
from apps.providers.models import Credential
from apps.providers.tasks import test_credential as task
from apps.providers.trying import try_key
from evals.model_server import ModelServer

pytestmark = pytest.mark.django_db
KEY = "sk-canary-5a6b7c8d9e0f1a2b"


@pytest.fixture
def server(settings: Any, model_server: ModelServer) -> ModelServer:
    settings.PROVIDER_ALLOWED_HOSTS = ["127.0.0.1"]
    model_server.reset({"rules": [], "api_key": KEY, "models": ["lantern-small", f"x-{KEY}"]})
    return model_server


@pytest.fixture
def key(member: Member, server: ModelServer) -> Credential:
    return operations.add_credential(
        guild=member.guild, provider="custom", label="Back room", secret=KEY, actor=member,
        base_url=f"{server.base_url}/v1",
    )  # fmt: skip


def select(member: Member, key: Credential, model: str) -> None:
    operations.select_model(
        guild=member.guild, purpose="chat", credential=key, model=model, actor=member
    )


def test_a_good_key_keeps_its_list_without_the_key_in_it(key):
    task(str(key.pk))
    key.refresh_from_db()
    assert (key.test, key.test_class, key.status) == ("succeeded", "", "active")
    assert key.listed_models == ["lantern-small"]


def test_a_wrong_key_is_invalid_and_keeps_no_list(key):
    operations.replace_secret(key, f"{KEY}-wrong", actor=None)
    task(str(key.pk))
    key.refresh_from_db()
    assert (key.test, key.test_class, key.status) == ("failed", "auth_failed", "invalid")
    assert key.listed_models == []


def test_a_chosen_model_that_the_provider_does_not_know_is_told(key, member):
    select(member, key, "lantern-small")
    assert try_key(key).ok
    select(member, key, "lantern-enormous")
    result = try_key(key)
    key.refresh_from_db()
    assert (result.error_class, key.test_class) == ("unsupported_model", "unsupported_model")
    assert key.status == "active"


def test_a_key_that_does_not_open_is_sent_nowhere(key, server, settings):
    settings.SEALING_KEYS = "other:" + "A" * 43 + "="
    before = len(server.requests)
    result = try_key(key)
    key.refresh_from_db()
    assert (result.error_class, key.test_class) == ("cannot_open", "cannot_open")
    assert len(server.requests) == before


def test_a_revoked_or_missing_key_is_left_alone(key, server):
    operations.revoke(key, actor=None)
    task(str(key.pk))
    task("00000000-0000-0000-0000-000000000000")
    assert not Event.objects.filter(kind="credential_test").exists()
    assert server.requests == []


def test_what_a_key_did_before_it_was_replaced_does_not_count(key):
    stale = Credential.objects.get(pk=key.pk)
    operations.replace_secret(key, f"{KEY}-wrong", actor=None)
    assert operations.record_test(stale, "") is False
    key.refresh_from_db()
    assert key.test == "untested"
