"""What a kill leaves behind, and how the next start mends it."""

from __future__ import annotations

import os
import signal
import time

import psutil
import psycopg
import pytest

from tests.config.conftest import Ground, Holder, wait_dead

pytestmark = pytest.mark.processes

WRITE = (
    "import psycopg; psycopg.connect(environment['GATEHOUSE_SUPERUSER_URL'], autocommit=True)"
    ".execute('CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n')"
)
COUNT = (
    "import psycopg; print(psycopg.connect(environment['GATEHOUSE_SUPERUSER_URL'])"
    ".execute('SELECT count(*) FROM kept').fetchone()[0])"
)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def test_a_killed_postmaster_is_found_told_and_recovered_with_its_rows(ground: Ground) -> None:
    first = ground.hold()
    assert ground.use(WRITE).returncode == 0
    kill(ground.pids()["postgres"])
    done = ground.use(COUNT)
    assert (done.stdout, done.returncode) == ("1000\n", 0), done.stderr
    assert "PostgreSQL did not stop properly last time" in done.stderr
    first.finish()
    assert ground.pids() == {}


def test_a_killed_valkey_is_started_again(ground: Ground) -> None:
    first = ground.hold()
    before = ground.pids()
    kill(before["valkey"])
    ping = "import redis; print(redis.from_url(environment['REDIS_URL']).ping())"
    done = ground.use(ping)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr
    assert ground.pids()["postgres"] == before["postgres"]
    first.finish()
    assert ground.pids() == {}


def test_a_killed_holder_counts_no_more(ground: Ground) -> None:
    killed, other = ground.hold(), ground.hold()
    pids = ground.pids()
    killed.kill()
    assert ground.pids() == pids
    other.finish()
    assert ground.pids() == {}


def test_servers_left_by_the_only_holder_are_used_and_stopped_by_the_next(ground: Ground) -> None:
    ground.hold().kill()
    orphans = ground.pids()
    assert orphans.keys() == {"postgres", "valkey"}
    holder = ground.hold()
    assert ground.pids() == orphans
    holder.finish()
    assert ground.pids() == {}


def test_everything_killed_at_once_recovers(ground: Ground) -> None:
    holder = ground.hold()
    pids = ground.pids()
    holder.kill()
    for pid in pids.values():
        kill(pid)
    assert ground.use().returncode == 0
    assert ground.pids() == {}


def test_a_hung_postmaster_is_ended_and_replaced(ground: Ground) -> None:
    ground.hold().kill()
    hung = ground.pids()["postgres"]
    os.kill(hung, signal.SIGSTOP)
    done = ground.use()
    assert done.returncode == 0, done.stderr
    assert "was killed or hangs" in done.stderr
    wait_dead(hung)


def test_a_hung_valkey_is_ended_and_replaced(ground: Ground) -> None:
    ground.hold().kill()
    hung = ground.pids()["valkey"]
    os.kill(hung, signal.SIGSTOP)
    done = ground.use()
    assert done.returncode == 0, done.stderr
    wait_dead(hung)


@pytest.mark.parametrize("moment", ["initdb", "begun", "late"])
def test_a_start_killed_in_the_middle_starts_over(ground: Ground, moment: str) -> None:
    holder = Holder.begin(ground.environment)
    wait_for_initdb(ground, {"initdb": 0.0, "begun": 0.15, "late": 0.4}[moment])
    holder.kill()
    assert not (ground.home / "postgres").exists() or moment == "late"
    done = ground.use()
    assert done.returncode == 0, done.stderr
    assert list(ground.home.glob("postgres.new-*")) == []
    assert not initdb_processes(ground)


def wait_for_initdb(ground: Ground, more: float) -> None:
    deadline = time.monotonic() + 20
    while not list(ground.home.glob("postgres.new-*")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(more)


def initdb_processes(ground: Ground) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["name", "cmdline", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
        and "postgres.new-" in " ".join(process.info["cmdline"] or [])
        and str(ground.home) in " ".join(process.info["cmdline"] or [])
    ]


def test_a_stale_pid_file_that_names_another_program_harms_nobody(ground: Ground) -> None:
    assert ground.use().returncode == 0
    pid_file = ground.home / "postgres/postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{ground.home}/postgres\n0\n5432\n\n\n0 0\nready\n")
    done = ground.use()
    assert done.returncode == 0, done.stderr
    assert psutil.pid_exists(os.getpid())


def test_a_damaged_memory_is_made_anew_and_told(ground: Ground) -> None:
    assert ground.use().returncode == 0
    (ground.var / "servers.json").write_text('{"postgres_po')
    done = ground.use()
    assert done.returncode == 0, done.stderr
    assert "was damaged; new ports and passwords are made" in done.stderr


def test_a_running_holder_heals_its_servers(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    from config.servers import Servers

    said: list[str] = []
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    servers = Servers(ground.var, durable=False, say=said.append)
    with servers.held():
        assert servers.heal() is False
        before = ground.pids()
        for pid in before.values():
            kill(pid)
        wait_dead(*before.values())
        assert servers.heal() is True
        assert ground.pids().keys() == before.keys()
        with psycopg.connect(servers.environment()["GATEHOUSE_SUPERUSER_URL"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert ground.pids() == {}


def test_a_command_beside_the_servers_keeps_its_exit_code(ground: Ground) -> None:
    done = ground.run("-m", "config.servers", "sh", "-c", "echo $GATEHOUSE_VAR; exit 7")
    assert (done.returncode, done.stdout) == (7, f"{ground.var}\n")
    assert ground.pids() == {}
