"""The operator's commands: the same operations, refusals and audit as the pages."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.audit.models import Event
from apps.guilds.models import Guild, Member, User
from apps.guilds.operations import grant
from apps.providers.models import Credential, ModelProfile
from evals.model_server import ModelServer

from .rows import OTHER, SECRET, add, choose, other_guild

pytestmark = pytest.mark.django_db


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the command a standard input."""

    def give(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))

    return give


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


ADD = ("credential", "add", "--provider", "openai", "--label", "Shop main")


def test_a_key_is_added_from_standard_input(guild: Guild, piped: Any) -> None:
    piped(f"{SECRET}\n")
    told = run(*ADD)
    row = Credential.objects.get()
    assert row.open() == SECRET
    assert str(row.pk) in told
    assert SECRET not in told
    assert Event.objects.get(kind="credential_add").actor == "operator"


def test_added_as_json_it_tells_what_may_be_known(guild: Guild, piped: Any) -> None:
    piped(SECRET)
    told = json.loads(run(*ADD, "--json", "--guild", guild.name.lower()))
    row = Credential.objects.get()
    assert told["id"] == str(row.pk)
    assert (told["fingerprint"], told["status"], told["test"]) == (
        row.fingerprint,
        "active",
        "untested",
    )
    assert not {"ciphertext", "nonce", "secret"} & told.keys()


def test_a_secret_is_never_an_argument(guild: Guild) -> None:
    for option in ("--secret", "--key"):
        with pytest.raises(CommandError, match="unrecognized arguments"):
            run(*ADD, option, SECRET)
    assert not Credential.objects.exists()


def test_a_refusal_is_told_in_words(guild: Guild, piped: Any) -> None:
    piped("")
    with pytest.raises(CommandError, match="Type the key"):
        run(*ADD)
    add(guild, "shop MAIN")
    piped(SECRET)
    with pytest.raises(CommandError, match="Choose another label"):
        run(*ADD)


def test_keys_are_replaced_listed_and_revoked(guild: Guild, piped: Any) -> None:
    row = add(guild)
    choose(guild, row)
    piped(OTHER)
    run("credential", "replace", "shop main")
    row.refresh_from_db()
    assert (row.open(), row.secret_version) == (OTHER, 2)
    (listed,) = json.loads(run("credential", "list", "--json"))
    assert (listed["label"], listed["base_url"]) == ("Shop main", "https://api.openai.com/v1")
    assert "Shop main\topenai\tactive\tuntested" in run("credential", "list")
    run("credential", "revoke", str(row.pk))
    row.refresh_from_db()
    assert (row.status, ModelProfile.objects.get().enabled) == ("revoked", False)
    assert "revoked" in run("credential", "list")


def test_a_key_is_tested_against_its_provider(guild: Guild, model_server: ModelServer) -> None:
    model_server.reset({"rules": [], "models": ["b", "a"], "api_key": SECRET})
    row = add(guild, provider="custom", base_url=model_server.base_url + "/v1")
    told = json.loads(run("credential", "test", "Shop main", "--json"))
    assert (told["test"], told["status"], told["models"]) == ("succeeded", "active", ["a", "b"])
    model_server.reset({"rules": [], "models": ["a"], "api_key": OTHER})
    with pytest.raises(SystemExit) as ended:
        run("credential", "test", str(row.pk))
    row.refresh_from_db()
    assert (ended.value.code, row.status, row.test_class) == (1, "invalid", "auth_failed")
    assert Event.objects.filter(kind="credential_test").last().actor == "operator"


def test_a_revoked_key_is_not_tested(guild: Guild) -> None:
    add(guild)
    run("credential", "revoke", "Shop main")
    with pytest.raises(CommandError, match="wiped"):
        run("credential", "test", str(Credential.objects.get().pk))


def test_a_new_address_goes_with_a_new_secret(guild: Guild, piped: Any) -> None:
    row = add(guild, provider="custom", base_url="https://one.example/v1")
    piped(OTHER)
    run("credential", "replace", "Shop main", "--base-url", "https://two.example/v1")
    row.refresh_from_db()
    assert (row.base_url, row.open()) == ("https://two.example/v1", OTHER)


def test_a_key_of_another_guild_is_not_found(guild: Guild, piped: Any) -> None:
    theirs = add(other_guild()[0])
    piped(OTHER)
    for action in ("replace", "revoke"):
        with pytest.raises(CommandError, match="has no key"):
            run("credential", action, str(theirs.pk), "--guild", str(guild.pk))
    theirs.refresh_from_db()
    assert theirs.open() == SECRET
    assert run("credential", "list", "--guild", guild.name) == ""


def test_of_several_guilds_one_must_be_named(guild: Guild) -> None:
    other_guild()
    for name, told in (("", "Say which guild"), ("Nowhere", "No guild"), ("99999", "No guild")):
        with pytest.raises(CommandError, match=told):
            run("credential", "list", "--guild", name)


def test_a_member_may_do_what_it_holds_the_capability_for(
    guild: Guild, ada: User, clerk: User, piped: Any
) -> None:
    piped(SECRET)
    with pytest.raises(CommandError, match=r"llm\.provider\.write"):
        run(*ADD, "--as", clerk.email)
    assert not Credential.objects.exists()
    assert Event.objects.get(kind="permission").metadata["surface"] == "command"
    with pytest.raises(CommandError, match="No active member"):
        run(*ADD, "--as", "nobody@example.com")
    member = Member.objects.get(user=clerk)
    grant(member, "llm.provider.write", actor=Member.objects.get(user=ada))
    piped(SECRET)
    run(*ADD, "--as", clerk.email.upper())
    assert Credential.objects.get().created_by == member
    with pytest.raises(CommandError, match=r"llm\.provider\.select"):
        run("profile", "set", "chat", "--key", "Shop main", "--model", "m", "--as", clerk.email)


def test_a_model_is_set_and_listed(guild: Guild) -> None:
    row = add(guild)
    told = run("profile", "set", "chat", "--key", "Shop main", "--model", "gpt-x")
    assert "chat: gpt-x at openai" in told
    params = '{"temperature": 0.5}'
    told = run(
        "profile", "set", "routing", "--key", str(row.pk), "--model", "y", "--params", params,
        "--json",
    )  # fmt: skip
    assert json.loads(told)["params"] == {"temperature": 0.5}
    assert [each["purpose"] for each in json.loads(run("profile", "list", "--json"))] == [
        "chat",
        "routing",
    ]
    run("credential", "revoke", "Shop main")
    assert run("profile", "list").count("off: its key was revoked") == 2


@pytest.mark.parametrize("params", ["[]", "{", '{"api_key": "x"}'])
def test_params_that_are_not_possible_are_told(guild: Guild, params: str) -> None:
    add(guild)
    with pytest.raises(CommandError, match="params"):
        run("profile", "set", "chat", "--key", "Shop main", "--model", "m", "--params", params)
    assert not ModelProfile.objects.exists()
