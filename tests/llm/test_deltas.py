"""Joining deltas: by call id, within a size and a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from apps.llm.deltas import Coalescer
from apps.providers import limits
from apps.providers.types import Delta, TextDelta, ToolDelta


def passed_on(deltas: Sequence[Delta], *, flush: bool = True) -> list[Delta]:
    """What comes of these deltas when they all arrive in one moment."""

    async def feed() -> list[Delta]:
        came: list[Delta] = []
        coalescer = Coalescer(came.append)
        for delta in deltas:
            await coalescer.add(delta)
        if flush:
            await coalescer.flush()
        return came

    return asyncio.run(feed())


def test_first_goes_at_once_and_the_rest_is_held() -> None:
    deltas = [TextDelta("a"), TextDelta("b"), TextDelta("c")]
    assert passed_on(deltas, flush=False) == [TextDelta("a")]
    assert passed_on(deltas) == [TextDelta("a"), TextDelta("bc")]


def test_calls_are_joined_each_for_itself_in_order_of_arrival() -> None:
    deltas: list[Delta] = [TextDelta("a")]
    for _ in range(3):
        deltas += [ToolDelta("1", "search", 5), TextDelta("t"), ToolDelta("2", "sum", 7)]
    assert passed_on(deltas)[1:] == [
        ToolDelta("1", "search", 15),
        TextDelta("ttt"),
        ToolDelta("2", "sum", 21),
    ]


@pytest.mark.parametrize("size", [limits.DELTA_CHARACTERS, 3 * limits.DELTA_CHARACTERS + 1])
def test_much_text_goes_at_once_in_pieces(size: int) -> None:
    came = passed_on([TextDelta("a"), TextDelta("é" * size)], flush=False)[1:]
    texts = [delta.text for delta in came if isinstance(delta, TextDelta)]
    assert "".join(texts) == "é" * size
    assert max(map(len, texts)) == limits.DELTA_CHARACTERS


def test_much_input_of_a_call_goes_in_pieces_that_add_up() -> None:
    size = 2 * limits.DELTA_CHARACTERS + 5
    came = passed_on([TextDelta("a"), ToolDelta("1", "search", size)], flush=False)[1:]
    counts = [delta.characters for delta in came if isinstance(delta, ToolDelta)]
    assert counts == [limits.DELTA_CHARACTERS, limits.DELTA_CHARACTERS, 5]


def test_due_time_counts_down_only_while_something_is_held() -> None:
    async def watch() -> None:
        coalescer = Coalescer(lambda delta: None)
        assert coalescer.due_in() is None
        await coalescer.add(TextDelta("a"))
        assert coalescer.due_in() is None
        await coalescer.add(TextDelta("b"))
        due = coalescer.due_in()
        assert due is not None
        assert 0 < due <= limits.DELTA_SECONDS

    asyncio.run(watch())
