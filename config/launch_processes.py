"""The processes of the Procfile, as children of bin/run. Knows no Django.

Each child leads a session of its own, so Ctrl-C reaches bin/run alone and a stop reaches a child's
own children. Where the kernel offers it (Linux) a child is told to stop when bin/run dies, however
it dies; elsewhere the next start ends what `processes.json` lists.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from config.launch_place import ROOT, Say, still_alive, write_private

STOP_SECONDS = 10
FIRST_DELAY, LONGEST_DELAY = 1.0, 30.0
STEADY_SECONDS = 60  # a child that lived this long starts over with the shortest delay
LINE_LIMIT = 64 * 1024
PR_SET_PDEATHSIG = 1


def read_procfile(path: Path = ROOT / "Procfile") -> dict[str, str]:
    """Name → shell command, in the file's order."""
    entries: dict[str, str] = {}
    for line in path.read_text().splitlines():
        name, colon, command = line.partition(":")
        if colon and not line.startswith("#"):
            entries[name.strip()] = command.strip()
    return entries


def _die_with_parent(parent: int) -> None:
    """Between fork and exec: ask the kernel for SIGTERM when bin/run dies (Linux)."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


@dataclass
class Child:
    """One process that is kept running until it is told to stop."""

    name: str
    command: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    delay: float = FIRST_DELAY
    due_at: float = 0.0
    rest: bytes = field(default=b"", repr=False)

    def start(self) -> IO[bytes]:
        """Start it; returns its output, which the caller must read."""
        parent = os.getpid()
        # preexec_fn is safe here: bin/run has one thread.
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {self.command}"],
            cwd=ROOT,
            env=self.environment | {"PROCESS_NAME": self.name},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=(lambda: _die_with_parent(parent)) if sys.platform == "linux" else None,
        )
        self.started_at = time.monotonic()
        assert self.process.stdout is not None  # noqa: S101 (asked for above)
        os.set_blocking(self.process.stdout.fileno(), False)
        return self.process.stdout

    def ended(self) -> int | None:
        """Its exit code once it has ended, else None."""
        return self.process.poll() if self.process else None

    def plan_restart(self) -> float:
        """Set when it starts again, later each time it fails soon; returns the delay in seconds."""
        if time.monotonic() - self.started_at > STEADY_SECONDS:
            self.delay = FIRST_DELAY
        delay, self.delay = self.delay, min(self.delay * 2, LONGEST_DELAY)
        self.due_at = time.monotonic() + delay
        self.process = None
        return delay

    def lines(self, data: bytes) -> list[str]:
        """Whole lines of its output, prefixed by its name."""
        *whole, self.rest = (self.rest + data).split(b"\n")
        if len(self.rest) > LINE_LIMIT:
            whole, self.rest = [*whole, self.rest], b""
        texts = (line.decode(errors="replace").rstrip() for line in whole)
        return [f"{self.name:9} {text}" for text in texts if text]

    def signal_group(self, number: int) -> None:
        """Signal it and its own children."""
        if self.process:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


def stop_all(children: Iterable[Child], *, seconds: float = STOP_SECONDS) -> list[str]:
    """SIGTERM, wait, SIGKILL, by process group; returns the names that had to be killed."""
    running = [child for child in children if child.process and child.ended() is None]
    for child in running:
        # The leader alone: it stops its own children in its own order.
        if child.process:
            child.process.terminate()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(child.ended() is None for child in running):
        _drain(running)
        time.sleep(0.02)
    killed = [child.name for child in running if child.ended() is None]
    for child in running:
        child.signal_group(signal.SIGKILL)
        if child.process:
            child.process.wait()
    return killed


def _drain(children: Iterable[Child]) -> None:
    """Read and drop output, or a child that still writes would never end."""
    for child in children:
        if child.process and child.process.stdout:
            with contextlib.suppress(OSError, ValueError):
                child.process.stdout.read()


def record(path: Path, children: Iterable[Child]) -> None:
    """Write down what runs, for a next start that finds it orphaned."""
    entries = []
    for child in children:
        if child.process and child.ended() is None:
            with contextlib.suppress(psutil.Error):
                created = psutil.Process(child.process.pid).create_time()
                entries.append({"name": child.name, "pid": child.process.pid, "created": created})
    write_private(path, json.dumps(entries))


def end_orphans(path: Path, say: Say) -> None:
    """End what an earlier bin/run left running.

    A pid alone proves nothing, it may be another's by now: a process is ended only when it belongs
    to the recorded session, is as old as that, and its environment names our `var`.
    """
    orphans = _orphans(path)
    if orphans:
        names = ", ".join(sorted({process.name() for process in orphans if process.is_running()}))
        say(f"An earlier bin/run was killed; ending what it left running ({names}).")
        for number, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            for process in orphans:
                with contextlib.suppress(psutil.Error):
                    process.send_signal(number)
            orphans = still_alive(orphans, seconds=seconds)
    path.unlink(missing_ok=True)


def _orphans(path: Path) -> list[psutil.Process]:
    try:
        entries: list[dict[str, Any]] = json.loads(path.read_text())
        sessions = {int(entry["pid"]): float(entry["created"]) for entry in entries}
    except (OSError, ValueError, TypeError, KeyError):
        return []
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            created = sessions.get(os.getsid(process.pid))
            if created is None or process.create_time() < created - 1:
                continue
            if process.environ().get("GATEHOUSE_VAR") == str(path.parent):
                found.append(process)
    return found
