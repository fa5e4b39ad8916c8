"""Deltas joined on their way to a page: often enough to be alive, seldom enough to be cheap."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Iterator

from apps.providers import limits
from apps.providers.types import Delta, TextDelta, ToolDelta

OnDelta = Callable[[Delta], Awaitable[None] | None]
_TEXT = ""


class Coalescer:
    """Joins deltas by call id; the first goes at once, later ones within a tenth of a second.

    Whoever feeds it also watches :meth:`due_in`, so that text is not held back by a
    provider that falls silent.
    """

    def __init__(self, on_delta: OnDelta) -> None:
        self._on_delta = on_delta
        self._held: dict[str, Delta] = {}
        self._flushed_at = float("-inf")

    def due_in(self) -> float | None:
        """Seconds until what is held must go; None when nothing is held."""
        if not self._held:
            return None
        return max(self._flushed_at + limits.DELTA_SECONDS - time.monotonic(), 0.0)

    async def add(self, delta: Delta) -> None:
        """Take one delta, and pass on what is due."""
        key = _TEXT if isinstance(delta, TextDelta) else delta.call_id
        held = self._held[key] = _joined(self._held.get(key), delta)
        if _size(held) >= limits.DELTA_CHARACTERS or self.due_in() == 0.0:
            await self.flush()

    async def flush(self) -> None:
        """Pass on everything held, in order of arrival, in pieces of bounded size."""
        held, self._held = self._held, {}
        self._flushed_at = time.monotonic()
        for delta in held.values():
            for piece in _pieces(delta):
                told = self._on_delta(piece)
                if inspect.isawaitable(told):
                    await told


def _joined(held: Delta | None, delta: Delta) -> Delta:
    if isinstance(held, TextDelta) and isinstance(delta, TextDelta):
        return TextDelta(held.text + delta.text)
    if isinstance(held, ToolDelta) and isinstance(delta, ToolDelta):
        return ToolDelta(delta.call_id, delta.name, held.characters + delta.characters)
    return delta


def _size(delta: Delta) -> int:
    return len(delta.text) if isinstance(delta, TextDelta) else delta.characters


def _pieces(delta: Delta) -> Iterator[Delta]:
    most = limits.DELTA_CHARACTERS
    for start in range(0, max(_size(delta), 1), most):
        if isinstance(delta, TextDelta):
            yield TextDelta(delta.text[start : start + most])
        else:
            left = delta.characters - start
            yield ToolDelta(delta.call_id, delta.name, min(left, most))
