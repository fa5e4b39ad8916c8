"""Many rows in one statement: one JSON document bound, inserted or updated by a key.

A document is written and read in C at both ends; arrays or single parameters cost four times
the time of the import (measured).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection, models
from django.db.models.expressions import RawSQL


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
    statement = _statement(model, list(rows[0]), key, update, list(touch or {}), only_where)
    document = json.dumps(rows, ensure_ascii=False, default=_plain)
    with connection.cursor() as cursor:
        cursor.execute(statement, [document, *(touch or {}).values()])
        return [(pk, created) for pk, created in cursor.fetchall()]


def any_of(numbers: Iterable[int]) -> RawSQL:
    """For ``field__in``: any number of ids as one parameter instead of one each."""
    text = ",".join(map(str, numbers))
    return RawSQL("SELECT unnest(string_to_array(%s, ',')::bigint[])", [text])


def _plain(value: object) -> str:
    """Amounts and instants as text, exactly; anything else is an error of the programmer."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def _statement(
    model: type[models.Model],
    names: Sequence[str],
    key: Sequence[str],
    update: Sequence[str],
    touch: Sequence[str],
    only_where: str,
) -> str:
    """SQL from column names of the model alone; every value is bound."""
    columns = _listed(names)
    typed = ", ".join(f'"{name}" {_type(model, name)}' for name in names)
    table = model._meta.db_table
    return (
        f'INSERT INTO "{table}" AS stored ({columns}) SELECT {columns}'  # noqa: S608
        f" FROM json_to_recordset(%s::json) AS given ({typed})"
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


def _type(model: type[models.Model], column: str) -> str:
    field = next(field for field in model._meta.local_fields if field.column == column)
    return str(field.db_type(connection))
