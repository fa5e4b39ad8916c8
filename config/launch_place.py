"""Where the embedded servers live, as whom they run, and what is remembered between starts.

Nothing here knows Django. The folder `var` belongs to whoever starts Gatehouse. The servers live
in `home`, which belongs to the account they run as: `var/servers`, or, where root starts them and
that account cannot reach `var`, a folder under /var/lib that it can reach.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
ROLES = ("owner", "app", "reader", "analyst")
SOCKET_PATH_LIMIT = 100  # bytes; the kernel allows 104 on macOS and 108 on Linux
PORTS = range(15_000, 32_000)  # below the ports that kernels give to outgoing connections
FRESH_MEGABYTES = 200
RESTART_MEGABYTES = 48
LOCK_SECONDS = 180

Say = Callable[[str], None]


class ServersError(Exception):
    """The servers cannot be had; the text names the cause and the next step."""


def say_on_stderr(text: str) -> None:
    """Tell a person something on stderr, so that stdout stays a command's own."""
    print(text, file=sys.stderr, flush=True)


def var_folder() -> Path:
    """The folder for everything that is kept: `GATEHOUSE_VAR`, or `var` in the project."""
    named = os.environ.get("GATEHOUSE_VAR", "")
    return Path(named).absolute() if named else ROOT / "var"


_CAUSES = {
    errno.ENOSPC: ("the disk is full", "Free some space"),
    errno.EDQUOT: ("the disk quota is used up", "Free some space"),
    errno.EFBIG: ("a file may not grow any further (file size limit)", "Raise the limit"),
    errno.EROFS: ("the disk is read-only", "Remount it writable"),
    errno.EACCES: ("this user may not write there", "Change its owner or permissions"),
    errno.EPERM: ("this user may not write there", "Change its owner or permissions"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "Move that file away"),
    errno.EEXIST: ("a file stands where a folder is needed", "Move that file away"),
}


def disk_error(error: OSError, path: Path) -> ServersError:
    """Put a failed write into words: what, why, and what to do."""
    cause, step = _CAUSES.get(error.errno or 0, (error.strerror or str(error), "Look at the disk"))
    return ServersError(
        f"Cannot write {error.filename or path}: {cause}. "
        f"{step}, or set GATEHOUSE_VAR to a folder elsewhere, then start again."
    )


@contextlib.contextmanager
def disk_errors_in_words(path: Path) -> Iterator[None]:
    """Turn every OSError inside into a ServersError that names `path`."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, path) from error


def write_private(path: Path, text: str) -> None:
    """Replace a file whole or not at all; only its owner can read it."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path, *, waiting_for: str, say: Say = say_on_stderr) -> Iterator[None]:
    """Hold a file's exclusive lock; the kernel frees it when the holder dies, however it dies."""
    with path.open("a") as file:
        _acquire(file.fileno(), path, waiting_for=waiting_for, say=say)
        yield


def _acquire(descriptor: int, path: Path, *, waiting_for: str, say: Say) -> None:
    started, told = time.monotonic(), False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            waited = time.monotonic() - started
        if waited > LOCK_SECONDS:
            raise ServersError(
                f"Waited {LOCK_SECONDS} s for {waiting_for}, which holds {path}. "
                "End that process, then start again."
            )
        if waited > 2 and not told:
            say(f"Waiting for {waiting_for}.")
            told = True
        time.sleep(0.05)


@dataclass(frozen=True)
class Account:
    """The unprivileged user that servers run as, or nobody special when we are not root."""

    uid: int
    gid: int
    dropped: bool

    def popen_options(self) -> dict[str, Any]:
        """Arguments for subprocess that make the child run as this account, far from our cwd."""
        options: dict[str, Any] = {"cwd": "/", "stdin": subprocess.DEVNULL}
        if self.dropped:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def can_reach(self, path: Path) -> bool:
        """Whether this account gets to `path`: asked of the kernel, as that account."""
        if not self.dropped:
            return True
        check = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)]
        return subprocess.run(check, check=False, **self.popen_options()).returncode == 0

    def give(self, path: Path) -> None:
        """Hand one file or folder to this account."""
        if self.dropped:
            os.chown(path, self.uid, self.gid)


def server_account() -> Account:
    """As root: `gatehouse` if the machine has that user, else `nobody`. Otherwise ourselves."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), dropped=False)
    for name in ("gatehouse", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(entry.pw_uid, entry.pw_gid, dropped=True)
    raise ServersError(
        "PostgreSQL refuses to run as root and this machine has no user `nobody`. "
        "Create a system user named gatehouse, then start again."
    )


@dataclass(frozen=True)
class Place:
    """One set of servers: its folders and the account that it runs as."""

    var: Path
    home: Path
    sockets: Path
    account: Account

    @property
    def data(self) -> Path:
        return self.home / "postgres"

    def own_folder(self, path: Path) -> Path:
        """Make a folder for the servers, mode 0700; refuse one that another user made."""
        path.mkdir(mode=0o700, exist_ok=True)
        status = path.lstat()
        if path.is_symlink() or status.st_uid not in {self.account.uid, os.geteuid()}:
            raise ServersError(
                f"{path} belongs to another user, so the servers' sockets are not safe there. "
                "Remove it or set GATEHOUSE_VAR to another folder, then start again."
            )
        self.account.give(path)
        path.chmod(0o700)
        return path

    def logged(self, name: str) -> Path:
        """An existing log file that the servers can append to."""
        path = self.home / name
        path.touch(mode=0o600)
        self.account.give(path)
        return path


def make_place(var: Path) -> Place:
    """Make `var`, which no other user can list; choose the home of servers and sockets."""
    with disk_errors_in_words(var):
        if not var.is_dir():
            var.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True)
        probe = var / f".writable-{secrets.token_hex(4)}"
        probe.write_text("x")
        probe.unlink()
    account = server_account()
    digest = hashlib.sha256(str(var.resolve()).encode()).hexdigest()[:12]
    home = _home(var.resolve(), account, digest)
    with disk_errors_in_words(home):
        place = Place(var, home, _sockets(home, account, digest), account)
        home.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        place.own_folder(home)
        place.own_folder(place.sockets)
    return place


def _home(var: Path, account: Account, digest: str) -> Path:
    if account.can_reach(var):
        return var / "servers"
    return Path("/var/lib") / f"gatehouse-{digest}"


def _sockets(home: Path, account: Account, digest: str) -> Path:
    """Beside the data where the path is short and plain enough, else under /tmp."""
    inside = home / "sockets"
    longest = inside / ".s.PGSQL.65535.lock"
    if len(os.fsencode(longest)) < SOCKET_PATH_LIMIT and re.fullmatch(r"[\w./+-]+", str(inside)):
        return inside
    return Path("/tmp") / f"gatehouse-{account.uid}-{digest}"  # noqa: S108 (0700, owner checked)


def require_space(folder: Path, *, fresh: bool) -> None:
    """Refuse to start a database on a disk that is about to be full."""
    needed = FRESH_MEGABYTES if fresh else RESTART_MEGABYTES
    free = shutil.disk_usage(folder).free // 1_000_000
    if free < needed:
        raise ServersError(
            f"The disk that holds {folder} is full: {free} MB free, {needed} MB needed. "
            "Free some space, or set GATEHOUSE_VAR to a folder elsewhere, then start again."
        )


@dataclass
class Memory:
    """Ports and passwords, made once and kept in `servers.json`, which only its owner reads."""

    path: Path
    values: dict[str, Any]

    def port(self, server: str) -> int:
        return int(self.values[f"{server}_port"])

    def password(self, name: str) -> str:
        return str(self.values[f"{name}_password"])

    def secure_port(self, server: str, say: Say) -> int:
        """The kept port, or another when something else took it meanwhile."""
        kept = self.port(server)
        if port_is_free(kept):
            return kept
        chosen = free_port()
        say(f"Port {kept} is taken by another program; {server} moves to port {chosen}.")
        self.values[f"{server}_port"] = chosen
        write_private(self.path, json.dumps(self.values, indent=1))
        return chosen


def remember(var: Path, say: Say = say_on_stderr) -> Memory:
    """Read `servers.json`, completing what it lacks. A damaged one is made anew."""
    path = var / "servers.json"
    kept = _read_json(path, say)
    values = {**_new_memory(), **kept}
    if values != kept:
        with disk_errors_in_words(path):
            write_private(path, json.dumps(values, indent=1))
    return Memory(path, values)


def _new_memory() -> dict[str, Any]:
    postgres = free_port()
    values: dict[str, Any] = {"postgres_port": postgres, "valkey_port": free_port(not_=postgres)}
    for name in (*ROLES, "valkey"):
        values[f"{name}_password"] = secrets.token_urlsafe(24)
    return values


def _read_json(path: Path, say: Say) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ServersError(
            f"Cannot read {path}: {error.strerror}. It belongs to whoever started Gatehouse here "
            "first. Start as that user, or set GATEHOUSE_VAR to a folder of your own."
        ) from error
    except ValueError:
        say(f"{path} was damaged; new ports and passwords are made.")
        return {}
    return found if isinstance(found, dict) else {}


def port_is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_port(*, not_: int = 0) -> int:
    """A loopback port that nothing listens on, other than `not_`."""
    for _ in range(200):
        port = secrets.choice(PORTS)
        if port != not_ and port_is_free(port):
            return port
    raise ServersError("No free port found on 127.0.0.1. End some programs, then start again.")


def child_environment() -> Mapping[str, str]:
    """What a server process sees of our environment: nothing that names a database or a key."""
    kept = ("PATH", "TZ", "TMPDIR")
    return {"LC_ALL": "C", **{name: os.environ[name] for name in kept if name in os.environ}}


def processes_of(folder: Path, *names: str) -> list[psutil.Process]:
    """Living processes so named that work in `folder` or have it in their command line."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() == psutil.STATUS_ZOMBIE or process.pid == os.getpid():
                continue
            if not process.name().startswith(names):
                continue
            if process.cwd() == str(folder) or str(folder) in process.cmdline():
                found.append(process)
    return found


def end_processes(found: list[psutil.Process], *, with_signal: int, seconds: float) -> None:
    """Signal processes, wait, and kill what is left."""
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.send_signal(with_signal)
    left = still_alive(found, seconds=seconds)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGKILL)
    still_alive(left, seconds=10)


def still_alive(found: list[psutil.Process], *, seconds: float) -> list[psutil.Process]:
    """Wait until processes have ended; those that have not in time.

    A zombie has ended: in a container the first process may never collect it.
    """
    deadline = time.monotonic() + seconds
    while left := [process for process in found if _is_alive(process)]:
        if time.monotonic() > deadline:
            return left
        time.sleep(0.02)
    return []


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
