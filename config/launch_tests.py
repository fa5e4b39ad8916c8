"""`bin/test`: a browser, servers for tests, then every check and every test. Knows no Django."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from config import servers
from config.launch_place import ROOT, ServersError, say_on_stderr, var_folder

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_BROWSERS = (
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)
DOWNLOAD_SECONDS = 240
BROWSER_TRIAL = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "about:blank")
CHECKS: dict[str, list[str]] = {
    "ruff check": ["-m", "ruff", "check", "--quiet", "."],
    "ruff format": ["-m", "ruff", "format", "--quiet", "--check", "."],
    "mypy": ["-m", "mypy"],
    "import-linter": ["-c", "from importlinter.cli import lint_imports_command as c; c()"],
    "migrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
    "pytest": ["-m", "pytest"],
}
# Two processes share the files of the whole suite; each has its own databases.
SIDE_BY_SIDE = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "15"]


def find_chromium() -> str | None:
    """A browser that is here already: named, on the PATH, in its usual place, or Playwright's."""
    if named := os.environ.get("GATEHOUSE_CHROMIUM"):
        return named
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    for path in MAC_BROWSERS:
        if path.exists():
            return str(path)
    return _playwright_chromium()


def _playwright_chromium() -> str | None:
    """The newest Chromium among Playwright's downloads."""
    default = "Library/Caches" if sys.platform == "darwin" else ".cache"
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folder = Path(named) if named else Path.home() / default / "ms-playwright"
    patterns = ("chromium-*/chrome-*/chrome", "chromium-*/chrome-*/*.app/Contents/MacOS/*")
    found = [path for pattern in patterns for path in folder.glob(pattern)]
    return str(max(found)) if found else None


def browser_works(path: str) -> bool:
    """Whether this browser opens a page; one may be there and lack its libraries."""
    try:
        done = subprocess.run(
            [path, *BROWSER_TRIAL],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=90,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and b"<html" in done.stdout


def ensure_chromium() -> str:
    """A browser that works: what is here, else Playwright's download, else Debian's package."""
    for obtain in (None, _download_chromium, _install_chromium):
        if obtain is not None and not obtain():
            continue
        found = find_chromium()
        if found and browser_works(found):
            return found
    raise ServersError(
        "The browser tests need Chromium and none could be had: none is installed, Playwright "
        "could not download its own, and the Debian package could not be installed (that takes "
        "apt-get and root, or sudo without a password). Install Chromium, or name one: "
        "GATEHOUSE_CHROMIUM=/path/to/chromium bin/test."
    )


def _download_chromium() -> bool:
    say_on_stderr("Downloading Chromium for the browser tests.")
    environment = {**os.environ, "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "15000"}
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return _succeeds(command, environment, seconds=DOWNLOAD_SECONDS)


def _install_chromium() -> bool:
    """Install Debian's or Ubuntu's package, where we may."""
    if not shutil.which("apt-get"):
        return False
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sudo and not _succeeds([*sudo, "true"], os.environ, seconds=20):
        return False
    say_on_stderr("That is impossible here; installing the Debian package chromium.")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["install", "-y", "--no-install-recommends", "chromium"]
    _succeeds([*sudo, "apt-get", "-qq", "update"], environment, seconds=300)
    return _succeeds([*sudo, "apt-get", "-qq", *install], environment, seconds=900)


def _succeeds(command: list[str], environment: Mapping[str, str], *, seconds: float) -> bool:
    try:
        done = subprocess.run(
            command,
            check=False,
            env=environment,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def run_checks(names: list[str], arguments: list[str], environment: dict[str, str]) -> list[str]:
    """Run the named checks one after another, each whatever the others say; names what failed."""
    failed: list[str] = []
    for name in names:
        if name == "pytest" and failed:  # said before, so that pytest's own line stands last
            say_on_stderr("Failed so far: " + "; ".join(failed) + ".")
        say_on_stderr(f"-- {name}")
        command = [sys.executable, *CHECKS[name]]
        if name == "pytest":
            command += arguments or SIDE_BY_SIDE
        started = time.monotonic()
        code = subprocess.run(
            command, check=False, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL
        ).returncode
        if code != 0:
            failed.append(f"{name} (exit code {code}, {time.monotonic() - started:.0f} s)")
    return failed


def main(arguments: list[str]) -> int:
    """Everything; with arguments, pytest alone. Non-zero when anything failed."""
    chromium = ensure_chromium()
    names = ["pytest"] if arguments else list(CHECKS)
    with servers.use(var=var_folder() / "test", durable=False) as urls:
        environment = os.environ | urls | {"GATEHOUSE_CHROMIUM": chromium}
        failed = run_checks(names, arguments, environment)
    return 1 if failed else 0
