"""Databases for tests: one migrated template, cloned in a tenth of a second.

``transactional_db`` would truncate, which the append-only audit table refuses, and the
reader login is another connection that sees committed rows only. So a suite that needs
committed rows gets a clone of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from psycopg import sql

from apps.core import roles

PREFIX = f"gatehouse_test_{os.getpid()}"
TEMPLATE = f"{PREFIX}_template"
_numbers = count(1)
# Kept apart from the settings, which tests change.
_ADMINISTRATOR = settings.SUPERUSER_DATABASE_URL


def point_at(name: str) -> None:
    """Make every alias use that database from its next query on."""
    connections.close_all()
    for alias in connections:
        connections.settings[alias]["NAME"] = name


def _superuser(name: str = "postgres") -> psycopg.Connection[Any]:
    return psycopg.connect(_ADMINISTRATOR, dbname=name, autocommit=True)


def build_template() -> None:
    """Create the logins and a database with every migration and view applied."""
    with _superuser() as connection:
        # Logins belong to the whole server: two test processes must not alter them at once.
        connection.execute("SELECT pg_advisory_lock(1)")
        roles.apply(connection, roles.login_statements())
        owner = sql.Identifier(roles.login_names()["owner"])
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(TEMPLATE), owner)
        )
    point_at(TEMPLATE)
    with _superuser(TEMPLATE) as connection:
        roles.apply(connection, roles.database_statements())
        roles.apply(connection, roles.hardening_statements())
    call_command("migrate", database="owner", verbosity=0, interactive=False)
    connections.close_all()


def clone(template: str = TEMPLATE) -> str:
    """A fresh copy of a template; its name."""
    name = f"{PREFIX}_{next(_numbers)}"
    owner = roles.login_names()["owner"]
    with _superuser() as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(
                sql.Identifier(name), sql.Identifier(template), sql.Identifier(owner)
            )
        )
        roles.apply(connection, roles.access_statements(name))
    return name


def drop(name: str) -> None:
    with _superuser() as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


@contextmanager
def own_database(template: str = TEMPLATE) -> Iterator[str]:
    """Point every alias at a fresh clone for the block, then back, and drop it."""
    before = connections.settings["default"]["NAME"]
    name = clone(template)
    point_at(name)
    try:
        yield name
    finally:
        point_at(before)
        drop(name)
