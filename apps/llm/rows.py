"""Database work of async code: on threads of its own, with no connection left open.

The threads know nothing of the caller's context, so the gateway's rows are written as
``app`` even where a tool's reading scope is on.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from django.db import connections

T = TypeVar("T")
THREADS = 4


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="gateway-rows")


# A forked worker has none of its parent's threads.
os.register_at_fork(after_in_child=_executor.cache_clear)


def start(work: Callable[[], T]) -> asyncio.Future[T]:
    """Begin the work on a thread; a cancel of the waiter does not stop it."""
    return asyncio.get_running_loop().run_in_executor(_executor(), _run, work)


async def finish(work: Callable[[], T]) -> T:
    """Do the work to its end, even when the waiter is canceled meanwhile."""
    return await asyncio.shield(start(work))


def _run(work: Callable[[], T]) -> T:
    try:
        return work()
    finally:
        connections.close_all()
