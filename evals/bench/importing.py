"""import_stock against the least that could bring the same rows into a table.

Each is a process of its own, so that start-up and peak memory count on every side.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from apps.shop.models import StockItem
from config.launch_place import ROOT
from evals import bench_import
from evals.bench import rows as guilds
from evals.bench.peak import Watched
from evals.bench.report import Measured

BARE = {
    "executemany": "bare csv.reader and executemany into a table with one key",
    "copy": "bare csv.reader and COPY into a table without a key",
}


@dataclass(frozen=True)
class Process:
    """What a process took; memory at its peak, in MB."""

    seconds: float
    megabytes: float


class RowsMissing(RuntimeError):
    """An import did not bring every row of the file."""


def measure(*, rows: int) -> list[Measured]:
    """The command once into an empty guild, then each bare way."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stock.csv"
        bench_import.write_file(path, rows)
        ours = _import(path, rows)
        theirs = {way: _bare(path, way) for way in BARE}
    found = [_seconds(rows, ours, way, took) for way, took in theirs.items()]
    least = theirs["copy"].megabytes
    peak = Measured("import_stock, peak memory", f"{rows:,} rows", ours.megabytes, "MB",
                    BARE["copy"], least)  # fmt: skip
    return [*found, peak]


def _seconds(rows: int, ours: Process, way: str, took: Process) -> Measured:
    note = f"{rows / ours.seconds:,.0f} rows/s, bare {rows / took.seconds:,.0f} rows/s"
    return Measured(
        "import_stock", f"{rows:,} rows", ours.seconds, "s", BARE[way], took.seconds, note
    )


def _import(path: Path, rows: int) -> Process:
    member = guilds.owned_guild("Shop of the import")
    with contextlib.chdir(ROOT):
        took = bench_import.measure(path, "--currency", "USD", "--guild", str(member.guild_id))
    stored = StockItem.objects.filter(guild_id=member.guild_id).count()
    if stored != rows:
        raise RowsMissing(f"{stored:,} of {rows:,} rows are stored.")
    return Process(took.seconds, took.megabytes)


def _bare(path: Path, way: str) -> Process:
    started = time.monotonic()
    command = [sys.executable, "-P", "-m", "evals.bench.bare_import", str(path), way]
    took = Watched(command)
    if took.status:
        raise RowsMissing(f"The bare import by {way} failed; its reason stands above.")
    return Process(time.monotonic() - started, took.megabytes)
