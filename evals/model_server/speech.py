"""What both wires share: the reply ready to be spoken, and one server-sent event."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evals.model_server.conversation import Conversation
from evals.model_server.script import Reply, ToolCall

PAD = "pad-goes-here"
LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event; a delta is what `cut`, `silence` and `after` count."""

    data: Mapping[str, Any] | str
    name: str | None = None
    is_delta: bool = False
    size: int | None = None

    def encoded(self, line_end: str) -> bytes:
        """The event's lines without the closing blank line."""
        data = self.data
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        name = [f"event: {self.name}"] if self.name else []
        end = LINE_ENDS[line_end]
        return b"".join(line.encode() + end for line in [*name, f"data: {text}"])


@dataclass(frozen=True, slots=True)
class Speech:
    """A filled reply on its way to one client."""

    number: int
    created: int
    conversation: Conversation
    reply: Reply

    @property
    def deltas(self) -> list[str]:
        """The text in the pieces it is streamed in: given, or word by word."""
        text = self.reply.text
        return text if isinstance(text, list) else re.findall(r"\s*\S+\s*", text) or [text]

    @property
    def text(self) -> str:
        return "".join(self.deltas)

    @property
    def shows_usage(self) -> bool:
        asked = self.conversation.wants_usage or self.reply.usage_unasked
        return self.reply.usage is not None and asked

    @property
    def prompt_tokens(self) -> int:
        given = self.reply.usage.prompt_tokens if self.reply.usage else None
        return self.conversation.prompt_tokens if given is None else given

    @property
    def completion_tokens(self) -> int:
        given = self.reply.usage.completion_tokens if self.reply.usage else None
        said = len(self.text) + sum(len(arguments(call)) for call in self.reply.tool_calls)
        return said // 4 + 1 if given is None else given

    def call_id(self, position: int, prefix: str) -> str:
        """The scripted id, or one that no other request of this server gets."""
        given = self.reply.tool_calls[position].id
        return f"{prefix}_{self.number}_{position}" if given is None else given

    def finish_reason(self) -> str | None:
        if self.reply.finish_reason != "auto":
            return self.reply.finish_reason
        return "tool_calls" if self.reply.tool_calls else "stop"


def arguments(call: ToolCall) -> str:
    """The arguments as the provider would write them."""
    given = call.arguments
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def pieces(text: str, size: int) -> Iterator[str]:
    """Cut into pieces of `size` characters; 0 leaves it whole."""
    step = size or max(len(text), 1)
    return (text[i : i + step] for i in range(0, len(text), step))
