"""Time and memory of import_stock on a generated file.

    export GATEHOUSE_VAR=/tmp/bench; bin/manage setup; .venv/bin/python -m evals.bench_import

The command runs in a process of its own, whose greatest resident size is what is measured.
The rows stay in the first guild of that var folder: take a fresh one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config import servers
from evals.bench import peak

HEADER = (
    "listing_id,artist,title,label,catno,format,release_id,status,price,listed,comments,"
    "media_condition,sleeve_condition,accept_offer,external_id,weight,format_quantity,location,"
    "quantity"
)
PHASES = ("dry run", "import", "import again")
GRADES = ("Mint (M)", "Near Mint (NM or M-)", "Very Good Plus (VG+)", "Very Good (VG)")
FORMATS = ('"LP, Album"', '"7"", Single"', '"12"""', "CD", '"2xLP, Album, RE + 7"", Single"')
WORDS = (
    "low tide harbour lantern orchard copper winter signal paper garden velvet engine river "
    "salt northern quiet glass market hollow bright station ember cedar mirror"
)


@dataclass(frozen=True)
class Measured:
    """What one run of the command took."""

    seconds: float
    megabytes: float
    report: dict[str, Any]


def rows(count: int) -> Iterator[str]:
    """Listings whose releases repeat about every fourth time, as in a real shop."""
    dice = random.Random(1)
    words = WORDS.split()
    for number in range(1, count + 1):
        release = dice.randrange(1, max(2, count * 3 // 4))
        artist = f"{dice.choice(words)} {dice.choice(words)} {release % 997}".title()
        title = " ".join(dice.choice(words) for _ in range(3)).capitalize()
        price = dice.randrange(50, 9000) / 100
        yield (
            f"{number},{artist},{title},{dice.choice(words).title()} Records,CAT {release},"
            f"{dice.choice(FORMATS)},{release},For Sale,{price},"
            f"202{dice.randrange(6)}-0{dice.randrange(1, 10)}-1{dice.randrange(10)} 10:00:00,,"
            f"{dice.choice(GRADES)},{dice.choice(GRADES)},N,,230,1,A{number % 90},1"
        )


def write_file(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(HEADER + "\r\n")
        file.writelines(f"{row}\r\n" for row in rows(count))


def measure(path: Path, *options: str) -> Measured:
    """Import the file in a process of its own."""
    command = [sys.executable, "manage.py", "import_stock", str(path), "--json", *options]
    started = time.monotonic()
    process = peak.Watched(command)
    if process.status:
        raise SystemExit(f"the import failed: {process.out[:500]}")
    return Measured(time.monotonic() - started, process.megabytes, json.loads(process.out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--only", choices=PHASES, help="one phase instead of all three")
    given = parser.parse_args()
    with servers.use() as environment, tempfile.TemporaryDirectory() as folder:
        os.environ.update(environment)
        path = Path(folder) / "stock.csv"
        write_file(path, given.count)
        for name in [given.only] if given.only else PHASES:
            extra = ["--dry-run"] if name == "dry run" else []
            took = measure(path, "--currency", "USD", *extra)
            speed = given.count / took.seconds
            print(
                f"{name}: {took.seconds:.1f} s, {speed:,.0f} rows/s, {took.megabytes:.0f} MB, "
                f"created {took.report['created']:,}, updated {took.report['updated']:,}",
                flush=True,
            )


if __name__ == "__main__":
    main()
