"""Proof at start-up that the database's locks hold. Without it nothing is served."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DatabaseError, connections, transaction

from . import scope
from .roles import READ_ONLY


class LocksOpen(RuntimeError):
    """A database login may do more than it should; the message says which, and what to run."""


class _Undo(Exception):
    """Rolls an attempt back."""


def prove() -> None:
    """Try what each login must not do; :class:`LocksOpen` with every lock that is open."""
    checks = (_read_only, _no_ddl, _separate, _key)
    problems = [text for check in checks for text in check()]
    if problems:
        raise LocksOpen(
            "Gatehouse does not serve: " + "; ".join(problems) + ". Run bin/manage create_roles "
            "and bin/manage migrate --database owner, and check the four database addresses."
        )


def prove_and_close() -> None:
    """The same for a process that is about to serve: leaves no connection open."""
    try:
        prove()
    finally:
        connections.close_all()


def _read_only() -> list[str]:
    problems = []
    for alias in READ_ONLY:
        if _allowed(alias, "CREATE TEMP TABLE gatehouse_proof (x int)"):
            problems.append(f"the {alias} login can create tables")
        if _allowed(alias, "SET TRANSACTION READ WRITE; CREATE TABLE gatehouse_proof (x int)"):
            problems.append(f"the {alias} login can write")
        if _can_touch_tables(alias):
            problems.append(f"the {alias} login can reach tables outside its schema")
        if _is_super(alias):
            problems.append(f"the {alias} login is a superuser")
    return problems


def _no_ddl() -> list[str]:
    problems = []
    if _allowed("default", "CREATE TABLE public.gatehouse_proof (x int)"):
        problems.append("the app login (DATABASE_URL) can create tables")
    if _allowed("default", "ALTER TABLE public.django_migrations ADD COLUMN proof int"):
        problems.append("the app login (DATABASE_URL) can alter tables")
    if _allowed("default", "DELETE FROM public.audit_event"):
        problems.append("the app login (DATABASE_URL) can delete audit events")
    if _is_super("default"):
        problems.append("the app login (DATABASE_URL) is a superuser")
    return problems


def _separate() -> list[str]:
    users = [connections[alias].settings_dict["USER"] for alias in connections]
    return ["two of the four database addresses use one login"] if len(set(users)) < 4 else []


def _key() -> list[str]:
    with transaction.atomic(using="reader"), connections["reader"].cursor() as cursor:
        cursor.execute("SELECT set_config('gatehouse.scope', %s, true)", [scope.sign(1)])
        try:
            with transaction.atomic(using="reader"):
                cursor.execute("SELECT guild_id FROM reading.scope")
                seen = cursor.fetchone()
        except DatabaseError:
            return ["the views of the reader login are missing or broken"]
    if seen != (1,):
        return ["SECRET_KEY has changed since the last migrate, so the reader login sees nothing"]
    return []


def _allowed(alias: str, statement: str) -> bool:
    def attempt() -> None:
        with connections[alias].cursor() as cursor:
            for part in statement.split("; "):
                cursor.execute(part)

    return _survives(alias, attempt)


def _survives(alias: str, attempt: Callable[[], None]) -> bool:
    """Whether the attempt is allowed; it is rolled back either way."""
    try:
        with transaction.atomic(using=alias):
            attempt()
            raise _Undo
    except _Undo:
        return True
    except DatabaseError:
        return False


def _is_super(alias: str) -> bool:
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user")
        return bool(cursor.fetchone()[0])


def _can_touch_tables(alias: str) -> bool:
    with connections[alias].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
            " ON n.oid = c.relnamespace WHERE n.nspname IN ('public', 'gate')"
            " AND c.relkind IN ('r', 'p', 'v', 'm') AND ("
            " has_table_privilege(c.oid, 'SELECT') OR has_table_privilege(c.oid, 'INSERT')"
            " OR has_table_privilege(c.oid, 'UPDATE') OR has_table_privilege(c.oid, 'DELETE'))"
        )
        return bool(cursor.fetchone()[0])
