"""Rotating the sealing key: whole, resumable, and honest about what does not open."""

from __future__ import annotations

import base64
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from apps.audit.models import Event
from apps.core.sealed_rows import sealed_models, uncovered_columns
from apps.guilds.models import Guild
from apps.providers import operations
from apps.providers.models import Credential
from apps.providers.rotation import rotate

from .rows import OTHER, SECRET, add

OLD = "old:" + base64.b64encode(b"o" * 32).decode()
NEW = "new:" + base64.b64encode(b"n" * 32).decode()


@pytest.fixture
def sealed(own_db: str, settings: Any) -> list[Credential]:
    """Five keys, sealed with the old sealing key; then a new one stands before it."""
    settings.SEALING_KEYS = OLD
    guild = Guild.objects.create(name="Lantern Street Records")
    rows = [add(guild, f"key {number}") for number in range(5)]
    operations.revoke(add(guild, "revoked"), actor=None)
    settings.SEALING_KEYS = f"{NEW},{OLD}"
    return rows


def run(*arguments: str) -> tuple[int, str, str]:
    """The command's exit code, what it said, and its progress."""
    out, progress = StringIO(), StringIO()
    try:
        call_command("rotate_keys", *arguments, stdout=out, stderr=progress, force_color=True)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue(), progress.getvalue()
    return 0, out.getvalue(), progress.getvalue()


def test_everything_is_sealed_anew_and_the_old_key_may_go(
    sealed: list[Credential], settings: Any
) -> None:
    code, told, progress = run("--batch", "2")
    assert code == 0
    assert "5 sealed anew with 'new'; 0 had been before" in told
    assert "Key 'old' is needed by nothing: it may be taken out." in told
    assert "providers_credential: 2 of 5" in progress
    assert "providers_credential: 5 of 5" in progress
    settings.SEALING_KEYS = NEW
    for row in sealed:
        now = Credential.objects.get(pk=row.pk)
        assert (now.open(), now.key_id) == (SECRET, "new")
        assert now.fingerprint != row.fingerprint
        assert (now.secret_version, now.updated_at) == (row.secret_version, row.updated_at)
    assert Event.objects.get(kind="key_rotation").metadata == {
        "key": "new",
        "resealed": 5,
        "current": 0,
        "broken": 0,
    }


def test_a_second_rotation_changes_nothing(sealed: list[Credential]) -> None:
    run()
    before = {row.pk: bytes(row.nonce) for row in Credential.objects.filter(status="active")}
    report = rotate()
    assert (report.resealed, report.current, report.is_whole) == (0, 5, True)
    assert {r.pk: bytes(r.nonce) for r in Credential.objects.filter(status="active")} == before


def test_a_rotation_that_was_cut_goes_on_where_it_was(
    sealed: list[Credential], settings: Any
) -> None:
    def cut(table: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rotate(batch=2, tell=cut)
    assert Credential.objects.filter(key_id="new").count() == 2
    assert all(row.open() == SECRET for row in Credential.objects.filter(status="active"))
    report = rotate(batch=2)
    assert (report.resealed, report.current) == (3, 2)
    settings.SEALING_KEYS = NEW
    assert rotate().is_whole


def test_a_batch_that_fails_leaves_no_row_half_done(sealed: list[Credential]) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'no'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE UPDATE ON providers_credential FOR EACH ROW"
            f" WHEN (OLD.id = '{max(row.pk for row in sealed)}') EXECUTE FUNCTION refuse()"
        )
    with pytest.raises(Exception, match="no"):
        rotate(batch=5)
    assert Credential.objects.filter(key_id="old").count() == 5


def test_a_key_that_is_gone_is_told_red_and_ends_with_one(
    sealed: list[Credential], settings: Any
) -> None:
    settings.SEALING_KEYS = NEW
    operations.replace_secret(sealed[0], OTHER, actor=None)
    code, told, _ = run()
    assert code == 1
    assert told.count("\x1b[31;1mDoes not open: providers_credential") == 4
    assert "\x1b[31;1mKey 'old' is needed by 4, and is missing from SEALING_KEYS" in told
    assert "\x1b[32" not in told
    assert Event.objects.filter(kind="key_rotation").last().status == "failed"


def test_a_moved_row_is_broken_though_it_has_the_current_key(sealed: list[Credential]) -> None:
    rotate()
    one, two = Credential.objects.filter(status="active").order_by("pk")[:2]
    Credential.objects.filter(pk=two.pk).update(ciphertext=one.ciphertext, nonce=one.nonce)
    code, told, _ = run("--json")
    figures = json.loads(told)
    assert code == 1
    assert (figures["current"], figures["resealed"], len(figures["broken"])) == (4, 0, 1)
    assert str(two.pk) in figures["broken"][0]


def test_broken_rows_do_not_stop_the_others_and_keep_their_old_key_needed(
    sealed: list[Credential],
) -> None:
    Credential.objects.filter(pk=sealed[2].pk).update(label="renamed behind our back")
    report = rotate(batch=2)
    assert (report.resealed, len(report.broken)) == (4, 1)
    assert report.needed == {"new": 4, "old": 1}
    assert report.removable == []


def test_every_column_of_bytes_belongs_to_a_sealed_row(own_db: str) -> None:
    assert uncovered_columns() == []
    assert Credential in sealed_models()


def test_a_new_sealed_column_that_nobody_covers_is_found(sealed: list[Credential]) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("CREATE TABLE jobs_token (id bigint, ciphertext bytea)")
        cursor.execute("ALTER TABLE providers_modelprofile ADD COLUMN hint bytea")
    assert uncovered_columns() == ["jobs_token.ciphertext", "providers_modelprofile.hint"]
    code, told, _ = run()
    assert code == 1
    assert "Not covered: jobs_token.ciphertext" in told
    assert "may be taken out" not in told


def test_neither_report_nor_progress_shows_a_secret(sealed: list[Credential]) -> None:
    Credential.objects.filter(pk=sealed[2].pk).update(label="renamed behind our back")
    told = "".join(str(part) for part in (*run(), *run("--json")))
    assert not any(secret in told for secret in (SECRET, OLD[4:20], NEW[4:20]))


def test_without_a_ring_the_cause_is_told(own_db: str, settings: Any) -> None:
    settings.SEALING_KEYS = ""
    with pytest.raises(CommandError, match="SEALING_KEYS is empty"):
        run()


@pytest.mark.parametrize("batch", ["0", "-1"])
def test_a_batch_of_nothing_is_refused(own_db: str, batch: str) -> None:
    with pytest.raises(CommandError, match="one or more"):
        run("--batch", batch)
