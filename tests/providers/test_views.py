"""Pages of the providers room: keys come in and never go out, and who may do what."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import redis
from celery import Celery
from django.urls import reverse

from apps.audit.models import Event
from apps.core import clock
from apps.guilds import operations as guilds
from apps.guilds.models import Member
from apps.providers import operations, tasks
from apps.providers.models import Credential, ModelProfile
from apps.providers.views import LATE

pytestmark = pytest.mark.django_db
KEY = "sk-canary-7f3a91c2d4e5b6a7f8c9"
OTHER = "sk-canary-0d1e2f3a4b5c6d7e8f90"
HTMX = {"headers": {"HX-Request": "true"}}
RIGHTS = ("llm.provider.write", "llm.provider.test", "llm.provider.select")


@pytest.fixture
def key(member: Member) -> Credential:
    return operations.add_credential(
        guild=member.guild, provider="openai", label="Shop main", secret=KEY, actor=member
    )


@pytest.fixture
def keeper(client, ada):
    client.force_login(ada)
    return client


def text(response) -> str:
    """What the server sent; no response of this room may ever hold a key."""
    body = response.content.decode()
    headers = str(response.headers)
    for secret in (KEY, OTHER):
        assert secret not in body + headers
    return body


def added(client, **change) -> Any:
    data = {"provider": "openai", "label": "Shop main", "key": KEY, "base_url": ""}
    return client.post("/providers/add/", data | change)


def at(name: str, key: Credential) -> str:
    return reverse(f"providers:{name}", args=[key.pk])


def test_a_key_is_sealed_and_its_test_asked_for(keeper, member):
    response = added(keeper)
    row = Credential.objects.get()
    assert response.url.startswith(f"/providers/{row.pk}/?asked=")
    assert (row.owner, row.created_by, row.test) == (f"guild:{member.guild_id}", member, "untested")
    assert row.open() == KEY
    body = text(keeper.get(response.url))
    assert "Testing the key" in body
    assert f'hx-get="/providers/{row.pk}/health/?asked=' in body
    assert 'hx-trigger="every 1s"' in body


def test_the_list_tells_health_who_and_when(keeper, key):
    body = text(keeper.get("/providers/"))
    assert "Untested" in body
    assert "never" in body
    assert f"{key.key_id}·{key.fingerprint[:4]}" in body
    assert 'aria-label="Ada Quill"' in body
    operations.record_test(key, "")
    assert "Works" in text(keeper.get("/providers/"))
    operations.record_test(key, "auth_failed")
    body = text(keeper.get("/providers/"))
    assert "Refused" in body
    assert "Nothing else is tried in its place." in body


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("auth_failed", "The provider refuses the key"),
        ("rate_limited", "The provider asks to wait"),
        ("provider_unavailable", "The provider can’t answer now"),
        ("invalid_response", "What answered is no model provider"),
        ("timeout", "No answer in ten seconds"),
        ("unreachable", "Nothing can be reached at that address"),
        ("unsupported_model", "The provider does not know the model"),
        ("something_new", "The test failed"),
    ],
)
def test_a_failed_test_is_told_in_words_with_its_class(keeper, key, failure, words):
    operations.record_test(key, failure)
    body = text(keeper.get(at("credential", key)))
    assert words in body
    assert failure in body


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"key": ""}, "Type the key"),
        ({"key": f"{KEY} {KEY}"}, "A key has no spaces"),
        ({"key": KEY + "x" * 5000}, "at most 4,096 characters"),
        ({"label": ""}, "This field is required."),
        ({"label": KEY}, "looks like a secret"),
        ({"label": f"main {KEY}", "key": OTHER}, "looks like a secret"),
        ({"label": "main", "key": "short-1", "base_url": f"https://api.openai.com/?k={KEY}"}, ""),
        ({"base_url": f"https://u:{KEY}@models.example/v1", "provider": "custom"}, ""),
        ({"provider": KEY}, "Choose one of the list."),
        ({"provider": "custom"}, ""),
        ({"provider": "custom", "base_url": "http://10.0.0.8/v1"}, "https"),
    ],
)
def test_a_wrong_form_keeps_nothing_and_shows_no_key(keeper, change, words):
    response = added(keeper, **change)
    assert response.status_code == 422
    body = text(response)
    assert words in body
    assert 'class="wrong' in body or 'class="notice bad"' in body
    assert 'type="password" value' not in body
    assert not Credential.objects.exists()


def test_a_short_key_in_the_label_is_not_shown_again(keeper):
    response = added(keeper, label="hunter2", key="hunter2")
    assert response.status_code == 422
    assert "hunter2" not in text(response)


def test_a_label_is_taken_once_and_the_rest_is_kept(keeper, key):
    response = added(keeper, label="SHOP MAIN", provider="openrouter", key=OTHER)
    body = text(response)
    assert response.status_code == 422
    assert "There is a key “SHOP MAIN” already." in body
    assert 'value="SHOP MAIN"' in body
    assert '<option value="openrouter" selected>' in body


def test_without_a_sealing_key_it_is_told_and_nothing_breaks(keeper, settings):
    settings.SEALING_KEYS = ""
    response = added(keeper)
    assert response.status_code == 422
    assert "SEALING_KEYS is empty" in text(response)


@pytest.mark.parametrize("debug", [True, False])
def test_a_page_of_an_error_shows_no_key(keeper, key, settings, debug):
    settings.DEBUG, settings.SEALER = debug, "apps.core.sealing.NoSuchSealer"
    keeper.raise_request_exception = False
    for response in (added(keeper, label="b"), keeper.post(at("replace", key), {"key": OTHER})):
        assert response.status_code == 500
        body = text(response)
        assert ("NoSuchSealer" in body) == debug


def test_a_key_whose_sealing_key_is_gone_is_red(keeper, key, settings):
    settings.SEALING_KEYS = "new:" + "A" * 43 + "="
    operations.record_test(key, "")
    assert "Does not open" in text(keeper.get("/providers/"))
    body = text(keeper.get(at("credential", key)))
    assert "The key does not open any more" in body
    assert at("test", key) not in body


def test_keys_that_wait_for_rotation_are_counted(keeper, key, settings):
    assert "rotate_keys" not in text(keeper.get("/providers/"))
    settings.SEALING_KEYS = "new:" + "A" * 43 + "=," + settings.SEALING_KEYS
    body = text(keeper.get("/providers/"))
    assert "1 of 1 waits to be sealed anew" in body
    assert "Does not open" not in body


def test_a_running_test_is_watched_until_the_row_says_more(keeper, key):
    started = clock.now()
    query = {"asked": started.isoformat()}
    assert "Testing the key" in text(keeper.get(at("health", key), query))
    operations.record_test(key, "")
    body = text(keeper.get(at("health", key), query))
    assert "The key works" in body
    assert "every 1s" not in body


def test_a_test_that_no_worker_took_is_told(keeper, key):
    asked = (clock.now() - LATE - timedelta(seconds=1)).isoformat()
    body = text(keeper.get(at("health", key), {"asked": asked}))
    assert "No worker took the test" in body
    assert "every 1s" not in body
    assert "No worker took" not in text(keeper.get(at("health", key)))


@pytest.mark.parametrize(
    "asked", ["2099-01-01T00:00:00+00:00", "yesterday", "2026-13-40", "x" * 99]
)
def test_an_impossible_instant_is_no_test(keeper, key, asked):
    body = text(keeper.get(at("health", key), {"asked": asked}))
    assert "Not tested yet" in body
    assert "every 1s" not in body


def test_testing_answers_htmx_with_the_part_alone(keeper, key):
    body = text(keeper.post(at("test", key), **HTMX))
    assert ("<html" in body, "Testing the key" in body) == (False, True)
    assert keeper.post(at("test", key)).url.startswith(at("credential", key) + "?asked=")


def test_without_a_broker_the_test_is_told_as_not_made(keeper, key, settings, monkeypatch):
    away = Celery("away", broker="redis://127.0.0.1:1/0", set_as_current=False)
    away.conf.broker_transport_options = settings.CELERY_BROKER_TRANSPORT_OPTIONS

    @away.task(name="test")
    def lost(pk):
        raise AssertionError

    monkeypatch.setattr(tasks, "test_credential", lost)
    response = keeper.post(at("test", key), follow=True)
    assert "Not tested: the broker cannot be reached." in text(response)
    assert "Not tested: the broker cannot be reached." in text(keeper.post(at("test", key), **HTMX))


def test_a_message_to_a_worker_holds_the_row_s_id_alone(keeper, key, settings):
    store = redis.Redis.from_url(settings.REDIS_URL)
    store.delete("agents")
    keeper.post(at("test", key))
    waiting = store.lrange("agents", 0, -1)
    store.delete("agents")
    assert len(waiting) == 1
    arguments = base64.b64decode(json.loads(waiting[0])["body"]).decode()
    assert json.loads(arguments)[:2] == [[str(key.pk)], {}]
    assert KEY not in waiting[0].decode() + arguments


def test_replacing_takes_the_key_again_and_resets_the_test(keeper, key):
    operations.record_test(key, "auth_failed")
    body = text(keeper.get(at("replace", key)))
    assert "base_url" not in body
    assert keeper.post(at("replace", key), {"key": ""}).status_code == 422
    response = keeper.post(at("replace", key), {"key": OTHER, "base_url": "https://evil.example"})
    assert response.url.startswith(at("credential", key))
    text(response)
    key.refresh_from_db()
    assert (key.open(), key.test, key.status) == (OTHER, "untested", "active")
    assert key.base_url == "https://api.openai.com/v1"


def test_a_new_address_needs_the_key_again(keeper, member):
    row = operations.add_credential(
        guild=member.guild, provider="custom", label="Back room", secret=KEY,
        base_url="https://models.example/v1", actor=member,
    )  # fmt: skip
    assert 'value="https://models.example/v1"' in text(keeper.get(at("replace", row)))
    moved = {"key": "", "base_url": "https://other.example/v1"}
    assert keeper.post(at("replace", row), moved).status_code == 422
    row.refresh_from_db()
    assert row.base_url == "https://models.example/v1"
    response = keeper.post(at("replace", row), moved | {"key": f"{OTHER} {OTHER}"})
    assert 'value="https://other.example/v1"' in text(response)
    keeper.post(at("replace", row), moved | {"key": OTHER})
    row.refresh_from_db()
    assert (row.base_url, row.open()) == ("https://other.example/v1", OTHER)


def test_revoking_tells_what_stops_and_wipes(keeper, key, member):
    select(member, key)
    body = text(keeper.get(at("revoke", key)))
    assert "Stops with it" in body
    assert "gpt-5.4-mini" in body
    assert keeper.post(at("revoke", key)).url == "/providers/"
    key.refresh_from_db()
    assert (key.status, key.ciphertext, key.fingerprint) == ("revoked", None, "")
    assert not ModelProfile.objects.filter(enabled=True).exists()
    assert "“Shop main” is revoked" in text(keeper.get("/providers/"))
    assert "Shop main" not in text(keeper.get("/providers/"))
    assert "Its sealed key was wiped." in text(keeper.get(at("health", key)))
    assert "key revoked" in text(keeper.get("/providers/models/"))
    for name in ("test", "replace", "revoke"):
        assert keeper.post(at(name, key), {"key": OTHER}).status_code == 404


def select(member: Member, key: Credential, purpose: str = "chat", **options) -> ModelProfile:
    return operations.select_model(
        guild=member.guild, purpose=purpose, credential=key, model="gpt-5.4-mini", actor=member,
        **options,
    )  # fmt: skip


def test_a_model_is_chosen_and_cleared_per_purpose(keeper, key, member):
    body = text(keeper.get("/providers/models/"))
    assert body.count("house model (no key)") >= 3
    form = text(keeper.get("/providers/models/chat/"))
    assert '<option value="gpt-5.4-mini">Shop main</option>' in form
    response = keeper.post(
        "/providers/models/chat/", {"credential": str(key.pk), "model": "my-own-model:7b"}
    )
    assert response.url == "/providers/models/"
    profile = ModelProfile.objects.get()
    assert (profile.purpose, profile.model, profile.selected_by) == (
        "chat", "my-own-model:7b", member,
    )  # fmt: skip
    body = text(keeper.get("/providers/models/"))
    assert "<code>my-own-model:7b</code>" in body
    assert "Chat with <code>my-own-model:7b</code>" in text(keeper.get(at("credential", key)))
    assert 'value="my-own-model:7b"' in text(keeper.get("/providers/models/chat/"))
    assert keeper.post("/providers/models/chat/clear/").url == "/providers/models/"
    assert not ModelProfile.objects.exists()


def test_what_the_last_good_test_listed_is_suggested(keeper, key):
    operations.record_test(key, "", models=["lantern-small", "lantern-large"])
    operations.record_test(key, "timeout")
    form = text(keeper.get("/providers/models/routing/"))
    assert '<option value="lantern-small">Shop main</option>' in form
    assert "2 models" in text(keeper.get(at("credential", key)))
    operations.replace_secret(key, OTHER, actor=None)
    assert "lantern-small" not in text(keeper.get("/providers/models/routing/"))


def test_choosing_has_the_model_tested_and_shows_when_it_is_unknown(keeper, key, member, settings):
    store = redis.Redis.from_url(settings.REDIS_URL)
    store.delete("agents")
    keeper.post("/providers/models/chat/", {"credential": str(key.pk), "model": "gpt-nine"})
    assert store.llen("agents") == 1
    store.delete("agents")
    operations.record_test(key, "unsupported_model")
    body = text(keeper.get("/providers/models/"))
    assert "Model unknown" in body
    assert f'action="{at("test", key)}"' in body


def test_options_stay_with_their_model(keeper, key, member):
    select(member, key, params={"effort": "low"})
    data = {"credential": str(key.pk), "model": "gpt-5.4-mini"}
    keeper.post("/providers/models/chat/", data)
    assert ModelProfile.objects.get().params == {"effort": "low"}
    keeper.post("/providers/models/chat/", data | {"model": "gpt-5.4"})
    assert ModelProfile.objects.get().params == {}


def test_a_wrong_choice_is_told(keeper, key, member):
    for data in ({}, {"credential": str(uuid4()), "model": "m"}, {"credential": str(key.pk)}):
        assert keeper.post("/providers/models/chat/", data).status_code == 422
    response = keeper.post("/providers/models/chat/", {"credential": str(key.pk), "model": KEY})
    assert response.status_code == 422
    text(response)
    assert keeper.get("/providers/models/poetry/").status_code == 404
    assert keeper.post("/providers/models/poetry/clear/").status_code == 404
    assert not ModelProfile.objects.exists()


def test_a_refused_key_is_not_offered_for_a_model(keeper, key):
    operations.record_test(key, "auth_failed")
    assert "Shop main" not in text(keeper.get("/providers/models/chat/"))
    data = {"credential": str(key.pk), "model": "gpt-5.4"}
    assert keeper.post("/providers/models/chat/", data).status_code == 422


def test_a_provider_without_embeddings_is_not_offered_for_them(keeper, member):
    operations.add_credential(
        guild=member.guild, provider="anthropic", label="Thinker", secret=KEY, actor=member
    )
    assert "Thinker" in text(keeper.get("/providers/models/chat/"))
    assert "Thinker" not in text(keeper.get("/providers/models/embedding/"))


def test_the_operator_s_key_is_a_choice_of_the_guild(keeper, member, settings):
    settings.LLM_API_KEY, settings.LLM_MODEL = KEY, "scripted-model"
    operations.set_policy(member.guild, operator_credential_allowed=False, actor=None)
    body = text(keeper.get("/providers/policy/"))
    assert "Not used" in body
    assert "scripted-model" in body
    assert "scripted-model" not in text(keeper.get("/providers/models/"))
    assert keeper.post("/providers/policy/", {"allow": "yes"}).url == "/providers/policy/"
    assert operations.policy_of(member.guild).operator_credential_allowed is True
    assert "scripted-model" in text(keeper.get("/providers/models/"))
    keeper.post("/providers/policy/", {"allow": "no"})
    assert operations.policy_of(member.guild).operator_credential_allowed is False


def test_every_change_is_audited_without_the_key(keeper, key, member):
    select(member, key)
    keeper.post(at("replace", key), {"key": OTHER})
    keeper.post(at("revoke", key))
    keeper.post("/providers/policy/", {"allow": "yes"})
    events = Event.objects.filter(guild_id=member.guild_id)
    kinds = {"credential_add", "credential_replace", "credential_revoke", "model_select"}
    assert kinds | {"provider_policy"} <= set(events.values_list("kind", flat=True))
    written = str(list(events.values()))
    assert KEY not in written
    assert OTHER not in written


GETS = ("", "models/", "policy/", "models/chat/")
POSTS = ("add/", "models/chat/", "models/chat/clear/", "policy/")


def test_strangers_find_no_key(client, stranger, key):
    client.force_login(stranger)
    assert "Shop main" not in text(client.get("/providers/"))
    for name in ("credential", "health", "replace", "revoke"):
        assert client.get(at(name, key)).status_code == 404
    for name in ("test", "replace", "revoke"):
        assert client.post(at(name, key), {"key": OTHER}).status_code == 404
    data = {"credential": str(key.pk), "model": "m"}
    assert client.post("/providers/models/chat/", data).status_code == 422
    key.refresh_from_db()
    assert (key.status, key.open()) == ("active", KEY)


def test_without_a_right_the_room_is_closed(client, clerk, key):
    for path in GETS:
        assert client.get(f"/providers/{path}").status_code == 302
    client.force_login(clerk)
    paths = [f"/providers/{path}" for path in GETS] + [
        at(name, key) for name in ("credential", "health", "replace", "revoke")
    ]
    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 403)
    paths = [f"/providers/{path}" for path in POSTS] + [
        at(name, key) for name in ("test", "replace", "revoke")
    ]
    sent = {"key": OTHER, "label": "x", "allow": "yes"}
    assert {p: client.post(p, sent).status_code for p in paths} == dict.fromkeys(paths, 403)
    assert Credential.objects.count() == 1


@pytest.mark.parametrize("right", RIGHTS)
def test_each_right_opens_its_own_acts_alone(client, clerk, key, right):
    guilds.grant(clerk.members.get(), right, actor=None)
    client.force_login(clerk)
    assert client.get("/").url == "/providers/"
    body = text(client.get("/providers/"))
    assert 'class="room" href="/providers/"' in body
    assert (at("replace", key) in body) == ('id="add-h"' in body) == (right == RIGHTS[0])
    assert (at("test", key) in body) == (right == RIGHTS[1])
    assert client.get("/providers/models/").status_code == 200
    acts: dict[str, list[tuple[str, dict[str, str]]]] = {
        RIGHTS[0]: [("/providers/policy/", {"allow": "yes"}), (at("revoke", key), {})],
        RIGHTS[1]: [(at("test", key), {})],
        RIGHTS[2]: [("/providers/models/chat/clear/", {})],
    }
    for needed, requests in acts.items():
        for path, data in requests:
            assert (client.post(path, data).status_code == 302) == (needed == right), path


def test_a_right_that_was_taken_away_counts_at_the_next_post(client, clerk, key):
    guilds.grant(clerk.members.get(), "llm.provider.write", actor=None)
    client.force_login(clerk)
    assert client.get(at("revoke", key)).status_code == 200
    clerk.members.get().grants.all().delete()
    assert client.post(at("revoke", key)).status_code == 403
    assert Credential.objects.get().status == "active"


def test_who_may_not_test_seals_without_a_test(client, clerk):
    guilds.grant(clerk.members.get(), "llm.provider.write", actor=None)
    client.force_login(clerk)
    row_url = added(client).url
    assert "asked" not in row_url
    body = text(client.get(row_url))
    assert ("Not tested yet" in body, "/test/" in body) == (True, False)


def test_pages_do_not_query_by_row(keeper, member, key, django_assert_max_num_queries):
    for number in range(20):
        operations.add_credential(
            guild=member.guild, provider="openai", label=f"Key {number}", secret=KEY, actor=member
        )
    for purpose in ("chat", "reasoning", "embedding", "routing"):
        select(member, key, purpose)
    pages = [("/providers/", 12), ("/providers/models/", 12), ("/providers/models/chat/", 12)]
    for path, most in [*pages, (at("credential", key), 14), (at("health", key), 10)]:
        with django_assert_max_num_queries(most):
            text(keeper.get(path))
    ModelProfile.objects.all().delete()
    with django_assert_max_num_queries(20):
        text(keeper.get("/providers/models/"))


def test_the_guide_tells_when_what_was_chosen_cannot_answer(keeper, member, settings):
    settings.LLM_API_KEY, settings.LLM_MODEL = KEY, ""
    operations.set_policy(member.guild, operator_credential_allowed=True, actor=None)
    body = text(keeper.get("/threads/new/"))
    assert "No model answers" in body
    assert 'href="/providers/models/">Models' in body


def test_the_guide_leads_here(keeper):
    body = text(keeper.get("/threads/new/"))
    assert "Add a model key" in body
    assert 'href="/providers/"' in body
