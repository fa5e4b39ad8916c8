"""The database logins: made where that is allowed, printed as SQL where it is not."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.conf import settings as live
from django.core.management import CommandError, call_command
from django.db import connections

from apps.core import proof, roles

pytestmark = pytest.mark.usefixtures("own_db")


@pytest.fixture(autouse=True)
def _this_database(settings: Any) -> None:
    """The command reads the database's name from the settings."""
    for alias in roles.ALIASES:
        settings.DATABASES[alias]["NAME"] = connections.settings[alias]["NAME"]


def test_making_them_again_changes_nothing_and_keeps_the_locks() -> None:
    call_command("create_roles", stderr=StringIO())
    proof.prove()


def test_an_owner_that_may_not_gets_the_sql_printed(settings: Any) -> None:
    settings.SUPERUSER_DATABASE_URL = ""
    out = StringIO()
    with pytest.raises(CommandError, match="may not make roles"):
        call_command("create_roles", stdout=out, stderr=StringIO())
    printed = out.getvalue()
    for name in roles.login_names().values():
        assert f'CREATE ROLE "{name}"' in printed
    assert "<password>" in printed
    assert live.DATABASES["default"]["PASSWORD"] not in printed


def test_a_database_that_is_away_is_told(settings: Any) -> None:
    settings.SUPERUSER_DATABASE_URL = "postgresql://nobody:nothing@127.0.0.1:9/none"
    with pytest.raises(CommandError, match="can't be reached") as told:
        call_command("create_roles", stderr=StringIO())
    assert "nothing" not in str(told.value)


def test_two_addresses_of_one_login_are_refused() -> None:
    config = connections["analyst"].settings_dict
    before = dict(config)
    config |= {name: connections["reader"].settings_dict[name] for name in ("USER", "PASSWORD")}
    connections["analyst"].close()
    try:
        with pytest.raises(proof.LocksOpen, match="use one login"):
            proof.prove()
    finally:
        config |= before
        connections["analyst"].close()
