"""Numbers seen before, kept on disk, so that a dry run of any length stays small."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


class SeenNumbers:
    """A set of whole numbers in a temporary file that vanishes with the object."""

    def __init__(self) -> None:
        self._file = sqlite3.connect("", isolation_level=None)
        self._file.execute("PRAGMA cache_size = -4000")
        self._file.execute("CREATE TABLE seen (number INTEGER PRIMARY KEY)")

    def add(self, numbers: Iterable[int]) -> int:
        """Remember these; how many were not known."""
        before = self._file.total_changes
        self._file.execute("BEGIN")
        given = [(number,) for number in numbers]
        self._file.executemany("INSERT OR IGNORE INTO seen VALUES (?)", given)
        self._file.execute("COMMIT")
        return self._file.total_changes - before
