"""Which model serves which purpose: what is refused by us, and what by the database itself."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from apps.audit.models import Event
from apps.core import clock
from apps.guilds.models import Guild, Member
from apps.providers import operations
from apps.providers.models import ModelProfile

from .rows import add, choose, other_guild

pytestmark = pytest.mark.django_db


def raw(guild: Guild, key: Any, **more: Any) -> ModelProfile:
    """A profile put straight into the table, past every check of ours."""
    values: dict[str, Any] = {
        "owner_type": "guild",
        "owner": f"guild:{guild.pk}",
        "guild": guild,
        "purpose": "chat",
        "credential": key,
        "provider": key.provider,
        "model": "m",
        "updated_at": clock.now(),
    }
    return ModelProfile.objects.create(**(values | more))


def test_choosing_replaces_what_was_chosen_before(guild: Guild, member: Member) -> None:
    key = add(guild)
    choose(guild, key, model="one")
    made = choose(guild, key, model=" two ", params={"temperature": 0.2}, actor=member)
    assert ModelProfile.objects.get() == made
    assert (made.model, made.provider, made.selected_by) == ("two", "openai", member)
    assert Event.objects.filter(kind="model_select").last().metadata == {
        "profile": str(made.pk),
        "purpose": "chat",
        "credential": str(key.pk),
        "provider": "openai",
        "model": "two",
    }


def test_the_database_refuses_a_provider_that_is_not_the_keys(guild: Guild) -> None:
    key = add(guild)
    with pytest.raises(IntegrityError, match="providers_profile_matches_key"), transaction.atomic():
        raw(guild, key, provider="anthropic")
    made = raw(guild, key)
    with pytest.raises(IntegrityError, match="providers_profile_matches_key"), transaction.atomic():
        ModelProfile.objects.filter(pk=made.pk).update(provider="anthropic")
    with pytest.raises(IntegrityError, match="providers_profile_matches_key"), transaction.atomic():
        type(key).objects.filter(pk=key.pk).update(provider="anthropic")


def test_the_database_refuses_a_key_of_another_owner(guild: Guild) -> None:
    theirs = add(other_guild()[0])
    with pytest.raises(IntegrityError, match="providers_profile_matches_key"), transaction.atomic():
        raw(guild, theirs)
    with pytest.raises(operations.ProviderMismatch, match="not one of this guild"):
        choose(guild, theirs)


def test_the_database_refuses_a_second_enabled_profile_for_a_purpose(guild: Guild) -> None:
    key = add(guild)
    raw(guild, key)
    raw(guild, key, purpose="routing")
    raw(guild, key, enabled=False)
    with pytest.raises(IntegrityError, match="providers_one_profile_enabled"), transaction.atomic():
        raw(guild, key)


@pytest.mark.parametrize(
    "wrong", [{"purpose": "singing"}, {"model": ""}, {"owner": "guild:0"}, {"owner_type": "user"}]
)
def test_the_database_refuses_a_profile_that_makes_no_sense(
    guild: Guild, wrong: dict[str, Any]
) -> None:
    key = add(guild)
    with pytest.raises(IntegrityError), transaction.atomic():
        raw(guild, key, **wrong)


def test_a_profile_of_a_key_that_is_not_there_is_refused(guild: Guild) -> None:
    made = raw(guild, add(guild))
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE providers_modelprofile SET credential_id = %s WHERE id = %s",
            [uuid.uuid4(), made.pk],
        )


def test_a_refused_key_cannot_be_chosen(guild: Guild) -> None:
    key = add(guild)
    operations.record_test(key, "auth_failed")
    with pytest.raises(operations.NotUsable, match="refused"):
        choose(guild, key)


def test_a_provider_without_embeddings_is_not_chosen_for_them(guild: Guild) -> None:
    with pytest.raises(operations.NotUsable, match="no embeddings"):
        choose(guild, add(guild, provider="anthropic"), "embedding")
    assert choose(guild, add(guild, "two"), "embedding").purpose == "embedding"


@pytest.mark.parametrize(
    "model", ["", "  ", "x" * 201, "two\nlines", "sk-abcdefghijklmnop12345678"]
)
def test_a_models_name_is_one_line_and_no_key(guild: Guild, model: str) -> None:
    with pytest.raises(operations.ModelUnfit):
        choose(guild, add(guild), model=model)


def test_an_unknown_purpose_is_told_with_those_there_are(guild: Guild) -> None:
    with pytest.raises(operations.UnknownPurpose, match="chat, reasoning, embedding, routing"):
        choose(guild, add(guild), "singing")


@pytest.mark.parametrize(
    "params",
    [
        {"temperature": 2.1},
        {"temperature": "0.2"},
        {"temperature": float("nan")},
        {"max_output_tokens": 0},
        {"max_output_tokens": 1_000_001},
        {"api_key": "x"},
        {"effort": "VERY HIGH"},
        {"variants": {"Bad Name": {}}},
        {"variants": {"low": {"variants": {}}}},
        {"variants": {f"v{number}": {} for number in range(9)}},
    ],
)
def test_params_that_are_not_possible_are_refused(guild: Guild, params: dict[str, Any]) -> None:
    with pytest.raises(operations.ModelUnfit, match="not possible"):
        choose(guild, add(guild), params=params)


def test_params_at_their_bounds_are_kept_as_they_were_given(guild: Guild) -> None:
    params = {
        "temperature": 2.0,
        "max_output_tokens": 1_000_000,
        "effort": "low",
        "variants": {f"v{number}": {"temperature": 0.0} for number in range(8)},
    }
    assert choose(guild, add(guild), params=params).params == params


def test_clearing_forgets_what_was_chosen(guild: Guild, member: Member) -> None:
    key = add(guild)
    choose(guild, key)
    choose(guild, key, "routing")
    assert operations.clear_model(guild, "chat", member) == 1
    assert operations.clear_model(guild, "chat", member) == 0
    assert ModelProfile.objects.get().purpose == "routing"
    assert Event.objects.filter(kind="model_clear").count() == 1


def test_a_member_sees_the_models_of_its_guild_alone(guild: Guild, member: Member) -> None:
    mine = choose(guild, add(guild))
    theirs, stranger = other_guild()
    other = choose(theirs, add(theirs))
    assert list(ModelProfile.objects.visible_to(member)) == [mine]
    assert list(ModelProfile.objects.visible_to(stranger)) == [other]


def test_a_guild_goes_with_its_keys_and_models(guild: Guild) -> None:
    key = add(guild)
    choose(guild, key)
    operations.set_policy(guild, operator_credential_allowed=True, actor=None)
    guild.delete()
    assert not type(key).objects.exists()
    assert not ModelProfile.objects.exists()
