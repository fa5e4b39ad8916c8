"""Durable jobs: claimed once, canceled, taken over, and ended in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from apps.core import clock
from apps.guilds.models import Guild
from apps.jobs import operations, registry, running
from apps.jobs.errors import Canceled, JobError, LeaseLost, UnknownKind
from apps.jobs.models import Job
from apps.jobs.tasks import execute_job, sweep

pytestmark = pytest.mark.usefixtures("own_db")


@pytest.fixture
def counted() -> Iterator[list[Any]]:
    """A kind of job that counts to ten, keeping a checkpoint at each number."""
    calls: list[Any] = []

    def count(job: running.JobRun) -> dict[str, Any]:
        for number in range(job.checkpoint.get("at", 0) + 1, 11):
            calls.append(number)
            if job.args.get("break_at") == number and job.job.attempt == 1:
                raise JobError("Line 4 is broken. Fix it and start again.")
            job.save_checkpoint({"at": number}, done=number, total=10)
        return {"read": 10, "created": 10, "updated": 0}

    registry.job_kind("count_to_ten")(count)
    yield calls
    registry._kinds.pop("count_to_ten")


def test_a_job_runs_once_however_often_it_is_delivered(guild: Guild, counted: list[Any]) -> None:
    job = operations.create("count_to_ten", guild=guild, args={})
    execute_job(str(job.pk))
    execute_job(str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.done, job.percent) == ("succeeded", 10, 100)
    assert job.report["created"] == 10
    assert counted == list(range(1, 11))


def test_a_job_error_is_told_in_its_words(guild: Guild, counted: list[Any]) -> None:
    job = operations.run_now(operations.create("count_to_ten", guild=guild, args={"break_at": 4}))
    assert (job.status, job.error) == ("failed", "Line 4 is broken. Fix it and start again.")
    assert job.checkpoint == {"at": 3}


def test_a_silent_worker_is_taken_over_from_its_checkpoint(
    guild: Guild, counted: list[Any]
) -> None:
    job = operations.create("count_to_ten", guild=guild, args={})
    dead = Job.objects.claim(job.pk)
    running.JobRun(dead).save_checkpoint({"at": 6}, done=6)
    assert Job.objects.claim(job.pk) is None
    Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    execute_job(str(job.pk))
    assert counted == [7, 8, 9, 10]
    with pytest.raises(LeaseLost):
        running.JobRun(dead).save_checkpoint({"at": 7})


def test_cancel_stops_a_queued_job_at_once_and_a_running_one_soon(
    guild: Guild, counted: list[Any]
) -> None:
    queued = operations.create("count_to_ten", guild=guild, args={})
    assert operations.cancel(queued)
    execute_job(str(queued.pk))
    assert counted == []
    job = operations.create("count_to_ten", guild=guild, args={})
    claimed = Job.objects.claim(job.pk)
    assert operations.cancel(job)
    with pytest.raises(Canceled):
        running.JobRun(claimed).save_checkpoint({"at": 1})
    assert running.execute(claimed).status == "canceled"
    assert not operations.cancel(job)


def test_an_uploaded_file_reaches_the_job(guild: Guild) -> None:
    seen = []

    def read(job: running.JobRun) -> dict[str, Any]:
        seen.append(job.file().read_bytes())
        return {}

    registry.job_kind("read_upload")(read)
    try:
        upload = ContentFile(b"a,b\n1,2\n", name="../../etc/stock.csv")
        job = operations.create("read_upload", guild=guild, args={}, upload=upload)
        operations.run_now(job)
    finally:
        registry._kinds.pop("read_upload")
    assert seen == [b"a,b\n1,2\n"]
    assert "etc" not in job.upload


def test_a_kind_that_does_not_exist_is_refused(guild: Guild) -> None:
    with pytest.raises(UnknownKind, match="make_tea"):
        operations.create("make_tea", guild=guild, args={})


def test_an_upload_goes_when_its_job_has_ended(guild: Guild, counted: list[Any]) -> None:
    def upload() -> ContentFile[bytes]:
        return ContentFile(b"name,address\n", name="orders.csv")

    done = operations.create("count_to_ten", guild=guild, args={}, upload=upload())
    stored = [done.upload]
    operations.run_now(done)
    failed = operations.create("count_to_ten", guild=guild, args={"break_at": 1}, upload=upload())
    stored.append(failed.upload)
    operations.run_now(failed)
    canceled = operations.create("count_to_ten", guild=guild, args={}, upload=upload())
    stored.append(canceled.upload)
    operations.cancel(canceled)
    assert len(set(stored)) == 3
    assert not [name for name in stored if default_storage.exists(name)]
    assert not Job.objects.exclude(upload="").exists()


def test_a_job_whose_workers_always_die_is_given_up(guild: Guild, counted: list[Any]) -> None:
    job = operations.create("count_to_ten", guild=guild, args={})
    for _ in range(5):
        assert Job.objects.claim(job.pk) is not None
        Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    sweep()
    job.refresh_from_db()
    assert job.status == "failed"
    assert "died five times" in job.error
