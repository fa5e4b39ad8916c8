"""Rights: denied unless a row says otherwise, with a reason code, at every call."""

from __future__ import annotations

import pytest
from django.db import connection

from apps.audit.models import Event
from apps.guilds import operations, policy
from apps.guilds.models import Guild, Member, User

pytestmark = pytest.mark.django_db


def test_an_owner_may_everything_that_exists(member: Member) -> None:
    decision = policy.decide(member, "shop.read")
    assert (decision.allowed, decision.reason) == (True, "owner")


def test_a_member_without_a_grant_is_denied(clerk: User) -> None:
    decision = policy.decide(clerk.members.get(), "shop.read")
    assert (decision.allowed, decision.reason) == (False, "missing_capability")


def test_a_grant_opens_exactly_its_capability(clerk: User, member: Member) -> None:
    mate = clerk.members.get()
    operations.grant(mate, "shop.read", actor=member)
    assert policy.decide(mate, "shop.read").reason == "granted"
    assert not policy.decide(mate, "shop.import")


def test_granting_twice_keeps_one_row_and_one_event(clerk: User, member: Member) -> None:
    mate = clerk.members.get()
    first = operations.grant(mate, "shop.read", actor=member)
    assert operations.grant(mate, "shop.read", actor=member).pk == first.pk
    assert Event.objects.filter(kind="grant").count() == 1


def test_a_capability_that_does_not_exist_is_denied_and_cannot_be_granted(member: Member) -> None:
    assert policy.decide(member, "shop.burn").reason == "unknown_capability"
    with pytest.raises(ValueError, match="no capability"):
        operations.grant(member, "shop.burn", actor=None)


def test_nobody_is_denied() -> None:
    assert policy.decide(None, "shop.read").reason == "unknown_identity"


def test_a_member_that_was_deleted_since_is_denied(member: Member) -> None:
    Member.objects.filter(pk=member.pk).delete()
    assert policy.decide(member, "shop.read").reason == "unknown_identity"


def test_a_demotion_counts_at_once(member: Member) -> None:
    Member.objects.filter(pk=member.pk).update(is_owner=False)
    assert policy.decide(member, "shop.read").reason == "missing_capability"


@pytest.mark.parametrize("row", ["member", "user"])
def test_someone_switched_off_is_denied(member: Member, row: str) -> None:
    if row == "member":
        Member.objects.filter(pk=member.pk).update(is_active=False)
    else:
        assert member.user_id is not None
        User.objects.filter(pk=member.user_id).update(is_active=False)
    assert policy.decide(member, "shop.read").reason == "inactive"


def test_a_member_of_another_guild_gains_nothing_by_claiming_this_one(
    member: Member, stranger: User
) -> None:
    other = stranger.members.get()
    other.guild_id = member.guild_id
    assert policy.decide(other, "shop.read").reason == "unknown_identity"


def test_a_store_that_fails_denies(member: Member) -> None:
    def broken(*args: object) -> None:
        from django.db import OperationalError

        raise OperationalError("gone")

    with connection.execute_wrapper(broken):
        assert policy.decide(member, "shop.read").reason == "store_error"


def test_a_denial_leaves_an_event(clerk: User) -> None:
    with pytest.raises(policy.Denied, match=r"shop\.import"):
        policy.require(clerk.members.get(), "shop.import")
    event = Event.objects.get(kind="permission")
    assert (event.status, event.reason) == ("denied", "missing_capability")
    assert event.metadata == {"capability": "shop.import", "surface": "web"}


def test_a_sign_in_link_works_once(ada: User, settings: object) -> None:
    settings.DEBUG = True  # type: ignore[attr-defined]
    token = operations.make_sign_in_link(ada)
    assert operations.redeem_sign_in_link(token) == ada
    assert operations.redeem_sign_in_link(token) is None
    assert operations.redeem_sign_in_link("made-up") is None


def test_a_newer_sign_in_link_replaces_the_older(ada: User, settings: object) -> None:
    settings.DEBUG = True  # type: ignore[attr-defined]
    older = operations.make_sign_in_link(ada)
    newer = operations.make_sign_in_link(ada)
    assert operations.redeem_sign_in_link(older) is None
    assert operations.redeem_sign_in_link(newer) == ada


def test_sign_in_links_are_impossible_without_debug(ada: User, settings: object) -> None:
    settings.DEBUG = True  # type: ignore[attr-defined]
    token = operations.make_sign_in_link(ada)
    settings.DEBUG = False  # type: ignore[attr-defined]
    assert operations.redeem_sign_in_link(token) is None
    with pytest.raises(operations.SignInLinksOff):
        operations.make_sign_in_link(ada)


def test_the_first_guild_is_made_once() -> None:
    guild, user = operations.ensure_first_guild()
    assert operations.ensure_first_guild() == (guild, user)
    assert Guild.objects.count() == 1
    assert user.members.get().is_owner
