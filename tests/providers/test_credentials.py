"""Keys: kept sealed, replaced, revoked, and never shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import serializers
from django.db import IntegrityError, transaction

from apps.audit.models import Event
from apps.core.sealing import CannotOpen
from apps.guilds.models import Guild, Member
from apps.providers import operations
from apps.providers.models import Credential, ModelProfile, OwnerType

from .rows import OTHER, SECRET, add, choose, other_guild

pytestmark = pytest.mark.django_db


def test_a_key_is_kept_sealed_and_untested(guild: Guild, member: Member) -> None:
    add(guild, actor=member)
    row = Credential.objects.get()
    assert row.open() == SECRET
    assert SECRET.encode() not in bytes(row.ciphertext)
    assert (row.status, row.test, row.owner) == ("active", "untested", f"guild:{guild.pk}")
    assert row.base_url == "https://api.openai.com/v1"
    assert (row.created_by, len(row.fingerprint)) == (member, 16)


@pytest.mark.parametrize("again", ["shop main", "SHOP MAIN", "  Shop main "])
def test_a_label_is_once_per_owner_whatever_its_case(guild: Guild, again: str) -> None:
    add(guild, "Shop main")
    with pytest.raises(operations.LabelTaken, match="Choose another label"):
        add(guild, again)
    add(other_guild()[0], again)
    assert Credential.objects.count() == 2


def test_a_revoked_label_is_free_again(guild: Guild) -> None:
    operations.revoke(add(guild), actor=None)
    assert add(guild).status == "active"


@pytest.mark.parametrize(
    "label",
    [
        SECRET,
        "main sk-proj-abcdefghijklmnop1234",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "password: hunter2hunter2",
        "0123456789abcdef0123456789abcdef",
    ],
)
def test_a_label_that_looks_like_a_secret_is_refused(guild: Guild, label: str) -> None:
    with pytest.raises(operations.LabelLooksSecret) as caught:
        add(guild, label, secret=OTHER)
    assert label not in str(caught.value)
    assert caught.value.field == "label"


def test_a_label_that_holds_the_key_itself_is_refused(guild: Guild) -> None:
    with pytest.raises(operations.LabelLooksSecret):
        add(guild, "our tiger-lily key", secret="tiger-lily")


@pytest.mark.parametrize("label", ["", "   ", "x" * 61, "two\nlines", "bell\x07"])
def test_a_label_is_one_short_line(guild: Guild, label: str) -> None:
    with pytest.raises(operations.LabelUnfit):
        add(guild, label)


@pytest.mark.parametrize("label", ["Shop main", "OpenAI (Ada’s team)", "Überladen 2026", "x" * 60])
def test_names_for_people_are_labels(guild: Guild, label: str) -> None:
    assert add(guild, label).label == label


@pytest.mark.parametrize("secret", ["", "  ", "two words", "line\nbreak", "schlüssel", "x" * 4097])
def test_a_secret_that_fits_no_header_is_refused_unquoted(guild: Guild, secret: str) -> None:
    with pytest.raises(operations.SecretUnfit) as caught:
        add(guild, secret=secret)
    assert not secret.strip() or secret not in str(caught.value)
    assert Credential.objects.count() == 0


def test_only_a_server_of_ones_own_may_do_without_a_key(guild: Guild) -> None:
    row = add(guild, provider="custom", secret="", base_url="https://models.example/v1/")
    assert (row.open(), row.base_url) == ("", "https://models.example/v1")


def test_an_unknown_provider_is_refused(guild: Guild) -> None:
    with pytest.raises(operations.UnknownProvider, match="openai"):
        add(guild, provider="nobody")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models.example",
        "ftp://models.example/v1",
        "http://models.example/v1",
        "https://10.0.0.5/v1",
        "https://ada:pw@models.example/v1",
        "https://models.example/v1?key=abc",
        f"https://models.example/{SECRET}",
        "https://models.example/" + "x" * 300,
    ],
)
def test_an_address_that_is_none_is_refused_unquoted(guild: Guild, url: str) -> None:
    with pytest.raises(operations.AddressUnfit) as caught:
        add(guild, provider="custom", base_url=url)
    assert SECRET not in str(caught.value)


def test_replacing_keeps_the_row_and_resets_its_test(guild: Guild, member: Member) -> None:
    row = add(guild)
    assert operations.record_test(row, "auth_failed")
    operations.replace_secret(row, OTHER, actor=member)
    now = Credential.objects.get()
    assert (now.pk, now.open(), now.updated_by) == (row.pk, OTHER, member)
    assert (now.status, now.test, now.test_class, now.tested_at) == ("active", "untested", "", None)
    assert now.fingerprint != row.fingerprint
    assert bytes(now.nonce) != bytes(row.nonce)


def test_another_address_comes_with_the_secret_again(guild: Guild) -> None:
    row = add(guild, provider="custom", base_url="https://one.example/v1")
    operations.replace_secret(row, OTHER, base_url="https://two.example/v1", actor=None)
    now = Credential.objects.get()
    assert (now.base_url, now.open()) == ("https://two.example/v1", OTHER)
    assert Event.objects.get(kind="credential_replace").metadata["base_url_changed"] is True


@pytest.mark.parametrize("column", ["base_url", "label", "provider", "owner"])
def test_a_row_changed_behind_our_back_does_not_open(guild: Guild, column: str) -> None:
    row = add(guild)
    setattr(row, column, "https://evil.example/v1")
    with pytest.raises(CannotOpen):
        row.open()


def test_a_ciphertext_moved_to_another_row_does_not_open(guild: Guild) -> None:
    one, two = add(guild, "one"), add(guild, "two", secret=OTHER)
    Credential.objects.filter(pk=two.pk).update(
        ciphertext=one.ciphertext, nonce=one.nonce, key_id=one.key_id
    )
    with pytest.raises(CannotOpen):
        Credential.objects.get(pk=two.pk).open()


def test_revoking_wipes_the_key_and_stops_its_models(guild: Guild, member: Member) -> None:
    row, kept = add(guild), add(guild, "other")
    choose(guild, row, "chat")
    choose(guild, kept, "routing")
    operations.revoke(row, actor=member)
    row.refresh_from_db()
    assert (row.ciphertext, row.nonce, row.key_id, row.fingerprint) == (None, None, "", "")
    assert (row.status, row.revoked_at is not None, row.is_sealed) == ("revoked", True, False)
    assert dict(ModelProfile.objects.values_list("purpose", "enabled")) == {
        "chat": False,
        "routing": True,
    }
    assert Event.objects.get(kind="credential_revoke").metadata["profiles"] == 1


def test_revoking_twice_changes_nothing(guild: Guild) -> None:
    row = add(guild)
    first = operations.revoke(row, actor=None)
    assert operations.revoke(row, actor=None).revoked_at == first.revoked_at
    assert Event.objects.filter(kind="credential_revoke").count() == 1


def test_a_revoked_key_is_neither_replaced_nor_chosen(guild: Guild) -> None:
    row = operations.revoke(add(guild), actor=None)
    with pytest.raises(operations.NotUsable, match="revoked"):
        operations.replace_secret(row, OTHER, actor=None)
    with pytest.raises(operations.NotUsable, match="revoked"):
        choose(guild, row)


def test_the_database_keeps_no_secret_of_a_revoked_key(guild: Guild) -> None:
    row = add(guild)
    with pytest.raises(IntegrityError, match="providers_key_wiped"), transaction.atomic():
        Credential.objects.filter(pk=row.pk).update(status="revoked")


@pytest.mark.parametrize(
    ("outcome", "status", "test"),
    [
        ("", "active", "succeeded"),
        ("auth_failed", "invalid", "failed"),
        ("rate_limited", "active", "failed"),
        ("timeout", "active", "failed"),
    ],
)
def test_a_test_is_kept_by_its_class(guild: Guild, outcome: str, status: str, test: str) -> None:
    row = add(guild)
    assert operations.record_test(row, outcome)
    row.refresh_from_db()
    assert (row.status, row.test, row.test_class) == (status, test, outcome)
    assert row.tested_at is not None
    event = Event.objects.get(kind="credential_test")
    assert (event.status, event.reason) == ("failed" if outcome else "succeeded", outcome)


def test_a_refused_key_is_usable_again_once_it_passes(guild: Guild) -> None:
    row = add(guild)
    operations.record_test(row, "auth_failed")
    operations.record_test(row, "timeout")
    row.refresh_from_db()
    assert (row.status, row.is_usable) == ("invalid", False)
    operations.record_test(row, "")
    row.refresh_from_db()
    assert row.is_usable


def test_a_test_of_the_secret_before_is_not_kept(guild: Guild) -> None:
    before = add(guild)
    operations.replace_secret(before, OTHER, actor=None)
    assert not operations.record_test(before, "auth_failed")
    now = Credential.objects.get()
    assert (now.status, now.test) == ("active", "untested")
    operations.revoke(now, actor=None)
    assert not operations.record_test(now, "")
    assert not Event.objects.filter(kind="credential_test").exists()


def test_a_member_sees_the_keys_of_its_guild_alone(guild: Guild, member: Member) -> None:
    mine = add(guild)
    theirs, stranger = other_guild()
    add(theirs)
    assert list(Credential.objects.visible_to(member)) == [mine]
    assert mine not in Credential.objects.visible_to(stranger)


@pytest.mark.parametrize(
    "wrong",
    [
        {"owner_type": "user"},
        {"owner_type": "tenant"},
        {"owner_type": "tenant", "guild_id": None},
        {"guild_id": None},
        {"owner": "guild:999999"},
        {"owner": "tenant"},
        {"owner_type": "robot"},
    ],
)
def test_the_database_refuses_an_owner_that_is_not_spelt_out(
    guild: Guild, wrong: dict[str, Any]
) -> None:
    row = add(guild)
    with pytest.raises(IntegrityError, match="owner"), transaction.atomic():
        Credential.objects.filter(pk=row.pk).update(**wrong)


def test_every_kind_of_owner_can_have_a_key(guild: Guild, member: Member) -> None:
    for owner_type, owner, user in (
        (OwnerType.USER, f"user:{member.user.pk}", member.user),
        (OwnerType.TENANT, "tenant", None),
    ):
        row = add(guild, f"for {owner_type}")
        row.owner_type, row.owner, row.guild, row.user = owner_type, owner, None, user
        row.seal(SECRET)
        row.save()
        assert Credential.objects.get(pk=row.pk).open() == SECRET


def test_nothing_of_the_secret_is_in_repr_fixture_or_audit(guild: Guild, member: Member) -> None:
    row = add(guild, actor=member)
    fixture = serializers.serialize("json", [row])
    assert repr(row) == "<Credential: Shop main (openai)>"
    assert "ciphertext" not in fixture
    assert row.fingerprint not in fixture
    (event,) = Event.objects.filter(kind="credential_add")
    assert event.metadata == {"credential": str(row.pk), "provider": "openai"}
    assert event.actor == f"member:{member.pk}"


def test_without_a_key_ring_nothing_is_kept_and_the_cause_is_told(
    guild: Guild, settings: Any
) -> None:
    settings.SEALING_KEYS = ""
    with pytest.raises(operations.CannotSeal, match="SEALING_KEYS is empty"):
        add(guild)
    assert not Credential.objects.exists()


def test_the_policy_changes_by_parts_and_leaves_a_trace(guild: Guild, member: Member) -> None:
    assert not operations.policy_of(guild).operator_credential_allowed
    operations.set_policy(guild, operator_credential_allowed=True, actor=member)
    policy = operations.set_policy(guild, personal_keys="dm-only", actor=member)
    assert (policy.operator_credential_allowed, policy.personal_keys) == (True, "dm-only")
    assert operations.policy_of(guild).updated_by == member
    assert Event.objects.filter(kind="provider_policy").last().metadata == {
        "operator_credential_allowed": True,
        "personal_keys": "dm-only",
    }
