"""The four database logins: how they are made, and what each may do.

``owner`` migrates, ``app`` serves without DDL, ``reader`` sees only views in ``reading``,
``analyst`` only those in ``analysis``. None is a superuser.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from psycopg import sql

ALIASES = ("owner", "default", "reader", "analyst")
READ_ONLY = ("reader", "analyst")
SCHEMAS = {
    "owner": "public, extensions",
    "default": "public, extensions",
    "reader": "reading, extensions",
    "analyst": "analysis, extensions",
}
EXTENSIONS = ("vector", "pg_trgm", "unaccent")
# What any login may call by default and none of ours needs; only a superuser can take it away.
REVOKED = (
    "pg_sleep(double precision)",
    "pg_sleep_for(interval)",
    "pg_sleep_until(timestamp with time zone)",
    "pg_advisory_lock(bigint)",
    "pg_advisory_lock(integer, integer)",
    "pg_notify(text, text)",
    "lo_create(oid)",
    "lo_creat(integer)",
)


def login_names() -> dict[str, str]:
    """The login of each database alias, as the settings name it."""
    return {alias: settings.DATABASES[alias]["USER"] for alias in ALIASES}


def database_name() -> str:
    return str(settings.DATABASES["default"]["NAME"])


def login_statements(*, passwords: bool = True) -> list[sql.Composed]:
    """SQL that makes or updates the four logins; run on any database of the cluster."""
    statements = []
    for alias in ALIASES:
        config = settings.DATABASES[alias]
        name = sql.Identifier(config["USER"])
        secret = sql.Literal(config["PASSWORD"] if passwords else "<password>")
        statements.append(
            sql.SQL(
                "DO $do$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {text}) THEN"
                " CREATE ROLE {name} LOGIN NOINHERIT; END IF; END $do$"
            ).format(text=sql.Literal(config["USER"]), name=name)
        )
        statements.append(
            sql.SQL(
                # Naming SUPERUSER here, even to refuse it, would need a superuser; proof.py checks.
                "ALTER ROLE {name} LOGIN NOINHERIT PASSWORD {secret}"
            ).format(name=name, secret=secret)
        )
        statements.extend(_settings(alias, name))
    return statements


def _settings(alias: str, name: sql.Identifier) -> list[sql.Composed]:
    values = {"search_path": SCHEMAS[alias]}
    if alias in READ_ONLY:
        values |= {
            "default_transaction_read_only": "on",
            "statement_timeout": "'8s'" if alias == "reader" else "'2s'",
            "lock_timeout": "'1s'",
            "idle_in_transaction_session_timeout": "'60s'",
        }
    return [
        sql.SQL("ALTER ROLE {name} SET " + f"{key} = {value}").format(name=name)
        for key, value in values.items()
    ]


def access_statements(database: str) -> list[sql.Composed]:
    """SQL that lets the logins, and nobody else, connect to a database."""
    return _composed(
        [
            "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
            "GRANT CONNECT, CREATE ON DATABASE {database} TO {owner}",
            "GRANT CONNECT ON DATABASE {database} TO {default}, {reader}, {analyst}",
        ],
        database=sql.Identifier(database),
    )


def database_statements() -> list[sql.Composed]:
    """SQL that opens one database to the logins; run on that database, as its maker."""
    texts = [
        "GRANT USAGE, CREATE ON SCHEMA public TO {owner}",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        "GRANT USAGE ON SCHEMA public TO {default}",
        "CREATE SCHEMA IF NOT EXISTS extensions",
        "GRANT USAGE ON SCHEMA extensions TO {owner}, {default}, {reader}, {analyst}",
    ]
    texts += [f"CREATE EXTENSION IF NOT EXISTS {name} SCHEMA extensions" for name in EXTENSIONS]
    return access_statements(database_name()) + _composed(texts)


def _composed(texts: list[str], **parts: sql.Composable) -> list[sql.Composed]:
    names = {alias: sql.Identifier(name) for alias, name in login_names().items()}
    return [sql.SQL(text).format(**names, **parts) for text in texts]


def hardening_statements() -> list[sql.Composed]:
    """What only a superuser can do: take away functions that any login may call."""
    return [
        sql.SQL("REVOKE EXECUTE ON FUNCTION pg_catalog." + name + " FROM PUBLIC").format()
        for name in REVOKED
    ]


def apply(connection: Any, statements: list[sql.Composed]) -> None:
    """Run the statements on a psycopg connection."""
    for statement in statements:
        connection.execute(statement)
