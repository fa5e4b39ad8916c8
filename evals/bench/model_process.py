"""The scripted model server in a process of its own, so that its work is not counted as ours."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).with_name("two_turns.yaml")


@contextmanager
def serving() -> Iterator[str]:
    """The base URL of a server that calls stock_search, then answers in about fifty words."""
    command = [sys.executable, "-P", "-m", "evals.model_server", str(SCRIPT)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        found = re.search(r"http://\S+?(?=,)", line)
        if found is None:
            raise RuntimeError("The scripted model server did not start; its reason stands above.")
        yield f"{found[0]}/v1"
    finally:
        process.terminate()
        process.wait(10)
