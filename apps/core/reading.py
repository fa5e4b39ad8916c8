"""Reading as ``reader``: the database's own lock around every tool that a model can call.

Inside :func:`scope` every ORM query runs on the reader login, whose only schema is
``reading`` (views with their tables' names) within the signed guild. A query that strays to
another connection raises :class:`StrayQuery` instead of reading on as ``app``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction

from . import scope as signed_scope

READER = "reader"
OWNER = "owner"
_reading: ContextVar[bool] = ContextVar("gatehouse_reading", default=False)


class StrayQuery(RuntimeError):
    """A tool asked a connection other than the reader's."""


@dataclass(frozen=True)
class View:
    """One view of ``reading``: the model's table, these columns, and an extra condition."""

    model: type[models.Model]
    columns: tuple[str, ...] | None
    where: str
    replaced: tuple[tuple[str, str], ...] = ()
    guild_column: str = "guild_id"


_views: dict[str, View] = {}


def register_view(
    model: type[models.Model],
    *,
    columns: Sequence[str] | None = None,
    where: str = "",
    replace: dict[str, str] | None = None,
    guild_column: str = "guild_id",
) -> None:
    """Show a table to ``reader`` under its own name, filtered by the scope's guild.

    ``columns`` lists the columns shown (all when None); ``replace`` gives SQL shown in place
    of a column, such as ``{"email": "''::text"}``, so that a QuerySet runs unchanged.
    """
    table = model._meta.db_table
    picked = None if columns is None else tuple(columns)
    _views[table] = View(model, picked, where, tuple((replace or {}).items()), guild_column)


def views() -> list[View]:
    """Registered views, by table name."""
    return [_views[name] for name in sorted(_views)]


class Router:
    """Queries go to ``reader`` inside a scope, else to ``default``; only ``owner`` migrates."""

    def db_for_read(self, model: type[models.Model], **hints: Any) -> str | None:
        return READER if _reading.get() else DEFAULT_DB_ALIAS

    def db_for_write(self, model: type[models.Model], **hints: Any) -> str | None:
        return READER if _reading.get() else DEFAULT_DB_ALIAS

    def allow_relation(self, one: models.Model, other: models.Model, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == OWNER


def alias() -> str:
    """The connection that a tool's own SQL must use now."""
    return READER if _reading.get() else DEFAULT_DB_ALIAS


@contextmanager
def scope(
    guild_id: int, *, channels: Iterable[int] = (), seconds: int = 30, timeout_ms: int = 8000
) -> Iterator[None]:
    """Run the block as ``reader`` within one guild, in one read-only transaction.

    A statement over ``timeout_ms`` is cut by the database. The scope is set for the
    transaction alone, so it never survives into the connection's next use.
    """
    text = signed_scope.sign(guild_id, channels=channels, seconds=seconds)
    token = _reading.set(True)
    try:
        with ExitStack() as stack:
            for name in connections:
                if name != READER:
                    stack.enter_context(_closed(name))
            stack.enter_context(transaction.atomic(using=READER))
            with connections[READER].cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('gatehouse.scope', %s, true),"
                    " set_config('statement_timeout', %s, true),"
                    # Totals cover every matching row; sorting those on disk is the slow part.
                    " set_config('work_mem', '64MB', true)",
                    [text, str(timeout_ms)],
                )
            yield
    finally:
        _reading.reset(token)


@contextmanager
def _closed(name: str) -> Iterator[None]:
    """Let no cursor of that connection be had: not to execute, copy, stream or call."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise StrayQuery(f"a tool tried to query the {name!r} connection; tools read as reader")

    connection = connections[name]
    # Instance attributes hide the methods for as long as the block runs.
    connection.cursor = connection.chunked_cursor = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        del connection.cursor, connection.chunked_cursor


def columns_of(view: View) -> list[str]:
    """SQL select list of a view, in the table's own column order."""
    replaced = dict(view.replaced)
    names = [field.column for field in view.model._meta.local_fields if field.column]
    unknown = set(replaced) | set(view.columns or ()) - set(names)
    if unknown - set(names):
        raise ValueError(f"{view.model._meta.label} has no column {sorted(unknown - set(names))}")
    if view.columns is not None:
        names = [name for name in names if name in view.columns or name in replaced]
    return [f'{replaced[n]} AS "{n}"' if n in replaced else f'source."{n}"' for n in names]
