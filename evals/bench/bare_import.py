"""The reference of the import: rows of a CSV file into a typed table, and nothing else.

    python -m evals.bench.bare_import stock.csv executemany|copy

No release, no check, no report, no checkpoint; one transaction, on the owner's login.
"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import psycopg

TYPES = {
    "listing_id": "bigint",
    "release_id": "bigint",
    "price": "numeric(12, 2)",
    "listed": "timestamp",
    "weight": "integer",
    "format_quantity": "integer",
    "quantity": "integer",
}


def main(path: Path, way: str) -> None:
    url = os.environ["OWNER_DATABASE_URL"]
    with path.open(encoding="utf-8", newline="") as file, psycopg.connect(url) as connection:
        rows = csv.reader(file)
        columns = next(rows)
        _make_table(connection, columns, way)
        cursor = connection.cursor()
        if way == "copy":
            with cursor.copy("COPY bench_bare FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO bench_bare VALUES ({places})", rows)  # noqa: S608


def _make_table(connection: psycopg.Connection[object], columns: list[str], way: str) -> None:
    typed = ", ".join(f"{name} {TYPES.get(name, 'text')}" for name in columns)
    key = ", PRIMARY KEY (listing_id)" if way == "executemany" else ""
    connection.execute("DROP TABLE IF EXISTS bench_bare")
    connection.execute(f"CREATE TABLE bench_bare ({typed}{key})")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
