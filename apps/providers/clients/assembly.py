"""One answer put together from the chunks of its stream, within bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.providers import limits
from apps.providers.errors import ProviderError
from apps.providers.types import Completion, TextDelta, ToolCall, ToolDelta, Usage

_ID_CHARACTERS = 200


@dataclass
class _Call:
    """A tool call while it is being written. ``given_id`` is the provider's own, if any."""

    id: str
    given_id: str
    name: str = ""
    parts: list[str] = field(default_factory=list)
    size: int = 0


class Assembly:
    """Takes chunks, gives deltas, and in the end the completion.

    Chunks are the SDK's objects, built without validation: any field may be anything.
    """

    def __init__(self, *, model: str, provider: str, input_bytes: int, turn: int) -> None:
        self._model = model
        self._provider = provider
        self._input_bytes = input_bytes
        self._turn = turn
        self._text: list[str] = []
        self._held = ""
        self._answer_bytes = 0
        self._thought_bytes = 0
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._finish = ""
        self._usage: Usage | None = None

    @property
    def empty(self) -> bool:
        """Nothing of an answer came: no text, no call and no reason to end."""
        return not (self._text or self._calls or self._finish)

    def add(self, chunk: Any) -> Iterator[TextDelta | ToolDelta]:
        """Take one chunk. ValueError when it is none, ProviderError when over a bound."""
        choices = getattr(chunk, "choices", None)
        if not isinstance(choices, list):
            raise ValueError("an event without a list of choices")
        self._usage = _usage(getattr(chunk, "usage", None)) or self._usage
        for choice in choices[:1]:
            yield from self._add_delta(getattr(choice, "delta", None))
            finish = getattr(choice, "finish_reason", None)
            if isinstance(finish, str) and finish:
                self._finish = finish

    def _add_delta(self, delta: Any) -> Iterator[TextDelta | ToolDelta]:
        for name in ("reasoning", "reasoning_content"):
            thought = getattr(delta, name, None)
            if isinstance(thought, str):
                self._thought_bytes += _size(thought)
        self._bound(self._answer_bytes + self._thought_bytes, limits.ANSWER_BYTES, "an answer")
        content = getattr(delta, "content", None)
        if isinstance(content, str) and content:
            yield from self._add_text(content)
        for part in getattr(delta, "tool_calls", None) or []:
            yield from self._add_call(part)

    def _add_text(self, content: str) -> Iterator[TextDelta]:
        self._answer_bytes += _size(content)
        self._bound(self._answer_bytes, limits.ANSWER_BYTES, "an answer")
        text = self._held + content
        # Half of a surrogate pair waits for its other half.
        cut = len(text) - 1 if "\ud800" <= text[-1] <= "\udbff" else len(text)
        self._held = text[cut:]
        if clean := _clean(text[:cut]):
            self._text.append(clean)
            yield TextDelta(clean)

    def _add_call(self, part: Any) -> Iterator[ToolDelta]:
        call = self._call_of(part)
        function = getattr(part, "function", None)
        name = getattr(function, "name", None)
        if isinstance(name, str) and name != call.name and not call.parts:
            call.name = (call.name + name)[:_ID_CHARACTERS]
        arguments = _as_text(getattr(function, "arguments", None))
        call.size += _size(arguments)
        self._bound(call.size, limits.TOOL_INPUT_BYTES, "the input of a tool call")
        if arguments:
            call.parts.append(arguments)
        yield ToolDelta(call.id, call.name, len(arguments))

    def _call_of(self, part: Any) -> _Call:
        """The call that a part belongs to: by index, by id where indexes repeat, else a new one."""
        given = getattr(part, "id", None)
        given_id = given[:_ID_CHARACTERS] if isinstance(given, str) else ""
        index = getattr(part, "index", None)
        if not isinstance(index, int) or isinstance(index, bool):
            index = len(self._calls) if given_id or not self._calls else len(self._calls) - 1
        known = self._at.get(index)
        if known and (not given_id or not known.given_id or known.given_id == given_id):
            return known
        return self._start(index, given_id)

    def _start(self, index: int, given_id: str) -> _Call:
        self._bound(len(self._calls) + 1, limits.TOOL_CALLS, "the number of tool calls", "")
        taken = {call.id for call in self._calls}
        made_up = f"call_{self._turn}_{len(self._calls)}"
        usable = given_id if given_id and given_id not in taken else made_up
        call = _Call(id=usable, given_id=given_id)
        self._calls.append(call)
        self._at[index] = call
        return call

    def _bound(self, size: int, bound: int, what: str, unit: str = " bytes") -> None:
        if size > bound:
            raise ProviderError(
                "too_large",
                f"The model's answer was cut: {what} went over {bound:,}{unit}. Ask for less.",
            )

    def completion(self) -> Completion:
        """The whole answer. Text and input are the joined deltas, bounded once more."""
        calls = tuple(self._finished(call) for call in self._calls)
        if self._held:
            self._text.append(_clean(self._held))
        default = "tool_calls" if calls else "stop"
        return Completion(
            text="".join(self._text),
            tool_calls=calls,
            finish_reason=self._finish or default,
            usage=self.usage(),
            model=self._model,
            provider=self._provider,
        )

    def _finished(self, call: _Call) -> ToolCall:
        arguments = _clean("".join(call.parts))
        self._bound(_size(arguments), limits.TOOL_INPUT_BYTES, "the input of a tool call")
        return ToolCall(id=call.id, name=_clean(call.name), arguments=arguments)

    def usage(self) -> Usage:
        """What the provider counted, zero included; an estimate from bytes if it did not."""
        if self._usage:
            return self._usage
        written = self._answer_bytes + self._thought_bytes + sum(c.size for c in self._calls)
        return estimate(self._input_bytes, written)


def estimate(input_bytes: int, output_bytes: int) -> Usage:
    """Tokens derived from bytes, rounded up, and marked as such."""
    per = limits.BYTES_PER_TOKEN
    return Usage(-(-input_bytes // per), -(-output_bytes // per), estimated=True)


def _usage(told: Any) -> Usage | None:
    read, written = (_count(told, name) for name in ("prompt_tokens", "completion_tokens"))
    if read is None or written is None:
        return None
    cached = _count(getattr(told, "prompt_tokens_details", None), "cached_tokens") or 0
    thought = _count(getattr(told, "completion_tokens_details", None), "reasoning_tokens") or 0
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=min(cached, read),
        reasoning_tokens=min(thought, written),
        cost=_cost(getattr(told, "cost", None)),
    )


def _field(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, dict) else getattr(told, name, None)


def _count(told: Any, name: str) -> int | None:
    value = _field(told, name)
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if good else None


def _cost(value: Any) -> Decimal | None:
    """The provider's own figure in USD, when it is an amount."""
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    try:
        cost = Decimal(str(value))
    except InvalidOperation:
        return None
    return cost if cost.is_finite() and 0 <= cost < 100_000 else None


def _as_text(arguments: Any) -> str:
    """Arguments as text; some servers send the object itself."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False, default=str)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _clean(text: str) -> str:
    """Text that UTF-8 and PostgreSQL can hold: pairs joined, lone halves and NUL replaced."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined.replace("\x00", "\ufffd")
