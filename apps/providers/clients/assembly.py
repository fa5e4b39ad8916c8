"""One answer put together from the chunks of its stream, within bounds."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from apps.providers import limits
from apps.providers.errors import ProviderError
from apps.providers.types import Completion, TextDelta, ToolCall, ToolDelta, Usage

_ID_CHARACTERS = 200
REFUSED = "content_filter"


@dataclass
class _Call:
    """A tool call while it is being written. ``given_id`` is the provider's own, if any."""

    id: str
    given_id: str
    name: str = ""
    parts: list[str] = field(default_factory=list)
    size: int = 0


class Assembly(ABC):
    """Takes what a wire says, gives deltas, and in the end the completion.

    The part that both wires share; ``ChatAssembly`` and ``MessagesAssembly`` read the
    events. Those are an SDK's objects, built without validation: any field may be anything.
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

    @property
    def empty(self) -> bool:
        """Nothing of an answer came: no text, no call and no reason to end."""
        return not (self._text or self._calls or self._finish)

    @abstractmethod
    def add(self, event: Any) -> Iterator[TextDelta | ToolDelta]:
        """Take one event. ValueError when it is none, ProviderError when over a bound."""

    def _add_thought(self, thought: Any) -> None:
        if isinstance(thought, str):
            self._thought_bytes += _size(thought)
        self._bound(self._answer_bytes + self._thought_bytes, limits.ANSWER_BYTES, "an answer")

    def _add_text(self, content: Any) -> Iterator[TextDelta]:
        if not isinstance(content, str) or not content:
            return
        self._answer_bytes += _size(content)
        self._bound(self._answer_bytes, limits.ANSWER_BYTES, "an answer")
        text = self._held + content
        # Half of a surrogate pair waits for its other half.
        cut = len(text) - 1 if "\ud800" <= text[-1] <= "\udbff" else len(text)
        self._held = text[cut:]
        if clean := _clean(text[:cut]):
            self._text.append(clean)
            yield TextDelta(clean)

    def _add_input(self, call: _Call, name: Any, arguments: str) -> Iterator[ToolDelta]:
        """More of a call: its name while nothing of its input is there, or more input."""
        if isinstance(name, str) and name != call.name and not call.parts:
            call.name = (call.name + name)[:_ID_CHARACTERS]
        call.size += _size(arguments)
        self._bound(call.size, limits.TOOL_INPUT_BYTES, "the input of a tool call")
        if arguments:
            call.parts.append(arguments)
        yield ToolDelta(call.id, call.name, len(arguments))

    def _start(self, index: int, given: Any) -> _Call:
        self._bound(len(self._calls) + 1, limits.TOOL_CALLS, "the number of tool calls", "")
        given_id = given[:_ID_CHARACTERS] if isinstance(given, str) else ""
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
        """The whole answer. Text and input are the joined deltas, bounded once more.

        A refusal in the provider's own words is an answer; one without any is an error.
        """
        calls = tuple(self._finished(call) for call in self._calls)
        if self._held:
            self._text.append(_clean(self._held))
        if self._finish == REFUSED and not (calls or self._text):
            raise ProviderError(
                "invalid_response",
                "The model's provider refused to answer this. Ask in other words.",
            )
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
        return self._counted() or self._estimate()

    @abstractmethod
    def _counted(self) -> Usage | None:
        """The provider's own count, once there is a whole one."""

    def _estimate(self) -> Usage:
        written = self._answer_bytes + self._thought_bytes + sum(c.size for c in self._calls)
        return estimate(self._input_bytes, written)


class ChatAssembly(Assembly):
    """Reads the chunks of the chat-completions wire."""

    def __init__(self, *, model: str, provider: str, input_bytes: int, turn: int) -> None:
        super().__init__(model=model, provider=provider, input_bytes=input_bytes, turn=turn)
        self._usage: Usage | None = None

    def add(self, event: Any) -> Iterator[TextDelta | ToolDelta]:
        choices = getattr(event, "choices", None)
        if not isinstance(choices, list):
            raise ValueError("an event without a list of choices")
        self._usage = _usage(getattr(event, "usage", None)) or self._usage
        for choice in choices[:1]:
            yield from self._add_delta(getattr(choice, "delta", None))
            finish = getattr(choice, "finish_reason", None)
            if isinstance(finish, str) and finish:
                self._finish = finish

    def _add_delta(self, delta: Any) -> Iterator[TextDelta | ToolDelta]:
        for name in ("reasoning", "reasoning_content"):
            self._add_thought(getattr(delta, name, None))
        for name in ("content", "refusal"):
            yield from self._add_text(getattr(delta, name, None))
        for part in getattr(delta, "tool_calls", None) or []:
            function = getattr(part, "function", None)
            arguments = _as_text(getattr(function, "arguments", None))
            called = getattr(function, "name", None)
            yield from self._add_input(self._call_of(part), called, arguments)

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

    def _counted(self) -> Usage | None:
        return self._usage


def estimate(input_bytes: int, output_bytes: int) -> Usage:
    """Tokens derived from bytes, rounded up, and marked as such."""
    per = limits.BYTES_PER_TOKEN
    return Usage(-(-input_bytes // per), -(-output_bytes // per), estimated=True)


def _usage(told: Any) -> Usage | None:
    read, written = (count_of(told, name) for name in ("prompt_tokens", "completion_tokens"))
    if read is None or written is None:
        return None
    cached = count_of(getattr(told, "prompt_tokens_details", None), "cached_tokens") or 0
    thought = count_of(getattr(told, "completion_tokens_details", None), "reasoning_tokens") or 0
    return Usage(
        input_tokens=read,
        output_tokens=written,
        cached_tokens=min(cached, read),
        reasoning_tokens=min(thought, written),
        cost=_cost(getattr(told, "cost", None)),
    )


def field_of(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, dict) else getattr(told, name, None)


def count_of(told: Any, name: str) -> int | None:
    value = field_of(told, name)
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
