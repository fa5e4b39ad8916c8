"""What a worker process shares between its runs: one event loop, one watcher.

Provider calls of all runs are coroutines on the loop; the thread of each run waits. The
watcher asks the rows five times a second for cancels and lost leases of the runs that are
active here, ends their calls at once, renews their leases, and wakes workers for rows that
no message woke.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from celery.signals import worker_ready, worker_shutting_down
from django.db import DatabaseError, connections

from apps.core import clock
from apps.llm import gateway

from . import limits
from .errors import DeadlinePassed, LeaseLost, RunCanceled
from .models import Run

log = logging.getLogger("gatehouse.runtime")
T = TypeVar("T")
TICK = 0.2
RENEW_EVERY = 5.0
SWEEP_EVERY = 5.0


@dataclass
class Handle:
    """A run that is active in this process, and how to interrupt what it does now."""

    run: Run
    deadline: float
    interrupt: Callable[[], object] | None = None
    error: type[Exception] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def stop(self, error: type[Exception]) -> None:
        """End the run's present call, once; the first reason stays.

        A second interrupt would cut short what the first one lets the call settle.
        """
        with self.lock:
            if self.error is None:
                self.error = error
            interrupt, self.interrupt = self.interrupt, None
        if interrupt:
            interrupt()

    def check(self) -> None:
        """Raise why this run must stop, if it must."""
        if self.error is not None:
            raise self.error

    @contextmanager
    def interruptible(self, interrupt: Callable[[], object]) -> Iterator[None]:
        """Let the watcher call ``interrupt`` while the block runs."""
        with self.lock:
            if self.error is not None:
                raise self.error
            self.interrupt = interrupt
        try:
            yield
        finally:
            with self.lock:
                self.interrupt = None

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the process's loop and wait until it has ended.

        Stopped by the watcher, the coroutine still closes and settles what it opened before
        this raises the watcher's reason.
        """
        loop = runtime.loop()
        ended: concurrent.futures.Future[T] = concurrent.futures.Future()
        tasks: list[asyncio.Task[None]] = []

        async def run() -> None:
            try:
                ended.set_result(await coroutine)
            except BaseException as error:  # noqa: BLE001 -- handed to the waiting thread
                ended.set_exception(error)

        def start() -> None:
            tasks.append(loop.create_task(run()))

        def interrupt() -> None:
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())

        # Started first, so that an interrupt always finds its task.
        loop.call_soon_threadsafe(start)
        try:
            with self.interruptible(interrupt):
                return ended.result()
        except asyncio.CancelledError:
            self.check()
            raise
        except BaseException:
            interrupt()
            raise


class Runtime:
    """Starts its threads when first needed, so that a web process has none."""

    def __init__(self) -> None:
        self._active: dict[UUID, Handle] = {}
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watcher: threading.Thread | None = None
        self._renewed = 0.0
        self._sweeper: threading.Thread | None = None
        self._closing = threading.Event()

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="agents-loop", daemon=True
                ).start()
            return self._loop

    @contextmanager
    def holding(self, run: Run) -> Iterator[Handle]:
        """Watch a claimed run while the block executes it."""
        used = (clock.now() - (run.started_at or clock.now())).total_seconds()
        handle = Handle(run, time.monotonic() + limits.WALL_SECONDS - used)
        with self._lock:
            self._active[run.pk] = handle
        self._watch()
        try:
            yield handle
        finally:
            with self._lock:
                if self._active.get(run.pk) is handle:
                    del self._active[run.pk]

    def sweep(self) -> None:
        """From now on also wake workers for rows that no message woke.

        On a thread of its own: a broker that hangs must not keep the watcher from a Stop.
        """
        with self._lock:
            if self._sweeper is None:
                self._sweeper = threading.Thread(
                    target=self._sweep_forever, name="agents-sweeper", daemon=True
                )
                self._sweeper.start()

    def handles(self) -> list[Handle]:
        """The runs that are active in this process."""
        with self._lock:
            return list(self._active.values())

    @property
    def is_closing(self) -> bool:
        return self._closing.is_set()

    def close(self) -> None:
        """Claim and sweep nothing more: the process is about to end."""
        self._closing.set()

    def _watch(self) -> None:
        with self._lock:
            if self._watcher is None or not self._watcher.is_alive():
                self._watcher = threading.Thread(
                    target=self._watch_forever, name="agents-watcher", daemon=True
                )
                self._watcher.start()

    def _watch_forever(self) -> None:
        self._repeat(self._tick, every=TICK)

    def _sweep_forever(self) -> None:
        from . import tasks

        def sweep_once() -> None:
            tasks.sweep()
            connections.close_all()

        self._repeat(sweep_once, every=SWEEP_EVERY)

    def _repeat(self, work: Callable[[], None], *, every: float) -> None:
        """Do it until the process closes; a failure is told, and slows it down."""
        failures = 0
        while not self._closing.wait(every * min(1 + failures * 4, 10)):
            try:
                work()
                failures = 0
            except Exception as error:
                failures += 1
                # A connection that broke is dropped; the next time opens another.
                connections.close_all()
                if not isinstance(error, DatabaseError):
                    log.exception("%s failed and goes on", work.__name__)
                elif failures > 1:
                    log.warning("the database is away: %s", type(error).__name__)

    def _tick(self) -> None:
        with self._lock:
            handles = dict(self._active)
        if handles:
            self._judge(handles)
        if time.monotonic() - self._renewed >= RENEW_EVERY:
            self._renew(handles)
            self._renewed = time.monotonic()
            if not handles:
                connections.close_all()

    def _judge(self, handles: dict[UUID, Handle]) -> None:
        rows = Run.objects.filter(pk__in=handles).values_list(
            "pk", "lease_token", "status", "cancel_requested_at"
        )
        found = {pk: (token, status, cancel) for pk, token, status, cancel in rows}
        for pk, handle in handles.items():
            token, status, cancel = found.get(pk, (None, "", None))
            if token != handle.run.lease_token or status != Run.Status.RUNNING:
                handle.stop(LeaseLost)
            elif cancel is not None:
                handle.stop(RunCanceled)
            elif time.monotonic() > handle.deadline:
                handle.stop(DeadlinePassed)

    def _renew(self, handles: dict[UUID, Handle]) -> None:
        for handle in handles.values():
            Run.objects.renew(handle.run)


runtime = Runtime()


@worker_ready.connect
def _start_sweeping(sender: Any = None, **kwargs: Any) -> None:
    runtime.sweep()
    threading.Thread(target=gateway.warm_up, name="agents-warm-up", daemon=True).start()


@worker_shutting_down.connect
def _hand_back(sender: Any = None, **kwargs: Any) -> None:
    """Let another worker take over at once what this one is about to drop."""
    runtime.close()
    for handle in runtime.handles():
        handle.stop(LeaseLost)
        Run.objects.hand_back(handle.run)
