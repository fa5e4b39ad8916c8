"""Kinds of jobs. A room registers a function that takes a :class:`JobRun` and reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .errors import UnknownKind

if TYPE_CHECKING:
    from .running import JobRun

Work = Callable[["JobRun"], dict[str, Any]]
_kinds: dict[str, Work] = {}


def job_kind(name: str) -> Callable[[Work], Work]:
    """Register ``work(job: JobRun) -> report`` under a name. It must be safe to run twice."""

    def register(work: Work) -> Work:
        if name in _kinds and _kinds[name].__qualname__ != work.__qualname__:
            raise ValueError(f"job kind {name} is registered twice")
        _kinds[name] = work
        return work

    return register


def work_of(kind: str) -> Work:
    """The function of that kind, or :class:`UnknownKind`."""
    try:
        return _kinds[kind]
    except KeyError:
        raise UnknownKind(f"there is no job of kind {kind!r}") from None
