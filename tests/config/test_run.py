"""bin/run and bin/manage as whole processes: started, used, killed, started again."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from config.launch_place import ROOT
from config.servers import OUTSIDE
from tests.config.conftest import Ground, clean_environment, ordinary_user, run_as, wait_dead

pytestmark = [pytest.mark.processes, pytest.mark.slow, pytest.mark.timeout(600)]

READY_SECONDS = 240  # the first start of a copy installs its requirements and loads the demo shop
NAMES = {"web", "agents-1", "agents-2", "ingest"}


@dataclass
class Started:
    """One bin/run, its output read as it comes."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(iter(self.process.stdout.readline, ""))

    @property
    def said(self) -> str:
        return "".join(self.lines)

    def wait_for(self, text: str, *, seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.said:
            assert self.process.poll() is None, f"it ended: {self.said}"
            assert time.monotonic() < deadline, f"{text!r} not said: {self.said}"
            time.sleep(0.05)

    @property
    def port(self) -> int:
        found = re.search(r"Gatehouse runs at http://localhost:(\d+)/", self.said)
        assert found, self.said
        return int(found[1])

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@dataclass
class House:
    """A place, the project that runs in it, and the account that runs it."""

    ground: Ground
    root: Path
    user: pwd.struct_passwd | None
    more: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        environment = clean_environment(self.ground.var, **self.more)
        del environment["PYTHONPATH"]
        return environment

    def start(self, *, ready: bool = True) -> Started:
        become = {"user": self.user.pw_uid, "group": self.user.pw_gid} if self.user else {}
        started = Started(
            subprocess.Popen(  # type: ignore[call-overload]
                [str(self.root / "bin/run")],
                env=self.environment,
                cwd="/",
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **become,
            )
        )
        if ready:
            started.wait_for("Ctrl-C stops it.")
        return started

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.root / "bin/manage"), *arguments]
        done: subprocess.CompletedProcess[str] = run_as(self.user)(
            command, env=self.environment, timeout=300
        )
        return done

    def hold(self, code: str) -> subprocess.Popen[str]:
        """A `bin/manage shell` that holds the servers until it is given a line."""
        become = {"user": self.user.pw_uid, "group": self.user.pw_gid} if self.user else {}
        pipe = subprocess.PIPE
        holder: subprocess.Popen[str] = subprocess.Popen(  # type: ignore[call-overload]
            [str(self.root / "bin/manage"), "shell", "-v", "0", "-c", code],
            env=self.environment,
            cwd="/",
            text=True,
            stdin=pipe,
            stdout=pipe,
            **become,
        )
        return holder

    def processes(self) -> list[psutil.Process]:
        """Everything that runs from this place, servers included."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE and (
                    process.environ().get("GATEHOUSE_VAR") == str(self.ground.var)
                    or process.cwd().startswith(str(self.ground.var))
                ):
                    found.append(process)
        return found

    def children(self) -> dict[str, int]:
        """Name → pid of what the running bin/run started."""
        entries = json.loads((self.ground.var / "processes.json").read_text())
        return {entry["name"]: entry["pid"] for entry in entries}

    def assert_nothing_runs(self, seconds: float = 10) -> None:
        wait_dead(*(process.pid for process in self.processes()), seconds=seconds)

    def close(self) -> None:
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                process.kill()
        wait_dead(*(process.pid for process in self.processes()))


@pytest.fixture(scope="module", params=["here", "copy of an ordinary user"])
def house(request: pytest.FixtureRequest, shared_ground: Ground) -> Iterator[House]:
    """This project as whoever runs the tests; and a fresh copy as somebody ordinary."""
    folder = shared_ground.var.parent
    ground = Ground(folder / request.param.split()[0] / "var")
    ground.var.parent.mkdir()
    user = ordinary_user()
    if request.param == "here":
        house = House(ground, ROOT, None)
    else:
        house = House(ground, copied(ground.var.parent, user), user, more_for(ground.var.parent))
    yield house
    house.close()
    ground.close()


def copied(folder: Path, user: pwd.struct_passwd | None) -> Path:
    """A copy of the project, without .venv and var, that belongs to `user`."""
    kept = ("apps", "bin", "config", "evals", "requirements", "static", "templates")
    target = folder / "project"
    target.mkdir()
    for name in (*kept, "manage.py", "Procfile"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name)
        elif source.exists():
            shutil.copy(source, target / name)
    if user:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid)
    return target


def more_for(folder: Path) -> dict[str, str]:
    """A home of its own, and a Python that it can run."""
    found = [
        path
        for path in map(str, (Path("/usr/bin/python3"), Path("/usr/local/bin/python3")))
        if Path(path).exists()
    ]
    return {"HOME": str(folder), "GATEHOUSE_PYTHON": " ".join(["python3", *found])}


def get(port: int, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"Host": f"localhost:{port}"})
    response = connection.getresponse()
    response.read()
    return response


def test_a_first_start_leads_to_a_page_and_a_link_that_works_once(house: House) -> None:
    started = house.start()
    assert get(started.port, "/health/").status == 200
    link = re.search(rf"Sign in, once, with http://localhost:{started.port}(/\S+)", started.said)
    assert link, started.said
    first = get(started.port, link[1])
    assert first.status in {200, 302}
    assert house.children().keys() == NAMES
    memory = json.loads((house.ground.var / "servers.json").read_text())
    passwords = [value for name, value in memory.items() if name.endswith("_password")]
    assert not [password for password in passwords if password in started.said]
    assert started.stop() == 0
    assert "Stopped." in started.said
    house.assert_nothing_runs()


def test_a_second_start_is_quick(house: House) -> None:
    begun = time.monotonic()
    started = house.start()
    seconds = time.monotonic() - begun
    started.stop(signal.SIGTERM)
    print(f"second start: {seconds:.1f} s")
    # Ten on a quiet machine; the margin is for other tests beside this one.
    assert seconds < 20, started.said
    house.assert_nothing_runs()


def test_a_second_run_in_the_same_place_is_refused_and_a_command_shares_the_servers(
    house: House,
) -> None:
    started = house.start()
    servers = house.ground.pids()
    other = house.start(ready=False)
    assert other.process.wait(timeout=30) == 1
    time.sleep(0.2)
    assert f"Gatehouse already runs from {house.ground.var}" in other.said
    done = house.manage("shell", "-v", "0", "-c", "print('only this')")
    assert (done.returncode, done.stdout) == (0, "only this\n"), done.stderr
    assert house.ground.pids() == servers
    assert get(started.port, "/health/").status == 200
    started.stop()
    house.assert_nothing_runs()


def test_a_killed_run_takes_its_processes_along_and_the_next_start_is_clean(house: House) -> None:
    started = house.start()
    children = house.children()
    started.process.kill()
    started.process.wait()
    if os.uname().sysname == "Linux":  # elsewhere the next start ends them
        wait_dead(*children.values(), seconds=20)
    again = house.start()
    assert house.children().keys() == NAMES
    assert get(again.port, "/health/").status == 200
    again.stop()
    house.assert_nothing_runs()


def test_orphans_that_do_not_listen_are_ended_by_the_next_start(house: House) -> None:
    started = house.start()
    children = house.children()
    for pid in children.values():
        os.kill(pid, signal.SIGSTOP)
    started.process.kill()
    started.process.wait()
    again = house.start()
    assert "An earlier bin/run was killed; ending what it left running" in again.said
    wait_dead(*children.values())
    again.stop()
    house.assert_nothing_runs()


def test_a_killed_worker_and_killed_servers_come_back_while_it_runs(house: House) -> None:
    started = house.start()
    before, servers = house.children(), house.ground.pids()
    os.kill(before["agents-1"], signal.SIGKILL)
    started.wait_for("agents-1 was killed by SIGKILL; starting it again in 1 s.", seconds=30)
    for pid in servers.values():
        os.kill(pid, signal.SIGKILL)
    started.wait_for("A server had died and was started again.", seconds=60)
    assert get(started.port, "/health/").status == 200
    after = house.children()
    assert after.keys() == NAMES
    assert after["agents-1"] != before["agents-1"]
    assert started.stop() == 0
    house.assert_nothing_runs()


def test_a_start_killed_during_its_set_up_is_made_good_by_the_next(house: House) -> None:
    house.ground.close()
    killed = house.start(ready=False)
    killed.wait_for("Making a new PostgreSQL data folder.")
    time.sleep(2)
    killed.process.kill()
    killed.process.wait()
    done = house.manage("shell", "-v", "0", "-c", "print(1)")
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    house.assert_nothing_runs()


def test_a_command_on_a_fresh_place_sets_it_up_without_the_demo_shop(house: House) -> None:
    house.ground.close()
    count = "from apps.shop.models import StockItem as S; print(S.objects.count())"
    done = house.manage("shell", "-v", "0", "-c", count)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    house.assert_nothing_runs()


def test_outside_servers_are_used_and_left_running(house: House) -> None:
    assert house.manage("shell", "-v", "0", "-c", "pass").returncode == 0
    code = "import json, os; print(json.dumps(dict(os.environ)), flush=True); input()"
    holder = house.hold(code)
    assert holder.stdout is not None
    inside = json.loads(holder.stdout.readline())
    servers = house.ground.pids()
    other = House(house.ground.beside("other"), house.root, house.user, dict(house.more))
    other.more |= {name: inside[name] for name in OUTSIDE}
    started = other.start()
    assert get(started.port, "/health/").status == 200
    assert not (other.ground.var / "servers.json").exists()
    assert started.stop() == 0
    assert other.ground.pids() == {}
    assert house.ground.pids() == servers
    del other.more["READER_DATABASE_URL"]
    refused = other.manage("check")
    assert refused.returncode == 1
    assert "READER_DATABASE_URL (the login of tools that read)" in refused.stderr
    holder.communicate("\n", timeout=60)
    house.assert_nothing_runs()


def test_a_command_keeps_its_exit_code(house: House) -> None:
    assert house.manage("shell", "-v", "0", "-c", "raise SystemExit(5)").returncode == 5


def test_a_taken_port_is_told(house: House) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        house.more = house.more | {"PORT": str(port)}
        started = house.start(ready=False)
        assert started.process.wait(timeout=200) == 1
    del house.more["PORT"]
    time.sleep(0.2)
    assert f"Port {port} is taken by another program." in started.said
    house.assert_nothing_runs()
