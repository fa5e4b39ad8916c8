"""The benchmarks as a person starts them, on few rows: what they write, not how fast it was."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from config.launch_place import ROOT

SMALL = ["--items", "500", "--rows", "300", "--runs", "1", "--repeats", "2", "--questions", "3"]
CASES = {
    "agent loop, CPU a run": 2,
    "agent loop, clock a run": 2,
    "import_stock": 2,
    "import_stock, peak memory": 1,
    "drum and bass question": 1,
    "house model's reply": 3,
}
FIELDS = {"benchmark", "case", "ours", "unit", "reference", "theirs", "ratio", "note"}


@pytest.mark.slow
def test_every_benchmark_writes_its_figures_and_their_reference(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    done = subprocess.run(
        [ROOT / "bin/bench", *SMALL, "--json", path], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(path.read_text())
    assert {"date", "cores", "python", "postgres"} <= found["machine"].keys()
    rows = found["results"]
    assert {name: sum(row["benchmark"] == name for row in rows) for name in CASES} == CASES
    for row in rows:
        assert row.keys() == FIELDS
        assert row["ours"] > 0
        assert row["reference"]
        if row["theirs"] is not None:
            assert row["ratio"] == pytest.approx(row["ours"] / row["theirs"], abs=0.01)
    alone = {row["benchmark"] for row in rows if row["ratio"] is None}
    assert alone == {"house model's reply"}
    assert done.stdout.count("\n| ") == len(rows) + 1
