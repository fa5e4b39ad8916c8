"""The ring that seals keys: made in development, demanded on a server."""

from __future__ import annotations

import base64
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from config import servers
from config.launch_place import ROOT


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "SEALING_KEYS", "DEBUG"):
        monkeypatch.delenv(name, raising=False)


def test_a_ring_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    ring = servers.local_settings(tmp_path, make_key=True)["SEALING_KEYS"]
    assert len(base64.b64decode(ring.partition(":")[2])) == 32
    assert stat.S_IMODE((tmp_path / "sealing_keys").stat().st_mode) == 0o600
    assert servers.local_settings(tmp_path, make_key=False)["SEALING_KEYS"] == ring


def test_a_command_never_makes_a_ring(tmp_path: Path) -> None:
    assert "SEALING_KEYS" not in servers.local_settings(tmp_path, make_key=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("debug", ["", "0", "off"])
def test_a_server_with_a_key_of_its_own_gets_no_ring_from_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, debug: str
) -> None:
    monkeypatch.setenv("SECRET_KEY", "of the server")
    monkeypatch.setenv("DEBUG", debug)
    assert servers.local_settings(tmp_path, make_key=True) == {"GATEHOUSE_VAR": str(tmp_path)}


def test_a_ring_of_the_environment_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEALING_KEYS", "mine:…")
    assert "SEALING_KEYS" not in servers.local_settings(tmp_path, make_key=True)


def started(**environment: str) -> subprocess.CompletedProcess[str]:
    """Django's start with these settings, without a database."""
    address = "postgresql://nobody:x@127.0.0.1:9/none"
    names = ("DATABASE_URL", "OWNER_DATABASE_URL", "READER_DATABASE_URL", "ANALYST_DATABASE_URL")
    values = dict.fromkeys(names, address) | {"REDIS_URL": "redis://127.0.0.1:9/0"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LLM_")}
    return subprocess.run(
        [sys.executable, "-c", "import django; django.setup()"],
        cwd=ROOT,
        env=kept | values | {"SECRET_KEY": "x", "DJANGO_SETTINGS_MODULE": "config.settings"}
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


def test_a_server_does_not_start_without_a_ring() -> None:
    done = started()
    assert done.returncode == 1
    assert "SEALING_KEYS is not set: it seals the keys of model providers" in done.stderr


def test_a_server_does_not_start_with_a_broken_ring_and_shows_no_key() -> None:
    broken = "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    done = started(SEALING_KEYS=f"one:{broken}")
    assert done.returncode == 1
    assert "the key 'one' is not 32 bytes" in done.stderr
    assert broken not in done.stderr


@pytest.mark.parametrize(
    "environment",
    [
        {"SEALING_KEYS": "one:" + base64.b64encode(bytes(32)).decode()},
        {"DEBUG": "1"},
        {"SEALER": "somewhere.else.Vault"},
    ],
)
def test_it_starts_with_a_ring_or_where_none_is_needed(environment: dict[str, str]) -> None:
    done = started(**environment)
    assert (done.returncode, done.stderr) == (0, "")
