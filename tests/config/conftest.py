"""Places, accounts and processes for tests that start and kill real servers."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
import pytest

from config import launch_postgres, launch_valkey
from config.launch_place import ROOT, Place, still_alive

HOLD = """
import sys
from config import servers
with servers.use(durable=False):
    print("held", flush=True)
    sys.stdin.read()
"""


def clean_environment(var: Path, **more: str) -> dict[str, str]:
    """Ours without the servers of the test run, pointing at a `var` of the test's own."""
    ours = {"SECRET_KEY", "SEALING_KEYS", "DEBUG", "PORT", "DJANGO_SETTINGS_MODULE"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GATEHOUSE_") and not name.endswith("_URL") and name not in ours
    }
    return kept | {"GATEHOUSE_VAR": str(var), "PYTHONPATH": str(ROOT), **more}


@dataclass
class Holder:
    """A process that uses the servers until told otherwise."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls, environment: dict[str, str]) -> Holder:
        """Start one and wait until it has the servers."""
        holder = cls.begin(environment)
        assert holder.process.stdout is not None
        line = holder.process.stdout.readline()
        assert line == "held\n", f"{line}{holder.finish()}"
        return holder

    @classmethod
    def begin(cls, environment: dict[str, str]) -> Holder:
        """Start one and wait for nothing."""
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", HOLD]
        return cls(
            subprocess.Popen(
                command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd="/"
            )
        )

    def finish(self) -> str:
        """Let it go; returns what it said on stderr."""
        return self.process.communicate(timeout=60)[1]

    def kill(self) -> None:
        """Kill it outright."""
        self.process.kill()
        self.process.communicate(timeout=10)


@dataclass
class Ground:
    """A `var` of a test's own, and everything that runs from it."""

    var: Path
    holders: list[Holder] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(self.var)

    def hold(self) -> Holder:
        holder = Holder.start(self.environment)
        self.holders.append(holder)
        return holder

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run `python COMMAND` here, to its end."""
        return subprocess.run(
            [sys.executable, *command],
            check=False,
            env=self.environment | more,
            cwd="/",
            text=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )

    def use(self, code: str = "pass", **more: str) -> subprocess.CompletedProcess[str]:
        """Run a little code with the servers' environment in `environment`, then let go."""
        body = f"from config import servers\nwith servers.use(durable=False) as environment: {code}"
        return self.run("-c", body, **more)

    def pids(self) -> dict[str, int]:
        """The pids of the servers that work in this place."""
        found = {}
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                folder = process.cwd()
                if folder == str(self.home / "postgres") and "-D" in process.cmdline():
                    found["postgres"] = process.pid
                if folder == str(self.home) and process.name().startswith("valkey"):
                    found["valkey"] = process.pid
        return found

    @property
    def home(self) -> Path:
        return self.var / "servers"

    def beside(self, name: str) -> Ground:
        """Another place next to this one, owned alike."""
        other = Ground(self.var.with_name(name))
        other.var.mkdir()
        owner = self.var.stat()
        os.chown(other.var, owner.st_uid, owner.st_gid)
        return other

    def close(self) -> None:
        for holder in self.holders:
            holder.kill()
        place = Place(self.var, self.home, self.home, account=None)
        launch_valkey.stop(place)
        launch_postgres.stop(place)
        shutil.rmtree(self.var, ignore_errors=True)


@pytest.fixture
def ground() -> Iterator[Ground]:
    """A fresh place, reachable for the unprivileged user too (pytest's own folders are not)."""
    folder = Path(tempfile.mkdtemp(prefix="gatehouse-test-", dir="/tmp"))
    folder.chmod(0o711)
    place = Ground(folder / "var")
    yield place
    place.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def shared_ground() -> Iterator[Ground]:
    """A place whose data folder is made once for a module's tests."""
    folder = Path(tempfile.mkdtemp(prefix="gatehouse-test-", dir="/tmp"))
    folder.chmod(0o711)
    place = Ground(folder / "var")
    yield place
    place.close()
    shutil.rmtree(folder, ignore_errors=True)


def wait_dead(*pids: int, seconds: float = 30) -> None:
    """Wait until processes have ended, zombies counting as ended."""
    processes = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            processes.append(psutil.Process(pid))
    assert not still_alive(processes, seconds=seconds)


def ordinary_user() -> pwd.struct_passwd | None:
    """Whom to become for what an ordinary user does; None when we are one."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def python_for(folder: Path, user: pwd.struct_passwd | None) -> Path:
    """A Python of exactly our version that `user` can run; a copy in `folder` if there is none."""
    code = f"import sys, venv; sys.exit(sys.version_info[:3] != {tuple(sys.version_info[:3])})"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    base = Path(sys.base_prefix) / "bin" / version
    for path in (base, Path("/usr/bin") / version, Path("/usr/local/bin") / version):
        if run_as(user)([str(path), "-c", code]).returncode == 0:
            return path
    ignored = shutil.ignore_patterns("test", "tests", "site-packages", "__pycache__", "*.a")
    copy = folder / "python"
    if not copy.exists():
        shutil.copytree(
            sys.base_prefix, copy, symlinks=True, ignore=ignored, copy_function=_link_or_copy
        )
    launcher = folder / "python-of-ours"
    if not launcher.exists():  # a shared libpython is looked for where it was built
        launcher.write_text(
            f'#!/bin/sh\nLD_LIBRARY_PATH="{copy}/lib" exec "{copy}/bin/{version}" "$@"\n'
        )
        launcher.chmod(0o755)
    return launcher


def run_as(
    user: pwd.struct_passwd | None,
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """subprocess.run, as that user."""

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        become = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        defaults = {"check": False, "text": True, "capture_output": True, "cwd": "/"}
        try:
            return subprocess.run(command, **(defaults | become | options))  # type: ignore[call-overload]
        except OSError as error:
            return subprocess.CompletedProcess(command, 126, "", str(error))

    return run


def readable_code(folder: Path) -> str:
    """A PYTHONPATH of our own code and packages that every user can read, below `folder`.

    Hard links where the disk allows it, so this costs a second and no space.
    """
    target = folder / "code"
    if not target.exists():
        target.mkdir(mode=0o755)
        shutil.copytree(ROOT / "config", target / "config")
        packages = Path(psycopg.__file__).parent.parent
        shutil.copytree(packages, target / "packages", copy_function=_link_or_copy)
    return f"{target}{os.pathsep}{target / 'packages'}"


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy(source, target)
    return target
