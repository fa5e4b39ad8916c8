"""`bin/run`: servers, set-up, every process of the Procfile, and a clean stop. Knows no Django."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import http.client
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO

from config import servers
from config.launch_place import (
    ServersError,
    disk_errors_in_words,
    port_is_free,
    say_on_stderr,
    var_folder,
)
from config.launch_processes import Child, end_orphans, read_procfile, record, stop_all
from config.launch_setup import MANAGE, run_setup, set_up

COPIES = {"agents": 2}
LEFT_OUT = {"release"}  # done by the set-up
NEEDS = {"discord": "DISCORD_TOKEN"}  # started only when its account is named
FIRST_PORT, LAST_PORT = 8000, 8099
READY_SECONDS = 60
HEAL_SECONDS = 2.0


class _ToldToStop(Exception):
    """SIGINT, SIGTERM or SIGHUP arrived."""


def say(text: str) -> None:
    """Tell the person at the terminal."""
    print(text, flush=True)


def choose_port() -> int:
    """`PORT` exactly as given, or the first free one from 8000 on."""
    if named := os.environ.get("PORT"):
        if not named.isdigit() or not 0 < int(named) < 65536:
            raise ServersError(f"PORT must be a number from 1 to 65535; it is {named!r}.")
        if not port_is_free(int(named)):
            raise ServersError(
                f"Port {named} is taken by another program. Stop it, set PORT to another port, "
                "or unset PORT to take the next free one."
            )
        return int(named)
    for port in range(FIRST_PORT, LAST_PORT + 1):
        if port_is_free(port):
            return port
    raise ServersError(f"Ports {FIRST_PORT} to {LAST_PORT} are all taken. Set PORT to a free one.")


def plan(environment: dict[str, str]) -> list[Child]:
    """The children to run."""
    children = []
    for name, command in read_procfile().items():
        if name in LEFT_OUT or (name in NEEDS and not environment.get(NEEDS[name])):
            continue
        copies = COPIES.get(name, 1)
        names = [name] if copies == 1 else [f"{name}-{number + 1}" for number in range(copies)]
        children += [Child(name=each, command=command, environment=environment) for each in names]
    return children


def child_settings(var: Path, port: int) -> dict[str, str]:
    """What children get besides the servers' URLs."""
    settings = {"HOST": "127.0.0.1", "PORT": str(port), "GATEHOUSE_VAR": str(var)}
    if os.geteuid() == 0 and "PYTHONWARNINGS" not in os.environ:
        # Celery warns of root at every start; the README says it once.
        settings["PYTHONWARNINGS"] = "ignore:You're running the worker"
    return settings


class Supervisor:
    """Keeps children running and passes on what they say, in one thread."""

    def __init__(self, children: list[Child], record_path: Path) -> None:
        self.children = children
        self.record_path = record_path
        self.selector = selectors.DefaultSelector()

    def start_due(self) -> None:
        """Start every child that does not run and is due."""
        due = [child for child in self.children if self._is_due(child)]
        for child in due:
            self.selector.register(child.start(), selectors.EVENT_READ, child)
        if due:
            record(self.record_path, self.children)

    @staticmethod
    def _is_due(child: Child) -> bool:
        return child.process is None and child.due_at <= time.monotonic()

    def tick(self, seconds: float) -> None:
        """Pass on output for up to `seconds`, then see to children that died."""
        for key, _ in self.selector.select(seconds):
            self._pass_on(key.fileobj, key.data)  # type: ignore[arg-type]
        for child in self.children:
            code = child.ended()
            if child.process and code is not None:
                self._told_dead(child, code)
        self.start_due()

    def _pass_on(self, output: IO[bytes], child: Child) -> None:
        data = output.read()
        if data:
            for line in child.lines(data):
                say(line)
        elif data == b"":
            self.selector.unregister(output)

    def _told_dead(self, child: Child, code: int) -> None:
        output = child.process.stdout if child.process else None
        if output is not None:
            with contextlib.suppress(KeyError):
                self.selector.unregister(output)
            for line in child.lines((output.read() or b"") + b"\n"):
                say(line)
            output.close()
        child.signal_group(signal.SIGKILL)
        reason = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended ({code})"
        delay = child.plan_restart()
        say(f"{child.name} {reason}; starting it again in {delay:.0f} s.")

    def stop(self) -> None:
        """The web first, so nothing new comes in; then the workers."""
        web = [child for child in self.children if child.name == "web"]
        workers = [child for child in self.children if child.name != "web"]
        for group in (web, workers):
            for name in stop_all(group):
                say(f"{name} did not stop in time and was killed.")
        self.record_path.unlink(missing_ok=True)


def web_answers(port: int) -> bool:
    """Whether the web process serves its health page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/", headers={"Host": f"localhost:{port}"})
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def wait_until_ready(supervisor: Supervisor, port: int) -> None:
    """Return when the web answers; raise in words when it does not in time."""
    deadline = time.monotonic() + READY_SECONDS
    while not web_answers(port):
        if time.monotonic() > deadline:
            raise ServersError(
                f"The web process did not answer on port {port} within {READY_SECONDS} s. "
                "Its own words stand above."
            )
        supervisor.tick(0.05)


def ask_for_link(base: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    """Begin to make a sign-in link; it takes as long as the web process takes to start."""
    command = [*MANAGE, "sign_in_link", "--base-url", base]
    return subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )


def print_address(base: str, asked: subprocess.Popen[str]) -> None:
    """The address, and the sign-in link that works once."""
    link = asked.communicate(timeout=READY_SECONDS)[0].strip()
    say(f"\nGatehouse runs at {base}/")
    if asked.returncode == 0 and link:
        link = link if link.startswith("http") else f"{base}{link}"
        say(f"Sign in, once, with {link}")
    say("Ctrl-C stops it.\n")


@contextlib.contextmanager
def only_one(var: Path) -> Iterator[None]:
    """One bin/run for each `var`: a second one would end the first one's processes."""
    path = var / "run.lock"
    with disk_errors_in_words(path):
        var.mkdir(parents=True, exist_ok=True)
        lock = path.open("a+")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise ServersError(
                f"Gatehouse already runs from {var} ({lock.read().strip() or 'starting'}). Stop "
                "that one, or set GATEHOUSE_VAR to another folder to run a second beside it."
            ) from None
        yield


def _note(var: Path, text: str) -> None:
    with (var / "run.lock").open("w") as file:
        file.write(text)


def _raise_told(number: int, frame: FrameType | None) -> None:
    # From now on a second Ctrl-C must not cut the stop short.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise _ToldToStop


def main(arguments: list[str]) -> int:
    """Run until told to stop. Zero when that was all that happened."""
    parser = argparse.ArgumentParser(prog="bin/run", description=__doc__)
    parser.add_argument("--no-demo", action="store_true", help="leave an empty shop empty")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, _raise_told)
    signal.signal(signal.SIGTERM, _raise_told)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as under nohup
        signal.signal(signal.SIGHUP, _raise_told)
    try:
        _run(demo=not options.no_demo)
    except _ToldToStop:
        say("Stopped.")
    return 0


def _run(*, demo: bool) -> None:
    var = var_folder()
    outside = servers.outside_environment(os.environ)
    if outside is not None:
        with only_one(var):
            outside |= servers.local_settings(var, make_key=True)
            run_setup(outside, demo=demo)
            _serve(var, os.environ | outside, None)
        return
    embedded = servers.Servers(var, say=say)
    with only_one(var), embedded.held():
        set_up(embedded, demo=demo, say=say)
        _serve(var, os.environ | embedded.environment(), embedded)


def _serve(var: Path, environment: dict[str, str], embedded: servers.Servers | None) -> None:
    record_path = var / "processes.json"
    end_orphans(record_path, say)
    port = choose_port()
    environment = environment | child_settings(var, port)
    base = f"http://localhost:{port}"
    _note(var, f"process {os.getpid()}, {base}/")
    children = plan(environment)
    # The web first and alone: a person waits for the page, and only then for an answer.
    supervisor = Supervisor([child for child in children if child.name == "web"], record_path)
    asked = ask_for_link(base, environment)
    try:
        supervisor.start_due()
        wait_until_ready(supervisor, port)
        supervisor.children = children
        supervisor.start_due()
        print_address(base, asked)
        _watch(supervisor, embedded)
    finally:
        say("Stopping.")
        asked.kill()
        supervisor.stop()


def _watch(supervisor: Supervisor, embedded: servers.Servers | None) -> None:
    healed_at = time.monotonic()
    while True:
        supervisor.tick(0.5)
        if embedded and time.monotonic() - healed_at > HEAL_SECONDS:
            _heal(embedded)
            healed_at = time.monotonic()


def _heal(embedded: servers.Servers) -> None:
    """Start a killed server again; when that fails, say so and try again later."""
    try:
        if embedded.heal():
            say("A server had died and was started again.")
    except ServersError as error:
        say_on_stderr(str(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
