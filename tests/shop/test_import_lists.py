"""import_wants and import_collection: the real exports, and what other programs did to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.guilds.models import Guild
from apps.jobs import operations as jobs
from apps.jobs.models import Job
from apps.shop.importers import pipeline
from apps.shop.models import CollectionEntry, Customer, Release, Want

from .importing import counts, refused, run

pytestmark = pytest.mark.usefixtures("own_db", "guild")

WANTS = "discogs-collection/wantlist-2016.csv"
COLLECTION = "discogs-collection/collection-2016.csv"
HEADER = (
    "Catalog#,Artist,Title,Label,Format,Rating,Released,release_id,CollectionFolder,Date Added,"
    "Collection Media Condition,Collection Sleeve Condition,Collection Notes"
)


def collection(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text("\r\n".join([header, *rows]) + "\r\n", newline="")
    return path


def row(number: int, *, added: str = "2021-09-22 19:17:13", media: str = "") -> str:
    return f"HW {number},Band (2),Title,Label,LP,3,2012,{number},Shelf,{added},{media},,note"


def test_29_of_29_wants_with_ten_fields_under_nine_headers(shared_data: Path) -> None:
    report = run("import_wants", shared_data / WANTS)
    assert counts(report) == (29, 29, 0, 0)
    assert report["errors"] == []
    assert Want.objects.filter(status="open", added_at__isnull=False).count() == 29
    first = Want.objects.select_related("release").get(release__discogs_id=4619668)
    assert first.added_at is not None
    assert first.added_at.isoformat()[:10] == "2014-12-06"
    assert (first.release.title, first.release.catno_display) == ("Horses", "ARTY 122")
    assert first.release.artist_display == "Patti Smith"


def test_wants_again_keep_their_status_and_customer(shared_data: Path) -> None:
    run("import_wants", shared_data / WANTS, customer="Ines Duarte")
    Want.objects.update(status="filled")
    assert counts(run("import_wants", shared_data / WANTS, customer="Ines Duarte")) == (
        29,
        0,
        29,
        0,
    )
    assert Want.objects.filter(status="filled").count() == 29
    assert Customer.objects.get().initials == "ID"
    assert counts(run("import_wants", shared_data / WANTS)) == (29, 29, 0, 0)
    assert Want.objects.count() == 58


def test_a_want_list_dry_run(shared_data: Path) -> None:
    assert counts(run("import_wants", shared_data / WANTS, dry_run=True)) == (29, 29, 0, 0)
    assert not Want.objects.exists()
    assert not Release.objects.exists()


def test_the_real_collection_with_its_own_columns(shared_data: Path) -> None:
    path = shared_data / COLLECTION
    rows = len(path.read_bytes().splitlines()) - 1
    report = run("import_collection", path)
    assert counts(report) == (68, 68, 0, 0) == (rows, rows, 0, 0)
    assert report["errors"] == []
    shrines = CollectionEntry.objects.get(release__discogs_id=4235004)
    assert shrines.extra == {"Purchased At": "Amoeba", "Color": "Teal"}
    assert shrines.folder == "Uncategorized"
    dear = Release.objects.get(discogs_id=4860518)
    assert dear.carriers == ["LP", "CD"]
    assert dear.label_display == "Anti-, Lady Pilot"
    assert counts(run("import_collection", path)) == (68, 0, 68, 0)
    assert CollectionEntry.objects.count() == 68


@pytest.mark.parametrize(
    "header",
    [
        HEADER.replace("#", ".").replace(" ", "."),
        HEADER.lower().replace(" ", "_"),
        "\ufeff" + HEADER.upper(),
    ],
)
def test_headers_as_other_programs_rewrite_them(tmp_path: Path, header: str) -> None:
    report = run("import_collection", collection(tmp_path / "c.csv", row(5), header=header))
    assert counts(report) == (1, 1, 0, 0)
    entry = CollectionEntry.objects.select_related("release").get()
    assert (entry.folder, entry.rating) == ("Shelf", 3)
    assert entry.added_at is not None
    assert entry.added_at.year == 2021
    assert list(entry.extra.values()) == ["note"]
    assert [key.lower() for key in entry.extra] == ["notes"]
    assert (entry.release.year, entry.release.catno_display) == (2012, "HW 5")


def test_the_same_release_twice_is_two_copies_and_stays_two(tmp_path: Path) -> None:
    path = collection(tmp_path / "c.csv", row(5), row(5), row(6))
    assert counts(run("import_collection", path, dry_run=True)) == (3, 3, 0, 0)
    assert counts(run("import_collection", path)) == (3, 3, 0, 0)
    assert counts(run("import_collection", path)) == (3, 0, 3, 0)
    assert counts(run("import_collection", path, dry_run=True)) == (3, 0, 3, 0)
    assert CollectionEntry.objects.filter(release__discogs_id=5).count() == 2


def test_a_spreadsheets_date_is_taken_or_told(tmp_path: Path) -> None:
    path = collection(
        tmp_path / "c.csv", row(5, added="23/04/2023 04:38"), row(6, added="03/04/2023 04:38")
    )
    report = run("import_collection", path)
    assert counts(report) == (2, 2, 0, 0)
    assert [(e["line"], e["field"]) for e in report["errors"]] == [(3, "Date Added")]
    assert CollectionEntry.objects.get(release__discogs_id=6).added_at is None


def test_odd_grades_and_ids(tmp_path: Path) -> None:
    report = run("import_collection", collection(tmp_path / "c.csv", row(5, media="EX"), row(0)))
    assert counts(report) == (2, 1, 0, 1)
    assert CollectionEntry.objects.get().media == "EX"
    assert {e["field"] for e in report["errors"]} == {"Collection Media Condition", "release_id"}


def test_one_list_is_not_the_other(shared_data: Path, guild: Guild) -> None:
    assert "import_collection" in refused("import_wants", shared_data / COLLECTION)
    assert "import_wants" in refused("import_collection", shared_data / WANTS)
    assert not Release.objects.exists()


def test_a_collection_begun_goes_on_and_still_counts_its_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second copy of a release is known only by remembering the first."""
    monkeypatch.setattr(pipeline, "BATCH", 1)
    path = collection(tmp_path / "c.csv", row(5), row(5), row(5))
    report = run("import_collection", path)
    job = Job.objects.get(pk=report["job"])
    after_first = len(f"{HEADER}\r\n{row(5)}\r\n".encode())
    CollectionEntry.objects.filter(copy__gt=1).delete()
    Job.objects.update(
        status="queued",
        checkpoint={**job.checkpoint, "file": {"offset": after_first, "line": 3}},
        report={**job.report, "read": 1, "created": 1},
    )
    ended = jobs.run_now(job)
    assert counts(ended.report) == (3, 3, 0, 0)
    assert set(CollectionEntry.objects.values_list("copy", flat=True)) == {1, 2, 3}
