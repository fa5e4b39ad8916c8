"""What one request says, read the same way from either wire."""

import json
from dataclasses import dataclass
from typing import Any, Literal

WireName = Literal["openai", "anthropic"]
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The facts a rule can look at.

    `turn` counts the assistant messages after the last thing a person said, so the same
    script answers a conversation that a second worker took over in the middle.
    """

    wire: WireName
    model: str
    system: str
    question: str
    turn: int
    results: tuple[str, ...]
    tools: tuple[str, ...]
    stream: bool
    prompt_tokens: int
    wants_usage: bool

    @classmethod
    def read(cls, wire: WireName, body: Body) -> "Conversation":
        """Read a body that the wire's `refusal` has found well formed."""
        messages: list[Body] = body["messages"]
        asked = max((i for i, m in enumerate(messages) if _is_question(m)), default=-1)
        after = messages[asked + 1 :]
        return cls(
            wire=wire,
            model=body["model"],
            system="\n".join([text_of(body.get("system")), *_system_texts(messages)]).strip(),
            question=text_of(messages[asked].get("content")) if asked >= 0 else "",
            turn=sum(m["role"] == "assistant" for m in after),
            results=tuple(result for m in after for result in _results(m)),
            tools=tuple(_tool_name(tool) for tool in body.get("tools") or ()),
            stream=bool(body.get("stream")),
            prompt_tokens=len(json.dumps([messages, body.get("tools")])) // 4 + 1,
            wants_usage=wire == "anthropic" or _wants_usage(body),
        )


def text_of(content: Any) -> str:
    """The text of a message's content, whether a string, a list of parts or nothing."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part.get("text") or "" for part in parts if part.get("type") == "text")


def blocks(message: Body, kind: str) -> list[Body]:
    """The content blocks of one kind, in the messages wire's shape."""
    content = message.get("content")
    return [b for b in content if b.get("type") == kind] if isinstance(content, list) else []


def _is_question(message: Body) -> bool:
    """True for a person's words; the messages wire sends tool results as a user too."""
    return message["role"] == "user" and not blocks(message, "tool_result")


def _system_texts(messages: list[Body]) -> list[str]:
    return [text_of(m.get("content")) for m in messages if m["role"] in ("system", "developer")]


def _results(message: Body) -> list[str]:
    if message["role"] == "tool":
        return [text_of(message.get("content"))]
    return [text_of(block.get("content")) for block in blocks(message, "tool_result")]


def _tool_name(tool: Body) -> str:
    return str(tool.get("name") or tool.get("function", {}).get("name"))


def _wants_usage(body: Body) -> bool:
    """On the chat-completions wire a stream tells usage only when asked; the other always."""
    asked = [body.get("stream_options") or {}, body.get("usage") or {}]
    return not body.get("stream") or bool(asked[0].get("include_usage") or asked[1].get("include"))
