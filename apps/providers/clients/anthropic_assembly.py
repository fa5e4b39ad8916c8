"""One answer put together from the events of the messages wire, within bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from apps.providers.types import TextDelta, ToolDelta, Usage

from .assembly import REFUSED, Assembly, count_of, field_of

_FINISHES: Mapping[str, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": REFUSED,
}
_KINDS = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)


class MessagesAssembly(Assembly):
    """Reads the events of the messages wire; kinds that it does not know are passed over."""

    def __init__(self, *, model: str, provider: str, input_bytes: int, turn: int) -> None:
        super().__init__(model=model, provider=provider, input_bytes=input_bytes, turn=turn)
        self._told: dict[str, int] = {}
        self._inputs: dict[int, Any] = {}
        self._whole = False
        self.stopped = False

    def add(self, event: Any) -> Iterator[TextDelta | ToolDelta]:
        kind = field_of(event, "type")
        if not isinstance(kind, str):
            raise ValueError("an event without a type")
        if kind == "message_start":
            self._count(field_of(field_of(event, "message"), "usage"))
        elif kind == "message_delta":
            self._end(event)
        elif kind == "message_stop":
            self.stopped = True
        elif kind in _KINDS:
            yield from self._add_block(kind, event)

    def _add_block(self, kind: str, event: Any) -> Iterator[TextDelta | ToolDelta]:
        index = field_of(event, "index")
        if not isinstance(index, int):
            raise ValueError("a part of a block without its index")
        if kind == "content_block_start":
            yield from self._begin(index, field_of(event, "content_block"))
        elif kind == "content_block_delta":
            yield from self._go_on(index, field_of(event, "delta"))
        else:
            yield from self._close(index)

    def _begin(self, index: int, block: Any) -> Iterator[TextDelta | ToolDelta]:
        kind = field_of(block, "type")
        if kind == "text":
            yield from self._add_text(field_of(block, "text"))
        elif kind == "tool_use":
            call = self._start(index, field_of(block, "id"))
            self._inputs[index] = field_of(block, "input")
            yield from self._add_input(call, field_of(block, "name"), "")

    def _go_on(self, index: int, delta: Any) -> Iterator[TextDelta | ToolDelta]:
        kind = field_of(delta, "type")
        if not isinstance(kind, str):
            raise ValueError("a delta without a type")
        if kind == "text_delta":
            yield from self._add_text(field_of(delta, "text"))
        elif kind == "thinking_delta":
            self._add_thought(field_of(delta, "thinking"))
        elif kind == "input_json_delta" and (call := self._at.get(index)):
            part = field_of(delta, "partial_json")
            yield from self._add_input(call, None, part if isinstance(part, str) else "")

    def _close(self, index: int) -> Iterator[ToolDelta]:
        """A call whose input never came in parts has it in its first event, or has none."""
        call = self._at.pop(index, None)
        if call and not call.parts:
            given = self._inputs.get(index)
            whole = given if isinstance(given, dict) else {}
            yield from self._add_input(call, None, json.dumps(whole, ensure_ascii=False))

    def _end(self, event: Any) -> None:
        reason = field_of(field_of(event, "delta"), "stop_reason")
        if isinstance(reason, str) and reason:
            self._finish = _FINISHES.get(reason, reason[:40])
        usage = field_of(event, "usage")
        self._count(usage)
        # The count of the first event is of a beginning; this one is of the whole.
        self._whole = count_of(usage, "output_tokens") is not None

    def _count(self, usage: Any) -> None:
        """Take what is told; later figures replace earlier ones, they are running totals."""
        names = (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        )
        found = {name: count_of(usage, name) for name in names}
        found["thinking_tokens"] = count_of(
            field_of(usage, "output_tokens_details"), "thinking_tokens"
        )
        self._told |= {name: count for name, count in found.items() if count is not None}

    def _counted(self) -> Usage | None:
        return self._usage(self._told["output_tokens"]) if self._whole and self._read else None

    def _estimate(self) -> Usage:
        """The input as it was told at the beginning, where it was; the output from bytes."""
        guess = super()._estimate()
        if not self._read:
            return guess
        return replace(self._usage(guess.output_tokens), reasoning_tokens=0, estimated=True)

    @property
    def _read(self) -> bool:
        return "input_tokens" in self._told

    def _usage(self, written: int) -> Usage:
        """What is read from or put into a cache stands beside the input on this wire."""
        told = self._told
        cached = told.get("cache_read_input_tokens", 0)
        kept = told.get("cache_creation_input_tokens", 0)
        return Usage(
            input_tokens=told["input_tokens"] + cached + kept,
            output_tokens=written,
            cached_tokens=cached,
            reasoning_tokens=min(told.get("thinking_tokens", 0), written),
        )
