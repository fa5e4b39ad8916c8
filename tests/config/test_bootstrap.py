"""bin/manage in a fresh copy: requirements installed once, by one, whatever is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config.launch_place import ROOT
from tests.config.conftest import Ground, clean_environment

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

ECHO = "import os, sys; print(sys.argv[1:], os.environ['GATEHOUSE_EMBEDDED'], os.getcwd())\n"


class Copy:
    """What the bootstrap needs of the project, with a manage.py that only says it was called."""

    def __init__(self, folder: Path, var: Path) -> None:
        self.folder, self.var = folder, var
        folder.mkdir()
        for name in ("bin", "requirements", "config"):
            shutil.copytree(ROOT / name, folder / name)
        (folder / "manage.py").write_text(ECHO)

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        environment = clean_environment(self.var, **more)
        del environment["PYTHONPATH"]
        return subprocess.Popen(
            [str(self.folder / "bin/manage"), *arguments],
            env=environment,
            cwd="/tmp",
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **more)
        out, said = process.communicate(timeout=500)
        return subprocess.CompletedProcess(arguments, process.returncode, out, said)


@pytest.fixture(scope="module")
def copy(shared_ground: Ground) -> Copy:
    return Copy(shared_ground.var.parent / "copy", shared_ground.var)


def works(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['help', 'x y'] 1 /tmp\n"


def test_a_fresh_copy_installs_what_is_pinned_and_runs_where_one_stands(copy: Copy) -> None:
    done = copy.run("help", "x y")
    works(done)
    assert "Installing the requirements." in done.stderr
    freeze = [str(copy.venv / "bin/uv"), "pip", "freeze", "--python", str(copy.venv / "bin/python")]
    found = subprocess.run(freeze, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [line for line in found if not line.startswith(("pip==", "setuptools=="))]
    pinned = (copy.folder / "requirements/base.txt").read_text()
    assert len(found) > 40
    assert not [line for line in found if f"{line} " not in pinned]


def test_a_second_start_installs_nothing(copy: Copy) -> None:
    started = time.monotonic()
    done = copy.run("help", "x y")
    works(done)
    assert "Installing" not in done.stderr
    assert time.monotonic() - started < 10


def test_changed_requirements_are_installed(copy: Copy) -> None:
    with (copy.folder / "requirements/base.txt").open("a") as file:
        file.write("# changed\n")
    assert "Installing" in copy.run("help", "x y").stderr
    assert "Installing" not in copy.run("help", "x y").stderr


def test_an_install_killed_in_the_middle_starts_over(copy: Copy) -> None:
    shutil.rmtree(copy.venv)
    process = copy.start("help", "x y")
    mark = copy.venv / "gatehouse-installing"
    deadline = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert mark.exists()
    works(copy.run("help", "x y"))
    assert not mark.exists()


def test_a_venv_killed_while_it_was_made_starts_over(copy: Copy) -> None:
    shutil.rmtree(copy.venv)
    (copy.venv / "bin").mkdir(parents=True)
    (copy.venv / "bin/python").symlink_to(sys.executable)
    works(copy.run("help", "x y"))


def test_two_starts_at_once_install_once(copy: Copy) -> None:
    shutil.rmtree(copy.venv)
    processes = [copy.start("help", "x y") for _ in range(2)]
    said = ""
    for process in processes:
        out, errors = process.communicate(timeout=500)
        works(subprocess.CompletedProcess([], process.returncode, out, errors))
        said += errors
    assert said.count("Installing the requirements.") == 1
    assert "Another start is installing the requirements; waiting for it." in said


def test_a_moved_copy_installs_anew(copy: Copy) -> None:
    moved = copy.folder.with_name("moved to")
    copy.folder.rename(moved)
    copy.folder = moved
    works(copy.run("help", "x y"))


def test_without_a_new_enough_python_it_says_what_to_install(copy: Copy) -> None:
    done = copy.run("help", GATEHOUSE_PYTHON="/nonexistent/python3")
    assert done.returncode == 1
    assert "Gatehouse needs Python 3.11 or newer" in done.stderr
    assert "apt-get install python3" in done.stderr


def test_a_python_that_makes_no_environments_is_told(copy: Copy) -> None:
    path = copy.folder / "bin/bootstrap.py"
    code = (
        "import sys, runpy; sys.modules['ensurepip'] = None; "
        f"sys.argv = ['bootstrap', 'base', 'manage', 'help']; runpy.run_path({str(path)!r}, "
        "run_name='__main__')"
    )
    shutil.rmtree(copy.venv)
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_index_out_of_reach_is_told_and_the_next_start_goes_on(copy: Copy) -> None:
    nowhere = "http://127.0.0.1:9/simple"
    shutil.rmtree(copy.venv, ignore_errors=True)
    done = copy.run("help", PIP_INDEX_URL=nowhere, PIP_RETRIES="0", PIP_NO_CACHE_DIR="1")
    assert done.returncode == 1
    assert "Could not install uv" in done.stderr
    assert "Check the connection to your package index" in done.stderr
    assert "Traceback" not in done.stderr
    works(copy.run("help", "x y"))
