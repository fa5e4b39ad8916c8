"""What is said to a model and what comes back, whoever serves it. No I/O, no Django."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, Protocol

from . import limits

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model sees it.

    ``parameters`` is a JSON Schema. ``examples`` are questions that the tool answers and
    ``fills`` maps a field to its hints (``{"fills": "vocabulary", "vocabulary": "genre"}``);
    only the house model reads those two, they are never sent over a wire.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    examples: tuple[str, ...] = ()
    fills: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolCall:
    """One call that a model asked for; ``arguments`` is the raw text as it was sent.

    The text may be anything, JSON or not: whoever runs the call judges it.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ChatMessage:
    """One message of a transcript. ``tool_call_id`` belongs to the role ``tool`` alone."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True)
class ChatRequest:
    """One call of a model, complete: the transcript, the tools and the bound on its answer.

    ``now`` is aware. ``guild_id``, ``now``, ``time_zone`` and ``currency`` serve the house
    model, which reads dates and money from the question; no wire carries them.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...]
    max_output_tokens: int
    guild_id: int
    now: datetime
    time_zone: str = "UTC"
    currency: str = ""
    retries: int = limits.RETRIES


@dataclass(frozen=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True)
class ToolDelta:
    """Progress of a tool call that is still being written: ``characters`` more of its input."""

    call_id: str
    name: str
    characters: int


Delta = TextDelta | ToolDelta


@dataclass(frozen=True)
class Usage:
    """Tokens of one call. Cached tokens are part of the input, reasoning part of the output.

    ``cost`` is the provider's own figure in USD, None when it gave none. ``estimated`` is
    true when the provider gave no counts and they were derived from bytes.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: Decimal | None = None
    estimated: bool = False


@dataclass(frozen=True)
class Completion:
    """The end of a stream: the whole answer, and what is stored, judged and run."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str
    usage: Usage | None
    model: str
    provider: str


@dataclass(frozen=True)
class Profile:
    """Which model answers, and for whom it is known. ``label`` is what people read."""

    provider: str
    model: str
    label: str
    is_house: bool


class ChatClient(Protocol):
    """Anything that serves a :class:`ChatRequest`: a wire client or the house model."""

    def stream(self, request: ChatRequest) -> AsyncIterator[TextDelta | ToolDelta | Completion]:
        """Deltas in order, then exactly one :class:`Completion`, which is last."""
        ...
