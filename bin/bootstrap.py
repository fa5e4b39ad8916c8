"""Make .venv hold exactly the pinned, hashed requirements; then run config.launch in it.

    bootstrap.py base|dev COMMAND [ARGUMENTS]

Uses the standard library alone. Installs only when the requirements changed, under a lock. A run
that was killed half way leaves a mark, and the next one starts from an empty .venv.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
STAMP = VENV / "gatehouse-stamp"
MARK = VENV / "gatehouse-installing"
LOCK = ROOT / ".venv.lock"
LEVELS = {"base": ["base"], "dev": ["base", "dev"]}


class SetupError(Exception):
    """The requirements cannot be installed; the text names the cause and the next step."""


def fingerprint(level: str) -> str:
    """What an installation depends on: the requirements, where it lies, and its Python."""
    digest = hashlib.sha256(f"{ROOT}\n{level}\n".encode())
    for name in LEVELS[level]:
        digest.update((ROOT / f"requirements/{name}.txt").read_bytes())
    return digest.hexdigest()


def is_current(level: str) -> bool:
    """Whether .venv already holds this level; dev holds base too."""
    if MARK.exists() or not PYTHON.exists() or not STAMP.exists():
        return False
    kept = STAMP.read_text().strip()
    return kept in {fingerprint(level), fingerprint("dev")}


def ensure(level: str) -> None:
    """Install what `level` needs unless it stands already."""
    if is_current(level):
        return
    with LOCK.open("a") as lock:
        wait_for(lock.fileno())
        if not is_current(level):
            install("dev" if held_dev() else level)


def wait_for(lock: int) -> None:
    """Take the lock; say so when another start holds it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("Another start is installing the requirements; waiting for it.")
        fcntl.flock(lock, fcntl.LOCK_EX)


def held_dev() -> bool:
    """Whether .venv was last filled for tests; an update keeps it that way."""
    return any(VENV.glob("lib/python*/site-packages/pytest_django"))


def install(level: str) -> None:
    """Fill .venv. The mark stands while it is neither empty nor whole."""
    started = time.monotonic()
    if MARK.exists() or not works():
        shutil.rmtree(VENV, ignore_errors=True)
        make_venv()
    say("Installing the requirements.")
    MARK.touch()
    STAMP.unlink(missing_ok=True)
    if not (VENV / "bin/uv").exists():
        install_uv()
    files = [str(ROOT / f"requirements/{name}.txt") for name in LEVELS[level]]
    # Compiled here once: five processes start from these files, and some machines compile none.
    uv = [str(VENV / "bin/uv"), "pip", "sync", "--quiet", "--require-hashes", "--compile-bytecode"]
    run([*uv, "--python", str(PYTHON), *files], what="install the requirements")
    site_packages().joinpath("gatehouse.pth").write_text(f"{ROOT}\n")
    STAMP.write_text(fingerprint(level))
    MARK.unlink()
    say(f"Installed in {time.monotonic() - started:.0f} s.")


def works() -> bool:
    """Whether .venv's Python still runs, is new enough and lies where it was made."""
    config = VENV / "pyvenv.cfg"
    if not PYTHON.exists() or not config.exists():
        return False
    code = "import sys, pip; sys.exit(sys.version_info < (3, 11))"
    done = subprocess.run([PYTHON, "-I", "-c", code], check=False, capture_output=True)
    return done.returncode == 0 and site_packages().joinpath("gatehouse.pth").exists()


def site_packages() -> Path:
    """The folder of .venv that packages are installed to."""
    return next(VENV.glob("lib/python*/site-packages"))


def make_venv() -> None:
    """Make .venv with this Python."""
    if importlib.util.find_spec("ensurepip") is None:
        raise SetupError(
            "This Python cannot make virtual environments: the module ensurepip is missing. "
            "Install it (Debian or Ubuntu: apt-get install python3-venv), then start again."
        )
    run([sys.executable, "-I", "-m", "venv", str(VENV)], what="make .venv")
    site_packages().joinpath("gatehouse.pth").write_text(f"{ROOT}\n")


def install_uv() -> None:
    """Install uv itself with pip, at its pinned version and hash."""
    block, inside = [], False
    for line in (ROOT / "requirements/base.txt").read_text().splitlines():
        inside = line.startswith("uv==") or (inside and line.startswith(" "))
        if inside:
            block.append(line)
    pinned = VENV / "gatehouse-uv.txt"
    pinned.write_text("\n".join(block) + "\n")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--require-hashes", "-r", str(pinned)], what="install uv")


def run(command: list[str], *, what: str) -> None:
    """Run one step; its own words are shown only when it fails."""
    done = subprocess.run(
        command,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
    )
    if done.returncode != 0:
        tail = "\n  ".join(done.stdout.strip().splitlines()[-8:])
        raise SetupError(f"Could not {what}:\n  {tail}\n{next_step(done.stdout)}")


def environment() -> dict[str, str]:
    """Our environment, without a Python of its own for uv, and with pip's index for uv too."""
    variables = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "PIP_NO_INPUT": "1"}
    variables.pop("VIRTUAL_ENV", None)
    named = {"UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_CONFIG_FILE"} & variables.keys()
    if not named and PYTHON.exists() and (index := pip_setting("index-url")):
        variables["UV_DEFAULT_INDEX"] = index
    if "SSL_CERT_FILE" not in variables and PYTHON.exists() and (file := pip_setting("cert")):
        variables["SSL_CERT_FILE"] = file
    return variables


def pip_setting(name: str) -> str:
    """What this machine's pip is set to, by file or variable; empty when it is not set."""
    if given := os.environ.get("PIP_" + name.upper().replace("-", "_")):
        return given
    command = [str(PYTHON), "-m", "pip", "config", "get", f"global.{name}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def next_step(output: str) -> str:
    """What to do about a failed step, from its words."""
    if "No space left" in output:
        return f"The disk that holds {ROOT} is full: free some space, then start again."
    if "Read-only" in output or "Permission denied" in output:
        return f"Make {ROOT} writable for this user, then start again."
    if "hash" in output.lower() and "mismatch" in output.lower():
        return "A package is not the one that was pinned: do not go on; check your package index."
    return "Check the connection to your package index, then start again; nothing is lost."


def say(text: str) -> None:
    """Tell a person on stderr; stdout belongs to the command."""
    print(text, file=sys.stderr, flush=True)


def main(level: str, arguments: list[str]) -> NoReturn:
    """Ensure the requirements, then become config.launch."""
    try:
        ensure(level)
    except SetupError as error:
        say(str(error))
        sys.exit(1)
    except OSError as error:
        say(
            f"Cannot write {error.filename or ROOT}: {error.strerror}. "
            "Free space or make it writable, then start again."
        )
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    os.execv(PYTHON, [str(PYTHON), "-P", "-m", "config.launch", *arguments])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
