"""Runs `manage.py setup` when something that it depends on changed. Knows no Django."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from config.launch_place import (
    ROOT,
    Say,
    ServersError,
    disk_errors_in_words,
    locked,
    say_on_stderr,
    write_private,
)
from config.servers import Servers

MANAGE = [sys.executable, str(ROOT / "manage.py")]


def fingerprint(environment: dict[str, str]) -> str:
    """Changes when any code, migration, requirement, password or key does.

    A port may change: no login depends on it.
    """
    secrets = [urlsplit(url).password for url in environment.values() if "://" in url]
    digest = hashlib.sha256(f"{secrets}{environment['SECRET_KEY']}".encode())
    for folder in ("apps", "config", "requirements"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".sql", ".txt"}:
                status = path.stat()
                digest.update(f"{path}|{status.st_size}|{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def set_up(servers: Servers, *, demo: bool, say: Say = say_on_stderr) -> bool:
    """Bring the database up to date unless it is; True when there was something to do.

    The stamp lies in the database's own folder, so it goes where the data goes. A set-up with the
    demo shop counts as one without.
    """
    stamp = servers.setup_stamp()
    with locked(servers.place.var / "setup.lock", waiting_for="another set-up", say=say):
        wanted = fingerprint(servers.environment())
        if _kept(stamp) in {f"{wanted} demo", wanted if not demo else ""}:
            return False
        run_setup(servers.environment(), demo=demo)
        with disk_errors_in_words(stamp):
            write_private(stamp, f"{wanted} demo" if demo else wanted)
            servers.place.account.give(stamp)
        return True


def _kept(stamp: Path) -> str:
    with contextlib.suppress(OSError):
        return stamp.read_text().strip() or "none"
    return "none"


def run_setup(environment: dict[str, str], *, demo: bool) -> None:
    """Run the command; what it says goes to stderr, so that stdout stays the caller's."""
    command = [*MANAGE, "setup", *(["--demo"] if demo else [])]
    done = subprocess.run(
        command,
        check=False,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    )
    if done.returncode != 0:
        raise ServersError(
            f"The set-up did not finish (exit code {done.returncode}); its reason stands above. "
            "Nothing is lost: mend it, then start again."
        )
