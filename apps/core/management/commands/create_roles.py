"""Make the four database logins and open the database to them, or print the SQL."""

from __future__ import annotations

import argparse
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from psycopg import sql

from apps.core import roles


class Command(BaseCommand):
    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--print", action="store_true", help="only print the SQL")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["print"]:
            self._print()
            return
        try:
            self._apply()
        except psycopg.errors.InsufficientPrivilege as error:
            self._print()
            raise CommandError(
                f"This login may not make roles ({_first_line(error)}). Run the SQL above as an "
                "administrator of the database, then start again."
            ) from None
        except psycopg.OperationalError as error:
            raise CommandError(f"The database can't be reached: {_first_line(error)}") from None
        self.stderr.write("Database logins are ready.")

    def _apply(self) -> None:
        address = settings.SUPERUSER_DATABASE_URL
        target = address or _owner_address()
        first = psycopg.conninfo.make_conninfo(target, dbname="postgres") if address else target
        with psycopg.connect(first, autocommit=True) as connection:
            roles.apply(connection, roles.login_statements())
            _create_database(connection)
        with psycopg.connect(target, dbname=roles.database_name(), autocommit=True) as connection:
            roles.apply(connection, roles.database_statements())
            if address:
                roles.apply(connection, roles.hardening_statements())

    def _print(self) -> None:
        statements = [*roles.login_statements(passwords=False), *roles.database_statements()]
        for statement in statements:
            self.stdout.write(statement.as_string(None) + ";")


def _create_database(connection: psycopg.Connection[Any]) -> None:
    name = roles.database_name()
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
    if not found:
        owner = sql.Identifier(roles.login_names()["owner"])
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), owner)
        )


def _owner_address() -> str:
    config = settings.DATABASES["owner"]
    return psycopg.conninfo.make_conninfo(
        host=config["HOST"],
        port=config["PORT"],
        user=config["USER"],
        password=config["PASSWORD"],
        dbname=config["NAME"],
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
