"""The most memory that a process held, without what its parent held.

Linux counts into a child's ``ru_maxrss`` the memory of the process that it was forked from,
so a small command started by a large one would look large. ``VmHWM`` begins anew at exec.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

EVERY = 0.02


class Watched:
    """Runs a command to its end: ``out`` is its standard output, ``megabytes`` its peak."""

    def __init__(self, command: list[str], **options: Any) -> None:
        self.megabytes = 0.0
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
        assert process.stdout is not None
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(process.pid, ended), daemon=True)
        watcher.start()
        self.out = process.stdout.read()
        ended.set()
        watcher.join()
        _, self.status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(self.status)
        self.megabytes = self.megabytes or _counted(usage)

    def _watch(self, pid: int, ended: threading.Event) -> None:
        status = Path(f"/proc/{pid}/status")
        while not ended.wait(EVERY):
            try:
                found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
            except OSError:
                return
            if found:
                self.megabytes = max(self.megabytes, int(found[1]) / 1024)


def _counted(usage: resource.struct_rusage) -> float:
    """Where there is no /proc. Linux counts kilobytes, macOS bytes."""
    return usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
