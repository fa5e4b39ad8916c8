"""Imports as processes of their own: killed in the middle, and measured for memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.conf import settings

from apps.core import clock
from apps.guilds.models import Guild
from apps.jobs.models import Job
from apps.shop.models import Release, StockItem
from evals import bench_import

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("guild")]

ROOT = Path(__file__).resolve().parents[2]
LOGINS = ("DATABASE_URL", "OWNER_DATABASE_URL", "READER_DATABASE_URL", "ANALYST_DATABASE_URL")


@pytest.fixture(autouse=True)
def _same_database(own_db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes started by the test use the test's own database."""
    for name in LOGINS:
        parts = urlsplit(os.environ[name])
        monkeypatch.setenv(name, urlunsplit(parts._replace(path=f"/{own_db}")))
    monkeypatch.setenv("SECRET_KEY", settings.SECRET_KEY)
    monkeypatch.chdir(ROOT)


def start(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "manage.py", "import_stock", str(path), "--currency=USD", "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_under_way(process: subprocess.Popen[str]) -> Job:
    """The job once a few batches are in."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1]
        job = Job.objects.first()
        if job and job.report.get("created", 0) >= 2000:
            return job
        time.sleep(0.02)
    raise AssertionError("the import did not get under way")


@pytest.mark.timeout(400)
def test_a_killed_import_goes_on_where_it_stood(tmp_path: Path, guild: Guild) -> None:
    path = tmp_path / "stock.csv"
    bench_import.write_file(path, 20_000)
    first = start(path)
    job = wait_until_under_way(first)
    first.send_signal(signal.SIGKILL)
    first.communicate()

    job.refresh_from_db()
    stood = job.report["created"]
    assert job.status == "running"
    assert 2000 <= stood < 20_000
    assert StockItem.objects.count() == stood
    # As if the thirty seconds of its lease had passed.
    Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))

    second = start(path)
    out, err = second.communicate(timeout=300)
    assert second.returncode == 0, err
    report = json.loads(out)
    assert "Going on with an import" in err
    assert report["job"] == str(job.pk)
    # Had it begun anew, the rows from before the kill would count as updated.
    assert (report["read"], report["created"], report["updated"]) == (20_000, 20_000, 0)
    assert StockItem.objects.count() == 20_000
    assert Job.objects.get().attempt == 2


@pytest.mark.timeout(400)
def test_a_file_that_changed_after_the_kill_is_read_from_its_start(
    tmp_path: Path, guild: Guild
) -> None:
    path = tmp_path / "stock.csv"
    bench_import.write_file(path, 20_000)
    first = start(path)
    wait_until_under_way(first)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    bench_import.write_file(path, 500)

    out, _ = start(path).communicate(timeout=300)
    report = json.loads(out)
    assert (report["read"], report["created"], report["updated"]) == (500, 0, 500)


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_two_hundred_thousand_rows_stay_under_300_megabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million takes minutes: ``evals.bench_import`` measures it with the same parts.

    DEBUG is on, as under ``bin/run``: Django then keeps statements, which must be let go.
    """
    monkeypatch.setenv("DEBUG", "1")
    path = tmp_path / "stock.csv"
    bench_import.write_file(path, 200_000)
    took = bench_import.measure(path, "--currency", "USD")
    assert took.report["created"] == 200_000
    assert took.report["errors_total"] == 0
    assert took.megabytes < 300
    assert Release.objects.filter(is_stub=True).count() > 100_000
