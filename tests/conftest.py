"""Fixtures that every suite shares: real databases, real Valkey, and a few people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings

from apps.guilds.models import Guild, Member, User
from apps.providers.operations import set_policy

from . import databases

SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright leaves an event loop in the thread that ran them."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
    """One migrated template, and one clone of it for tests that roll back."""
    with django_db_blocker.unblock():
        databases.build_template()
        main = databases.clone()
        databases.point_at(main)
    yield
    with django_db_blocker.unblock():
        databases.point_at("postgres")
        databases.drop(main)
        databases.drop(databases.TEMPLATE)


@pytest.fixture
def own_db(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """A database of the test's own with committed rows; Valkey is emptied."""
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    with django_db_blocker.unblock(), databases.own_database() as name:
        yield name


@pytest.fixture
def shared_data() -> Path:
    """The folder of real files; a test that needs it is skipped where it is missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the folder of real files is missing: {SHARED_DATA.name} beside the project")
    return SHARED_DATA


def make_user(email: str, name: str) -> User:
    return User.objects.create_user(email, password="correct horse battery", name=name)


@pytest.fixture
def guild() -> Guild:
    return Guild.objects.create(name="Lantern Street Records", time_zone="Europe/Lisbon")


def allow_the_operators_key(guild: Guild) -> Guild:
    """Let the key of the environment answer for the guild, as in a development installation."""
    set_policy(guild, operator_credential_allowed=True, actor=None)
    return guild


@pytest.fixture
def ada(guild: Guild) -> User:
    """A staff user who owns the guild."""
    user = make_user("ada@example.com", "Ada Quill")
    Member.objects.create(guild=guild, user=user, display_name=user.name, is_owner=True)
    return user


@pytest.fixture
def member(ada: User) -> Member:
    return ada.members.select_related("guild", "user").get()


@pytest.fixture
def stranger() -> User:
    """A staff user who owns another guild."""
    other = Guild.objects.create(name="Quayside Fair")
    user = make_user("stranger@example.com", "Sam Strange")
    Member.objects.create(guild=other, user=user, display_name=user.name, is_owner=True)
    return user


@pytest.fixture
def clerk(guild: Guild) -> User:
    """A staff user of the guild without any grant."""
    user = make_user("clerk@example.com", "Cleo Marsh")
    Member.objects.create(guild=guild, user=user, display_name=user.name)
    return user
