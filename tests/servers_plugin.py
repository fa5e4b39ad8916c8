"""Has real servers running before Django's settings are read, whoever starts pytest.

`bin/test` starts them and says so in the environment; a plain `pytest` gets them from here.
"""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Generator

import pytest

from config import servers
from config.launch_place import var_folder
from config.launch_tests import find_chromium

_held = contextlib.ExitStack()


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests() -> Generator[None, None, None]:
    """Start the servers. A wrapper comes before pytest-django, which reads the settings here."""
    if not {"DATABASE_URL", "REDIS_URL"} <= os.environ.keys():
        try:
            environment = _held.enter_context(servers.use(var=var_folder() / "test", durable=False))
        except servers.ServersError as error:
            raise pytest.UsageError(str(error)) from error
        os.environ.update(environment)
        atexit.register(_held.close)
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        # Suites empty Valkey; each of the processes that share it has a numbered part of its own.
        address, _, _number = os.environ["REDIS_URL"].rpartition("/")
        os.environ["REDIS_URL"] = f"{address}/{int(worker.removeprefix('gw')) + 1}"
    if chromium := find_chromium():
        os.environ["GATEHOUSE_CHROMIUM"] = chromium
    yield


def pytest_unconfigure() -> None:
    """Let the servers go; the last user stops them."""
    _held.close()
