"""The views of ``reading``: dropped before migrations, built after them, by signal.

A view stops ``ALTER TYPE`` and ``DROP COLUMN`` and keeps the old name of a renamed column,
so none may stand while migrations run. ``reader``'s views are plain: barrier views stop
index use with operators that are not leakproof.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import connections
from psycopg import sql

from . import reading, scope
from .roles import login_names


def drop_before_migrations(sender: Any, using: str, **kwargs: Any) -> None:
    """Drop every view once per migrate, when the first app is about to migrate."""
    if using == reading.OWNER and sender.label == _migrated()[0]:
        with connections[using].cursor() as cursor:
            _drop(cursor)


def build_after_migrations(sender: Any, using: str, **kwargs: Any) -> None:
    """Build every view once per migrate, when the last app has migrated."""
    if using == reading.OWNER and sender.label == _migrated()[-1]:
        build(using)


def _migrated() -> list[str]:
    """Labels of the apps that migrate, in the order of their signals."""
    return [config.label for config in apps.get_app_configs() if config.models_module is not None]


def build(using: str = reading.OWNER) -> None:
    """Install the scope check and rebuild all views and grants on the owner's connection."""
    names = login_names()
    with connections[using].cursor() as cursor:
        cursor.execute(scope.SCHEMA_SQL)
        _store_key(cursor)
        _drop(cursor)
        # What start-up proves the key with: the guild of the present scope, or nothing.
        cursor.execute("CREATE VIEW reading.scope AS SELECT gate.guild() AS guild_id")
        for view in reading.views():
            cursor.execute(_create(view).as_string(None))
        for statement in _grants(names):
            cursor.execute(statement.as_string(None))


def _store_key(cursor: Any) -> None:
    inner, outer = scope.pads()
    cursor.execute(
        "INSERT INTO gate.scope_key (single, inner_pad, outer_pad, key_id)"
        " VALUES (true, %s, %s, %s) ON CONFLICT (single) DO UPDATE SET"
        " inner_pad = excluded.inner_pad, outer_pad = excluded.outer_pad,"
        " key_id = excluded.key_id",
        [inner, outer, scope.key_id()],
    )


def _drop(cursor: Any) -> None:
    cursor.execute(
        "SELECT schemaname, viewname FROM pg_catalog.pg_views"
        " WHERE schemaname IN ('reading', 'analysis')"
    )
    for schema, name in cursor.fetchall():
        drop = sql.SQL("DROP VIEW {} CASCADE").format(sql.Identifier(schema, name))
        cursor.execute(drop.as_string(None))


def _create(view: reading.View) -> sql.Composed:
    table = view.model._meta.db_table
    columns = sql.SQL(", ").join(sql.SQL(text) for text in reading.columns_of(view))
    condition = sql.SQL(f" AND ({view.where})" if view.where else "")
    return sql.SQL(
        "CREATE VIEW {view} AS SELECT {columns} FROM {table} source"
        " WHERE source.{guild} = (SELECT gate.guild()){condition}"
    ).format(
        view=sql.Identifier("reading", table),
        columns=columns,
        guild=sql.Identifier(view.guild_column),
        table=sql.Identifier("public", table),
        condition=condition,
    )


def _grants(names: dict[str, str]) -> list[sql.Composed]:
    reader, analyst, app = (
        sql.Identifier(names[alias]) for alias in ("reader", "analyst", "default")
    )
    return [
        sql.SQL(text).format(reader=reader, analyst=analyst, app=app)
        for text in (
            "GRANT USAGE ON SCHEMA reading TO {reader}",
            "GRANT SELECT ON ALL TABLES IN SCHEMA reading TO {reader}",
            "GRANT USAGE ON SCHEMA analysis TO {analyst}",
            "GRANT SELECT ON ALL TABLES IN SCHEMA analysis TO {analyst}",
            "GRANT EXECUTE ON FUNCTION gate.guild(), gate.checked_scope() TO {reader}, {analyst}",
            "GRANT USAGE ON SCHEMA public TO {app}",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {app}",
            "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {app}",
            "REVOKE UPDATE, DELETE ON public.audit_event FROM {app}",
            "REVOKE INSERT, UPDATE, DELETE ON public.django_migrations FROM {app}",
        )
    ]
