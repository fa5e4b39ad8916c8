"""Jobs on a page: progress, report, stopping, and whose they are."""

from __future__ import annotations

import pytest

from apps.guilds import operations as guilds
from apps.jobs.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(member):
    error = {"line": 318, "field": "price", "value": "6,85 €", "why": "a comma"}
    return Job.objects.create(
        guild=member.guild, kind="import_stock", title="Stock: inventory.csv", status="running",
        done=1204, total=4012, created_by=member,
        report={"read": 1204, "created": 1196, "errors": [error], "errors_total": 1500},
    )  # fmt: skip


def text(response) -> str:
    return response.content.decode()


def test_a_running_job_shows_its_progress_and_what_it_could_not_take(client, ada, job):
    client.force_login(ada)
    for path in (f"/jobs/{job.pk}/", f"/jobs/{job.pk}/progress/"):
        body = text(client.get(path))
        assert "30 %" in body
        assert '<progress max="4012" value="1204"' in body
        assert "6,85 €" in body
        assert "1500 rows to look at" in body
        assert "1499 more are not listed" in body
    assert "<html" not in body


def test_an_ended_job_asks_no_more(client, ada, job):
    Job.objects.update(status="failed", error="The file is no CSV. Export it again.")
    client.force_login(ada)
    body = text(client.get(f"/jobs/{job.pk}/progress/"))
    assert "hx-trigger" not in body
    assert "The file is no CSV." in body


def test_stopping_a_job(client, ada, job):
    client.force_login(ada)
    assert client.post(f"/jobs/{job.pk}/cancel/").url == f"/jobs/{job.pk}/"
    job.refresh_from_db()
    assert job.cancel_requested_at is not None


def test_strangers_find_no_job_and_a_reader_may_not_stop_it(client, stranger, clerk, job):
    client.force_login(stranger)
    paths = [f"/jobs/{job.pk}/", f"/jobs/{job.pk}/progress/"]
    assert [client.get(path).status_code for path in paths] == [404, 404]
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 404
    assert "inventory.csv" not in text(client.get("/jobs/"))
    client.force_login(clerk)
    assert client.get("/jobs/").status_code == 403
    guilds.grant(clerk.members.get(), "job.read", actor=None)
    assert "inventory.csv" in text(client.get("/jobs/"))
    assert "Stop the import" not in text(client.get(paths[0]))
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 403


def test_the_list_does_not_query_by_row(client, ada, member, django_assert_max_num_queries):
    for number in range(8):
        Job.objects.create(guild=member.guild, kind="x", title=str(number), created_by=member)
    client.force_login(ada)
    with django_assert_max_num_queries(10):
        client.get("/jobs/")
