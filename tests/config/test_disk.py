"""A disk that is full, read-only or another's: told in words, with a next step, no traceback."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from config import launch_place
from config.launch_place import ServersError
from tests.config.conftest import Ground, ordinary_user, python_for, readable_code, run_as

pytestmark = pytest.mark.processes


@pytest.fixture
def tiny_disk(ground: Ground) -> Iterator[Path]:
    """A disk of 30 MB where root may mount one; else a folder below a closed one."""
    folder = ground.var.parent / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=30m,mode=755", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, check=False).returncode == 0
    yield folder
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def in_words(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """It failed, said why and what to do, and showed no traceback."""
    assert done.returncode != 0
    for word in (*words, "start again"):
        assert word in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_is_told_before_anything_is_made(
    ground: Ground, tiny_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.var = tiny_disk / "var"
    if os.path.ismount(tiny_disk):
        in_words(ground.run("-m", "config.servers", "true"), "is full", "200 MB needed")
        assert not (ground.home / "postgres").exists()
    free = shutil.disk_usage(tiny_disk).free // 1_000_000
    monkeypatch.setattr(launch_place, "FRESH_MEGABYTES", free + 1)
    with pytest.raises(ServersError, match=f"is full: {free} MB free, {free + 1} MB needed"):
        launch_place.require_space(tiny_disk, fresh=True)


def test_a_disk_that_fills_while_data_is_made_is_told(ground: Ground) -> None:
    limit = 2_000_000

    def no_large_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-m", "config.servers", "true"],
        check=False,
        env=ground.environment,
        text=True,
        capture_output=True,
        preexec_fn=no_large_files,
    )
    in_words(done, "PostgreSQL could not", "ulimit -f")
    assert list(ground.home.glob("postgres*/PG_VERSION")) == []
    assert ground.run("-m", "config.servers", "true").returncode == 0


def test_a_disk_with_no_room_for_a_single_file_is_told(ground: Ground, tiny_disk: Path) -> None:
    if not os.path.ismount(tiny_disk):
        tiny_disk.chmod(0o500)
    else:
        with pytest.raises(OSError, match="No space"):
            (tiny_disk / "filler").write_bytes(bytes(40_000_000))
    ground.var = tiny_disk / "var"
    done = ground.run("-m", "config.servers", "true")
    tiny_disk.chmod(0o755)
    in_words(done, "Cannot write" if "Cannot" in done.stderr else "is full", "GATEHOUSE_VAR")


def test_a_read_only_disk_is_told(ground: Ground, tiny_disk: Path) -> None:
    (tiny_disk / "var").mkdir()
    if os.path.ismount(tiny_disk):
        subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    else:
        (tiny_disk / "var").chmod(0o500)
    ground.var = tiny_disk / "var"
    in_words(ground.run("-m", "config.servers", "true"), "Cannot write", "GATEHOUSE_VAR")


def test_a_var_that_is_a_file_is_told(ground: Ground) -> None:
    ground.var.write_text("not a folder")
    done = ground.run("-m", "config.servers", "true")
    in_words(done, "a file stands where a folder is needed", "Move that file away")
    ground.var.unlink()


def test_an_ordinary_user_is_told_of_a_folder_that_is_not_theirs(ground: Ground) -> None:
    user = ordinary_user()
    folder = ground.var.parent
    python, path = python_for(folder, user), readable_code(folder)
    closed = folder / "closed"
    closed.mkdir(mode=0o555)
    command = [str(python), "-P", "-m", "config.servers", "true"]
    environment = ground.environment | {"PYTHONPATH": path, "GATEHOUSE_VAR": str(closed / "var")}
    done = run_as(user)(command, env=environment)
    in_words(done, f"Cannot write {closed / 'var'}", "this user may not write there")


def test_an_ordinary_user_has_servers_of_their_own(ground: Ground) -> None:
    user = ordinary_user()
    folder = ground.var.parent
    python, path = python_for(folder, user), readable_code(folder)
    ground.var.mkdir()
    if user:
        os.chown(ground.var, user.pw_uid, user.pw_gid)
    code = "echo $GATEHOUSE_SUPERUSER_URL; exit 3"
    command = [str(python), "-P", "-m", "config.servers", "sh", "-c", code]
    done = run_as(user)(command, env=ground.environment | {"PYTHONPATH": path})
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("postgresql://postgres@/gatehouse?host=")
    assert (ground.home / "postgres").stat().st_uid == (user.pw_uid if user else os.geteuid())
    assert ground.pids() == {}


def test_anothers_memory_is_told(ground: Ground) -> None:
    assert ground.use().returncode == 0
    user = ordinary_user()
    memory = ground.var / "servers.json"
    if user is None:
        memory.chmod(0o000)
        done = ground.run("-m", "config.servers", "true")
    else:
        folder = ground.var.parent
        ground.var.chmod(0o777)
        command = [str(python_for(folder, user)), "-P", "-m", "config.servers", "true"]
        environment = ground.environment | {"PYTHONPATH": readable_code(folder)}
        done = run_as(user)(command, env=environment)
    assert done.returncode == 1
    assert "Cannot read" in done.stderr
    assert "Start as that user, or set GATEHOUSE_VAR" in done.stderr
    assert "Traceback" not in done.stderr
