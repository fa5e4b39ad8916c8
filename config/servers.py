"""The database and the message server that Gatehouse runs on: outside ones, or embedded ones.

    with servers.use() as environment:
        ...

Embedded servers are shared: every user holds a shared lock on `users.lock`, and the last one out
stops them. The kernel frees a lock whose holder was killed. Knows no Django.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from config import launch_postgres, launch_valkey
from config.launch_place import (
    ROLES,
    Memory,
    Place,
    Say,
    ServersError,
    disk_errors_in_words,
    locked,
    make_place,
    remember,
    say_on_stderr,
    var_folder,
    write_private,
)

__all__ = ["Servers", "ServersError", "outside_environment", "use"]

OUTSIDE = {
    "DATABASE_URL": "the app login",
    "OWNER_DATABASE_URL": "the login that migrates",
    "READER_DATABASE_URL": "the login of tools that read",
    "ANALYST_DATABASE_URL": "the login of SQL questions",
    "REDIS_URL": "Redis or Valkey",
}
_ON = {"1", "true", "on", "yes", "y", "ok"}  # what django-environ takes for true


class Servers:
    """One place's pair of embedded servers."""

    def __init__(self, var: Path, *, durable: bool = True, say: Say = say_on_stderr) -> None:
        self.place: Place = make_place(var)
        self.memory: Memory = remember(var, say)
        self.durable = durable
        self.say = say

    @contextlib.contextmanager
    def _starting(self) -> Iterator[None]:
        path = self.place.var / "start.lock"
        with disk_errors_in_words(path):
            lock = locked(path, waiting_for="another start of the same servers", say=self.say)
            with lock:
                yield

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Count ourselves as a user; start on the way in, stop on the way out if we are last."""
        with (self.place.var / "users.lock").open("a") as users:
            with self._starting():
                fcntl.flock(users, fcntl.LOCK_SH)
                # Another holder may have moved a port while we waited.
                self.memory = remember(self.place.var, self.say)
                try:
                    self._ensure()
                except BaseException:
                    self._stop_if_last(users.fileno())
                    raise
            try:
                yield
            finally:
                with self._starting():
                    self._stop_if_last(users.fileno())

    def _stop_if_last(self, users: int) -> None:
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        launch_valkey.stop(self.place)
        launch_postgres.stop(self.place)

    def _ensure(self) -> None:
        if not launch_postgres.is_answering(self.place, self.memory):
            launch_postgres.start(self.place, self.memory, durable=self.durable, say=self.say)
        if not launch_valkey.is_answering(self.place, self.memory):
            launch_valkey.start(self.place, self.memory, say=self.say)

    def heal(self) -> bool:
        """Start again what was killed since; True when something was. Cheap when all is well."""
        if launch_postgres.is_alive(self.place) and launch_valkey.is_alive(self.place):
            return False
        with self._starting():
            self._ensure()
        return True

    def environment(self) -> dict[str, str]:
        """What every child needs to find these servers. It holds passwords: never print it."""
        urls = {f"{role.upper()}_DATABASE_URL": self._url(role) for role in ROLES if role != "app"}
        return {
            "DATABASE_URL": self._url("app"),
            **urls,
            "REDIS_URL": launch_valkey.url(self.memory),
            "GATEHOUSE_SUPERUSER_URL": launch_postgres.superuser_url(self.place, self.memory),
            "GATEHOUSE_VAR": str(self.place.var),
            "GATEHOUSE_EMBEDDED": "1",
            "SECRET_KEY": os.environ.get("SECRET_KEY") or secret_key(self.place.var),
            "SEALING_KEYS": os.environ.get("SEALING_KEYS") or sealing_keys(self.place.var),
            "DEBUG": os.environ.get("DEBUG", "1"),
        }

    def _url(self, role: str) -> str:
        return launch_postgres.login_url(self.memory, role)

    def setup_stamp(self) -> Path:
        """A file that lives and dies with the database: what the last set-up was done with."""
        return self.place.data / "gatehouse-setup"


def secret_key(var: Path) -> str:
    """The key kept in `var`, made once. Sessions and signed scopes depend on it."""
    return _kept(var / "secret_key", lambda: secrets.token_urlsafe(48))


def sealing_keys(var: Path) -> str:
    """The key ring kept in `var`, made once. Sealed keys of providers open with it alone."""
    return _kept(
        var / "sealing_keys", lambda: f"local:{base64.b64encode(secrets.token_bytes(32)).decode()}"
    )


def _kept(path: Path, make: Callable[[], str]) -> str:
    """What a private file holds; made when it is missing, by one start only."""
    with disk_errors_in_words(path):
        if not path.exists():
            with locked(path.with_name(f"{path.name}.lock"), waiting_for="another start"):
                if not path.exists():
                    write_private(path, make())
        return path.read_text().strip()


def local_settings(var: Path, *, make_key: bool) -> dict[str, str]:
    """What a run on one's own machine needs beside outside servers: a folder, DEBUG and keys.

    Without `make_key` keys are only taken from an earlier run here, never made: a command on a
    server must not sign with another key than its web process does.
    """
    settings = {"GATEHOUSE_VAR": str(var)}
    if "SECRET_KEY" not in os.environ and (make_key or (var / "secret_key").exists()):
        settings |= {"SECRET_KEY": secret_key(var), "DEBUG": os.environ.get("DEBUG", "1")}
    developing = settings.get("DEBUG", os.environ.get("DEBUG", "")).lower() in _ON
    there = make_key or (var / "sealing_keys").exists()
    if "SEALING_KEYS" not in os.environ and developing and there:
        settings["SEALING_KEYS"] = sealing_keys(var)
    return settings


def outside_environment(environ: Mapping[str, str]) -> dict[str, str] | None:
    """The outside servers that the environment names; None when it names none.

    Raises ServersError when it names some and not all: no login stands in for another.
    """
    given = {name: environ[name] for name in OUTSIDE if environ.get(name)}
    if not {"DATABASE_URL", "REDIS_URL"} & given.keys():
        return None
    missing = [f"{name} ({what})" for name, what in OUTSIDE.items() if name not in given]
    if missing:
        named = "DATABASE_URL" if "DATABASE_URL" in given else "REDIS_URL"
        raise ServersError(
            f"{named} is set, so outside servers are used, but this is missing: "
            f"{', '.join(missing)}. Set it too, or unset DATABASE_URL and REDIS_URL to use the "
            "embedded servers."
        )
    return given


@contextlib.contextmanager
def use(
    *, var: Path | None = None, durable: bool = True, say: Say = say_on_stderr
) -> Iterator[dict[str, str]]:
    """Have the servers for as long as the block runs; yields the environment for children.

    Outside servers named by the environment are used as they are. Embedded ones are started if
    needed, and stopped at the end unless somebody else uses them. Raises ServersError.
    """
    outside = outside_environment(os.environ)
    if outside is not None:
        yield outside
        return
    servers = Servers(var or var_folder(), durable=durable, say=say)
    with servers.held():
        yield servers.environment()


def main(arguments: list[str]) -> int:
    """`python -m config.servers COMMAND…`: run one command with the servers' environment."""
    try:
        with use() as environment:
            return subprocess.run(arguments, check=False, env=os.environ | environment).returncode
    except ServersError as error:
        say_on_stderr(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
