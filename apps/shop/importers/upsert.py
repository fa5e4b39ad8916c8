"""Many rows in one statement: arrays bound once per column, inserted or updated by a key."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models


def upsert(
    model: type[models.Model],
    rows: Sequence[Mapping[str, Any]],
    *,
    key: Sequence[str],
    update: Sequence[str] = (),
    touch: Mapping[str, Any] | None = None,
    only_where: str = "",
) -> list[tuple[int, bool]]:
    """Insert rows, or update those whose key is there; ``(pk, created)`` of rows written.

    Names are column names, and every row has the same. A row that would not change is not
    written at all. ``touch`` columns are set besides when something did change;
    ``only_where`` is SQL that an existing row must fit (its columns as ``stored.…``).
    """
    if not rows:
        return []
    names = list(rows[0])
    statement = _statement(model, names, key, update, list(touch or {}), only_where)
    values = [_bound(model, name, [row[name] for row in rows]) for name in names]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, *(touch or {}).values()])
        return [(pk, created) for pk, created in cursor.fetchall()]


def _statement(
    model: type[models.Model],
    names: Sequence[str],
    key: Sequence[str],
    update: Sequence[str],
    touch: Sequence[str],
    only_where: str,
) -> str:
    """SQL from column names of the model alone; every value is bound."""
    arrays = ", ".join(f"%s::{_array_type(model, name)}" for name in names)
    picked = ", ".join(_picked(model, name) for name in names)
    columns = ", ".join(f'"{name}"' for name in names)
    table = model._meta.db_table
    return (
        f'INSERT INTO "{table}" AS stored ({columns}) SELECT {picked}'  # noqa: S608
        f" FROM unnest({arrays}) AS given ({columns})"
        f" ON CONFLICT ({_listed(key)}) {_action(model, update, touch, only_where)}"
        ' RETURNING "id", xmax = 0'
    )


def _action(
    model: type[models.Model], update: Sequence[str], touch: Sequence[str], only_where: str
) -> str:
    if not update:
        return "DO NOTHING"
    changes = [f'"{name}" = excluded."{name}"' for name in update]
    changes += [f'"{name}" = %s::{_type(model, name)}' for name in touch]
    old = ", ".join(f'stored."{name}"' for name in update)
    new = ", ".join(f'excluded."{name}"' for name in update)
    condition = f"({old}) IS DISTINCT FROM ({new})"
    if only_where:
        condition += f" AND ({only_where})"
    return f"DO UPDATE SET {', '.join(changes)} WHERE {condition}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _field(model: type[models.Model], column: str) -> models.Field[Any, Any]:
    return next(field for field in model._meta.local_fields if field.column == column)


def _type(model: type[models.Model], column: str) -> str:
    return str(_field(model, column).db_type(connection))


def _array_type(model: type[models.Model], column: str) -> str:
    """Arrays of arrays would be flattened by unnest, so they travel as text."""
    if isinstance(_field(model, column), ArrayField):
        return "text[]"
    return f"{_type(model, column)}[]"


def _picked(model: type[models.Model], column: str) -> str:
    if isinstance(_field(model, column), ArrayField):
        return f'given."{column}"::{_type(model, column)}'
    return f'given."{column}"'


def _bound(model: type[models.Model], column: str, values: list[Any]) -> list[Any]:
    if isinstance(_field(model, column), ArrayField):
        return [_array_literal(value) for value in values]
    if isinstance(_field(model, column), models.JSONField):
        return [json.dumps(value, ensure_ascii=False) for value in values]
    return values


def _array_literal(items: Iterable[str]) -> str:
    """PostgreSQL's text form of a text array."""
    quoted = (item.replace("\\", "\\\\").replace('"', '\\"') for item in items)
    return "{" + ",".join(f'"{item}"' for item in quoted) + "}"
