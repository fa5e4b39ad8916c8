"""Whose model answers, and that no owner ever stands in for another in silence."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from apps.guilds import operations as guilds
from apps.guilds.models import Guild, Member, User
from apps.providers import operations
from apps.providers.models import Credential, ModelProfile, ProviderPolicy
from apps.providers.resolver import open_secret, operator_label, resolve

from .rows import OTHER, SECRET, add, choose, other_guild

pytestmark = pytest.mark.django_db
OPERATOR = "sk-operator-" + "c0ffee" * 5


@pytest.fixture(autouse=True)
def no_operator(settings: Any) -> None:
    settings.LLM_API_KEY, settings.LLM_MODEL = "", ""


@pytest.fixture
def operator(settings: Any) -> None:
    settings.LLM_API_KEY, settings.LLM_MODEL = OPERATOR, "big-model"
    settings.LLM_BASE_URL = "https://openrouter.ai/api/v1"


def own_key(user: User, guild: Guild, purpose: str = "chat") -> ModelProfile:
    """A person's own key and model, as no page makes them yet."""
    key = add(guild, "mine")
    key.owner_type, key.owner, key.guild, key.user = "user", f"user:{user.pk}", None, user
    key.seal(OTHER)
    key.save()
    return ModelProfile.objects.create(
        owner_type="user",
        owner=key.owner,
        user=user,
        purpose=purpose,
        credential=key,
        provider=key.provider,
        model="own-model",
        updated_at=key.updated_at,
    )


def test_the_house_answers_where_nothing_was_chosen(guild: Guild) -> None:
    found = resolve(guild)
    assert (found.owner, found.provider, found.is_house) == ("house", "house", True)
    assert open_secret(found) == ""


def test_a_guilds_own_choice_answers_with_its_own_key(guild: Guild, operator: None) -> None:
    operations.set_policy(guild, operator_credential_allowed=True, actor=None)
    key = add(guild)
    profile = choose(guild, key, params={"temperature": 0.1})
    found = resolve(guild)
    assert (found.owner, found.model) == (f"guild:{guild.pk}", "gpt-x")
    assert (found.profile_id, found.credential_id) == (profile.pk, key.pk)
    assert (found.base_url, found.params) == ("https://api.openai.com/v1", {"temperature": 0.1})
    assert found.label == "gpt-x at OpenAI"
    assert open_secret(found) == SECRET


def test_the_operators_key_serves_only_guilds_that_opted_in(guild: Guild, operator: None) -> None:
    assert resolve(guild).is_house
    operations.set_policy(guild, operator_credential_allowed=True, actor=None)
    found = resolve(guild)
    assert (found.owner, found.provider, found.model) == ("tenant", "openrouter", "big-model")
    assert (found.credential_id, found.label) == (None, "big-model at openrouter")
    assert open_secret(found) == OPERATOR
    assert resolve(other_guild()[0]).is_house
    operations.set_policy(guild, operator_credential_allowed=False, actor=None)
    assert resolve(guild).is_house


def test_opting_in_without_an_operators_key_leaves_the_house(guild: Guild) -> None:
    operations.set_policy(guild, operator_credential_allowed=True, actor=None)
    assert resolve(guild).is_house
    assert operator_label() == ""


@pytest.mark.parametrize("purpose", ["chat", "reasoning", "routing"])
@pytest.mark.parametrize("ending", ["revoked", "refused"])
def test_a_choice_that_cannot_be_used_is_told_and_nobody_stands_in(
    guild: Guild, operator: None, ending: str, purpose: str
) -> None:
    operations.set_policy(guild, operator_credential_allowed=True, actor=None)
    key = add(guild)
    choose(guild, key)
    if ending == "revoked":
        operations.revoke(key, actor=None)
    else:
        operations.record_test(key, "auth_failed")
    with pytest.raises(operations.NotUsable, match=ending) as caught:
        resolve(guild, purpose)
    assert "Shop main" in str(caught.value)
    operations.clear_model(guild, "chat", None)
    assert resolve(guild, purpose).owner == "tenant"


def test_a_revoked_reasoning_model_is_not_replaced_by_the_chat_model(guild: Guild) -> None:
    key = add(guild)
    choose(guild, add(guild, "other"))
    choose(guild, key, "reasoning")
    operations.revoke(key, actor=None)
    with pytest.raises(operations.NotUsable):
        resolve(guild, "reasoning")
    assert resolve(guild).model == "gpt-x"


def test_another_key_chosen_after_a_revocation_answers(guild: Guild) -> None:
    key = add(guild)
    choose(guild, key)
    operations.revoke(key, actor=None)
    choose(guild, add(guild), model="again")
    assert resolve(guild).model == "again"


@pytest.mark.parametrize("purpose", ["reasoning", "routing"])
def test_the_chat_model_does_what_nothing_was_chosen_for_and_says_so(
    guild: Guild, purpose: str
) -> None:
    choose(guild, add(guild))
    found = resolve(guild, purpose)
    assert (found.purpose, found.owner) == ("chat", f"guild:{guild.pk}")
    assert purpose in found.told
    choose(guild, add(guild, "two"), purpose, model="special")
    found = resolve(guild, purpose)
    assert (found.model, found.purpose, found.told) == ("special", purpose, "")


def test_nothing_embeds_but_a_model_that_was_chosen_for_it(guild: Guild, operator: None) -> None:
    operations.set_policy(guild, operator_credential_allowed=True, actor=None)
    choose(guild, add(guild))
    with pytest.raises(operations.NotUsable, match="embedding"):
        resolve(guild, "embedding")
    choose(guild, add(guild, "two"), "embedding", model="text-embed")
    assert resolve(guild, "embedding").model == "text-embed"


def test_an_unknown_purpose_is_refused(guild: Guild) -> None:
    with pytest.raises(operations.UnknownPurpose):
        resolve(guild, "singing")


def test_another_guilds_choice_is_never_seen(guild: Guild) -> None:
    choose(other_guild()[0], add(Guild.objects.exclude(pk=guild.pk).get()))
    assert resolve(guild).is_house


@pytest.mark.parametrize(
    ("policy", "direct", "counts"),
    [
        (None, True, False),
        ("off", True, False),
        ("dm-only", False, False),
        ("dm-only", True, True),
        ("guild-allowed", False, True),
        ("guild-allowed", True, True),
    ],
)
def test_a_persons_own_key_counts_where_the_policy_says_so(
    guild: Guild, member: Member, policy: str | None, direct: bool, counts: bool
) -> None:
    choose(guild, add(guild))
    own_key(member.user, guild)
    if policy:
        operations.set_policy(guild, personal_keys=policy, actor=None)
    found = resolve(guild, user=member.user, direct=direct)
    assert (found.owner == f"user:{member.user.pk}") is counts
    assert open_secret(found) == (OTHER if counts else SECRET)
    assert resolve(guild, direct=direct).owner == f"guild:{guild.pk}"


def test_a_persons_revoked_key_is_told_and_the_guild_does_not_pay(
    guild: Guild, member: Member
) -> None:
    choose(guild, add(guild))
    profile = own_key(member.user, guild)
    operations.set_policy(guild, personal_keys="guild-allowed", actor=None)
    operations.revoke(profile.credential, actor=None)
    with pytest.raises(operations.NotUsable):
        resolve(guild, user=member.user)


def test_a_variant_adds_to_the_params_and_a_missing_one_lists_those_there_are(
    guild: Guild,
) -> None:
    variants = {"low": {"effort": "low"}, "high": {"effort": "high", "temperature": 0.9}}
    choose(guild, add(guild), params={"temperature": 0.1, "variants": variants})
    assert resolve(guild).params == {"temperature": 0.1}
    assert resolve(guild, variant="low").params == {"temperature": 0.1, "effort": "low"}
    assert resolve(guild, variant="high").params == {"temperature": 0.9, "effort": "high"}
    with pytest.raises(operations.ModelUnfit, match="high, low"):
        resolve(guild, variant="max")


def test_the_house_has_no_variants(guild: Guild) -> None:
    with pytest.raises(operations.ModelUnfit, match="no variants"):
        resolve(guild, variant="low")


def test_a_key_that_changed_since_it_was_resolved_is_not_opened(guild: Guild) -> None:
    key = add(guild, provider="custom", base_url="https://one.example/v1")
    choose(guild, key)
    found = resolve(guild)
    operations.replace_secret(key, OTHER, base_url="https://two.example/v1", actor=None)
    with pytest.raises(operations.NotUsable, match="moved"):
        open_secret(found)
    again = resolve(guild)
    assert open_secret(again) == OTHER
    operations.revoke(key, actor=None)
    with pytest.raises(operations.NotUsable, match="revoked"):
        open_secret(again)


def test_a_key_that_does_not_open_is_told_without_it(guild: Guild, settings: Any) -> None:
    choose(guild, add(guild))
    settings.SEALING_KEYS = "other:" + "A" * 43 + "="
    with pytest.raises(operations.NotUsable, match="not in SEALING_KEYS"):
        open_secret(resolve(guild))


def test_a_row_sent_elsewhere_behind_our_back_does_not_open(guild: Guild) -> None:
    choose(guild, add(guild))
    Credential.objects.update(base_url="https://evil.example/v1")
    with pytest.raises(operations.NotUsable, match="does not open"):
        open_secret(resolve(guild))


def test_the_operators_key_opens_for_nothing_else(guild: Guild, operator: None) -> None:
    operations.set_policy(guild, operator_credential_allowed=True, actor=None)
    found = resolve(guild)
    for changed in ({"owner": f"guild:{guild.pk}"}, {"base_url": "https://evil.example/v1"}):
        with pytest.raises(operations.NotUsable):
            open_secret(replace(found, **changed))


def test_what_is_resolved_holds_no_secret(guild: Guild, operator: None) -> None:
    operations.set_policy(guild, operator_credential_allowed=True, actor=None)
    told = [repr(asdict(resolve(guild)))]
    choose(guild, add(guild))
    told.append(repr(asdict(resolve(guild))))
    assert not any(secret in " ".join(told) for secret in (SECRET, OPERATOR))


@pytest.mark.parametrize(("at_home", "opted"), [(True, True), (False, False)])
def test_set_up_opts_the_first_guild_of_an_own_machine_in(
    settings: Any, at_home: bool, opted: bool
) -> None:
    settings.EMBEDDED = settings.DEBUG = at_home
    guild, _ = guilds.ensure_first_guild()
    assert operations.policy_of(guild).operator_credential_allowed is opted
    assert ProviderPolicy.objects.exists() is opted


def test_set_up_leaves_what_was_decided_and_every_other_guild(settings: Any) -> None:
    settings.EMBEDDED = True
    guild, _ = guilds.ensure_first_guild()
    operations.set_policy(guild, operator_credential_allowed=False, actor=None)
    other, _member = other_guild()
    guilds.ensure_first_guild()
    assert not operations.policy_of(guild).operator_credential_allowed
    assert not ProviderPolicy.objects.filter(guild=other).exists()


def test_set_up_leaves_a_first_guild_of_discord_closed(settings: Any) -> None:
    settings.EMBEDDED = True
    Guild.objects.create(name="Fair", kind=Guild.Kind.DISCORD)
    guilds.ensure_first_guild()
    assert not ProviderPolicy.objects.exists()
