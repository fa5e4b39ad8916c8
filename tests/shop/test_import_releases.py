"""import_releases: the real dump's known figures, hardening, and broken records."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.db.models import Count, Q

from apps.guilds.models import Guild
from apps.shop.models import Identifier, Release, ReleaseFormat, ReleaseLabel, Shop, Track

from .importing import counts, refused, run, stock_file

pytestmark = pytest.mark.usefixtures("own_db", "guild")

DUMP = "discogs-dumps/discogs_20200806_releases.sample1000.xml.gz"
BOMB = """<?xml version="1.0"?>
<!DOCTYPE releases [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY file SYSTEM "file:///etc/passwd">]>
<releases><release id="1"><title>&b;</title></release></releases>"""


def release(number: int, body: str = "<title>T</title>") -> str:
    return f'<release id="{number}" status="Accepted">{body}</release>\n'


def dump(path: Path, *records: str | bytes, root: str = "releases") -> Path:
    parts = [x if isinstance(x, bytes) else x.encode() for x in records]
    path.write_bytes(f"<{root}>\n".encode() + b"".join(parts) + f"</{root}>\n".encode())
    return path


def test_the_dump_of_1000_gives_its_known_figures(shared_data: Path) -> None:
    report = run("import_releases", shared_data / DUMP)
    assert counts(report) == (1000, 1000, 0, 0)
    assert report["errors"] == []
    everything = Release.objects.all()
    with_barcode = Identifier.objects.filter(kind="Barcode").values("release")
    timed = Track.objects.exclude(duration="")
    twice = ReleaseLabel.objects.values("release", "name").annotate(n=Count("pk")).filter(n__gt=1)
    figures = {
        "no barcode": everything.exclude(pk__in=with_barcode).count(),
        "no duration": everything.exclude(
            pk__in=timed.filter(is_sub=False).values("release")
        ).count(),
        "no duration, parts counted": everything.exclude(pk__in=timed.values("release")).count(),
        "no master": everything.filter(master_id=None).count(),
        "no style": everything.filter(styles=[]).count(),
        "catalogue number none": ReleaseLabel.objects.filter(catno__iexact="none")
        .values("release")
        .distinct()
        .count(),
        "no date": everything.filter(released="").count(),
        "no image": everything.filter(has_image=False).count(),
        "no country": everything.filter(country="").count(),
        "a label twice": twice.values("release").distinct().count(),
        "& or < in the title": everything.filter(
            Q(title__contains="&") | Q(title__contains="<")
        ).count(),
        "Various": everything.filter(artist_match="Various").count(),
    }
    assert figures == {
        "no barcode": 734,
        "no duration": 463,
        "no duration, parts counted": 460,
        "no master": 385,
        "no style": 146,
        "catalogue number none": 121,
        "no date": 118,
        "no image": 45,
        "no country": 30,
        "a label twice": 52,
        "& or < in the title": 22,
        "Various": 60,
    }
    assert everything.filter(styles__contains=["Drum n Bass"]).count() == 5
    assert (
        everything.filter(styles__contains=["Drum n Bass"], carriers__contains=['12"']).count() == 2
    )
    assert ReleaseFormat.objects.exclude(text="").count() == 151
    assert everything.filter(released__regex=r"^\d{4}$").count() == 571
    assert everything.filter(released__regex=r"^\d{4}-\d\d-\d\d$").count() == 311


def test_a_release_is_kept_as_written(shared_data: Path) -> None:
    assert counts(run("import_releases", shared_data / "discogs-dumps/releases_25.xml"))[1] == 25
    first = Release.objects.get(discogs_id=1)
    assert (first.title, first.artist_display) == ("Stockholm", "The Persuader")
    assert (first.released, first.year, first.country) == ("1999-03-00", 1999, "Sweden")
    assert (first.carriers, first.format_text) == (['12"'], '2x12"')
    assert (first.genres, first.styles) == (["Electronic"], ["Deep House"])
    assert (first.master_id, first.has_image, first.is_stub) == (1660109, True, False)
    assert (first.label_display, first.catno_display) == ("Svek", "SK032")
    numbers = list(first.tracks.order_by("position").values_list("number", "title"))
    assert numbers[0] == ("A", "Östermalm")
    assert len(numbers) == 6
    assert first.artists.filter(role="").count() == 1
    assert first.artists.filter(role="Music By [All Tracks By]").get().name == "Jesper Dahlbäck"


def test_a_second_import_and_a_stub_become_the_same_release(
    tmp_path: Path, shared_data: Path
) -> None:
    path = shared_data / "discogs-dumps/releases_25.xml"
    run(
        "import_stock",
        stock_file(tmp_path / "a.csv", {"release_id": 1, "title": "Stub"}),
        currency="USD",
    )
    stub = Release.objects.get(discogs_id=1)
    assert stub.is_stub
    assert counts(run("import_releases", path)) == (25, 24, 1, 0)
    assert counts(run("import_releases", path)) == (25, 0, 25, 0)
    filled = Release.objects.get(discogs_id=1)
    assert (filled.pk, filled.is_stub, filled.title) == (stub.pk, False, "Stockholm")
    assert filled.tracks.count() == 6
    assert Release.objects.count() == 25

    run(
        "import_stock",
        stock_file(tmp_path / "b.csv", {"release_id": 1, "title": "Other"}),
        currency="USD",
    )
    assert Release.objects.get(discogs_id=1).title == "Stockholm"


def test_credits_are_joined_and_lose_their_suffix(tmp_path: Path) -> None:
    body = (
        "<artists><artist><name>One (2)</name><anv/><join>&amp;</join></artist>"
        "<artist><name>Two (13)</name><anv>Deux</anv><join>,</join></artist>"
        "<artist><name>Three</name></artist></artists><title>T</title>"
    )
    run("import_releases", dump(tmp_path / "a.xml", release(5, body)))
    made = Release.objects.get()
    assert made.artist_display == "One & Deux, Three"
    assert made.artist_match == "One (2) & Two (13), Three"


def test_unknown_attributes_and_elements_are_passed_over(tmp_path: Path) -> None:
    body = (
        '<title new="x">T</title><master_id is_main_release="true" more="1">77</master_id>'
        "<future><deep/></future><tracklist><track><position>1</position><title>A</title>"
        "<sub_tracks><track><title>part</title></track></sub_tracks></track></tracklist>"
    )
    report = run("import_releases", dump(tmp_path / "a.xml", release(5, body)))
    assert report["errors"] == []
    assert Release.objects.get().master_id == 77
    tracks = list(Track.objects.order_by("position").values_list("title", "is_sub"))
    assert tracks == [("A", False), ("part", True)]


@pytest.mark.parametrize("pack", [False, True])
def test_a_document_type_is_refused(tmp_path: Path, pack: bool) -> None:
    path = tmp_path / "bomb.xml"
    path.write_bytes(gzip.compress(BOMB.encode()) if pack else BOMB.encode())
    assert "document type" in refused("import_releases", path)
    assert not Release.objects.exists()


def test_entities_inside_records_are_never_expanded(tmp_path: Path) -> None:
    doctype = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    path = dump(
        tmp_path / "a.xml",
        release(1, "<title>&e;</title>"),
        release(2, f"{doctype}<title>&e;</title>"),
        release(3),
    )
    report = run("import_releases", path)
    assert counts(report) == (3, 1, 0, 2)
    assert Release.objects.get().discogs_id == 3


def test_a_broken_record_costs_itself_only(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "a.xml",
        release(1),
        release(2, "<title>never closed"),
        release(3),
        '<release id="4"><title>not closed</title>\n',
        release(5),
        '<release id="six"><title>T</title></release>\n',
        "<release><title>no id</title></release>\n",
        release(8),
    )
    report = run("import_releases", path)
    assert counts(report) == (8, 4, 0, 4)
    assert [error["line"] for error in report["errors"]] == [3, 5, 7, 8]
    found = Release.objects.order_by("discogs_id").values_list("discogs_id", flat=True)
    assert list(found) == [1, 3, 5, 8]


def test_bytes_that_xml_forbids_are_told_and_the_release_is_kept(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "a.xml",
        b'<release id="1"><title>bell \x07 here</title></release>\n',
        b'<release id="2"><title>latin \xe1 here</title></release>\n',
        b'<release id="3"><title>reference &#7; and nul \x00</title></release>\n',
        release(4, "<title>fine &#225;</title>"),
    )
    report = run("import_releases", path)
    assert counts(report) == (4, 4, 0, 0)
    assert [error["line"] for error in report["errors"]] == [2, 3, 4]
    assert "0x07" in report["errors"][0]["why"]
    assert Release.objects.get(discogs_id=1).title == "bell \N{REPLACEMENT CHARACTER} here"
    assert Release.objects.get(discogs_id=4).title == "fine á"


def test_a_cut_off_gzip_keeps_what_came_before(tmp_path: Path) -> None:
    whole = gzip.compress("".join(["<releases>\n", *map(release, range(1, 8001))]).encode())
    path = tmp_path / "a.xml.gz"
    path.write_bytes(whole[: len(whole) // 2])
    report = run("import_releases", path)
    assert report["created"] > 1000
    assert Release.objects.count() == report["created"]
    assert "cut off or damaged" in report["errors"][-1]["why"]


def test_a_file_that_ends_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<releases>" + release(1) + '<release id="2"><title>T')
    report = run("import_releases", path)
    assert counts(report) == (2, 1, 0, 1)
    assert "middle" in report["errors"][0]["why"]


@pytest.mark.parametrize("kind", ["artists", "labels", "masters"])
def test_another_dump_is_named(shared_data: Path, kind: str) -> None:
    path = shared_data / f"discogs-dumps/discogs_20200806_{kind}.sample1000.xml.gz"
    assert f"<{kind}>" in refused("import_releases", path)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "is empty"),
        (b"listing_id,price\n", "no XML dump"),
        (b"\x1f\x8bgarbage", "damaged gzip"),
        (b"<?xml version='1.0' encoding='latin-1'?><releases></releases>", "not in UTF-8"),
        ("<releases/>".encode("utf-16"), "no XML dump"),
        (b"<html></html>", "<html>"),
        (b"<" * 100_000, "no XML dump"),
        (b"<!-- " + b"x" * 100_000, "no XML dump"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(content)
    assert word in refused("import_releases", path)


def test_no_releases_at_all_is_fine(tmp_path: Path) -> None:
    assert counts(run("import_releases", dump(tmp_path / "a.xml"))) == (0, 0, 0, 0)


def test_a_record_of_20_megabytes_costs_itself_only(tmp_path: Path) -> None:
    long = release(2, f"<title>T</title><notes>{'x' * (20 << 20)}</notes>")
    report = run("import_releases", dump(tmp_path / "a.xml", release(1), long, release(3)))
    assert counts(report) == (3, 2, 0, 1)
    assert report["errors"][0]["why"] == "longer than 16 MiB"


def test_a_dry_run_reports_the_same_and_writes_nothing(tmp_path: Path, guild: Guild) -> None:
    path = dump(tmp_path / "a.xml", release(1), release(2, "<title>"), release(1), release(3))
    dry = run("import_releases", path, dry_run=True)
    assert not Release.objects.exists()
    assert not Shop.objects.exists()
    real = run("import_releases", path)
    assert counts(dry) == counts(real) == (4, 2, 1, 1)
    assert dry["errors"] == real["errors"]


def test_a_demo_shop_is_refused(tmp_path: Path, guild: Guild) -> None:
    Shop.objects.create(guild=guild, currency="EUR", is_demo=True)
    path = dump(tmp_path / "a.xml", release(1))
    assert "--replace-demo" in refused("import_releases", path)
    assert counts(run("import_releases", path, replace_demo=True)) == (1, 1, 0, 0)
    assert Release.objects.get().guild == guild
