"""The script: rules tried in order, and what they answer. The package's docstring explains it."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    NonNegativeInt,
    model_validator,
)

from evals.model_server.conversation import Conversation, WireName

PLACE = re.compile(
    r"\$\{(?:find /(?P<find>.+?)/|repeat /(?P<repeat>.+?)/ (?P<times>\d+)|(?P<name>\w+))\}"
)


class BadScript(ValueError):
    """The script cannot be read."""


def _pattern(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return re.compile(value, re.IGNORECASE | re.DOTALL)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error


def _span(value: Any) -> Any:
    """Read `3`, `"2-5"` (both included) or `"3-"` (and more)."""
    found = re.fullmatch(r"(\d+)(-)?(\d+)?", str(value))
    if not found:
        raise ValueError(f"{value!r} is not a number, a span such as 2-5, or 3-")
    low = int(found[1])
    high = int(found[3]) if found[3] else (sys.maxsize - 1 if found[2] else low)
    return range(low, high + 1)


def _short(field: str) -> BeforeValidator:
    """Let a bare value stand for a mapping with one field."""
    bare = (int, float, str)
    return BeforeValidator(lambda value: {field: value} if isinstance(value, bare) else value)


Pattern = Annotated[InstanceOf[re.Pattern[str]], BeforeValidator(_pattern)]
Span = Annotated[InstanceOf[range], BeforeValidator(_span)]


class Strict(BaseModel):
    """A part of a script; a misspelt field is an error, not silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Facts(Strict):
    """One conversation, and how often the server has been asked so far."""

    conversation: InstanceOf[Conversation]
    attempt: int
    request: int


class When(Strict):
    """Every condition given must hold."""

    question: Pattern | None = None
    system: Pattern | None = None
    result: Pattern | None = None
    model: Pattern | None = None
    turn: Span | None = None
    attempt: Span | None = None
    request: Span | None = None
    tools: bool | None = None
    stream: bool | None = None
    wire: WireName | None = None

    def holds(self, facts: Facts) -> bool:
        talk = facts.conversation
        texts = {
            "question": talk.question,
            "system": talk.system,
            "result": "\n".join(talk.results),
            "model": talk.model,
        }
        numbers = {"turn": talk.turn, "attempt": facts.attempt, "request": facts.request}
        exact = {"tools": bool(talk.tools), "stream": talk.stream, "wire": talk.wire}
        return (
            all(p is None or p.search(texts[n]) for n in texts for p in [getattr(self, n)])
            and all(s is None or numbers[n] in s for n in numbers for s in [getattr(self, n)])
            and all(e is None or exact[n] == e for n in exact for e in [getattr(self, n)])
        )


class ToolCall(Strict):
    """One call; a string as arguments is sent as it stands, well formed or not."""

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    id: str | None = None
    index: NonNegativeInt | None = None


class Usage(Strict):
    """Tokens as the provider counts them; what is left out is estimated from the text."""

    prompt_tokens: NonNegativeInt | None = None
    completion_tokens: NonNegativeInt | None = None
    reasoning_tokens: NonNegativeInt | None = None
    cached_tokens: NonNegativeInt | None = None
    cost: float | None = None


class ErrorReply(Strict):
    """A provider's refusal; with `after`, an error event inside a stream that began well."""

    status: int = 500
    message: str | None = None
    type: str | None = None
    code: str | int | None = None
    retry_after: str | int | None = None
    body: dict[str, Any] | str | None = None
    after: NonNegativeInt | None = None


class Redirect(Strict):
    """Send the client elsewhere; `${base_url}` in `to` is this server."""

    to: str
    status: Literal[301, 302, 303, 307, 308] = 302


class Silence(Strict):
    """Say nothing for a while: before the headers, after them, or after so many deltas."""

    seconds: float
    at: Literal["request", "headers"] | NonNegativeInt = "headers"


class Garbage(Strict):
    """Something that is not the wire."""

    kind: Literal["html", "bytes", "empty", "json", "shape"]
    after: NonNegativeInt = 0


class Reply(Strict):
    """What the model says, how fast, and what goes wrong on the way."""

    text: str | list[str] = ""
    reasoning: str = ""
    tool_calls: list[ToolCall] = Field(default_factory=list)
    finish_reason: str | None = "auto"
    usage: Usage | None = Usage()
    usage_unasked: bool = False

    first_ms: float = 0
    delta_ms: float = 0
    chunk_chars: NonNegativeInt = 16
    interleave: bool = True

    error: Annotated[ErrorReply, _short("status")] | None = None
    redirect: Annotated[Redirect, _short("to")] | None = None
    silence: Annotated[Silence, _short("seconds")] | None = None
    garbage: Annotated[Garbage, _short("kind")] | None = None
    huge_event: NonNegativeInt | None = None
    cut: NonNegativeInt | None = None

    headers: dict[str, str] = Field(default_factory=dict)
    line_end: Literal["lf", "crlf", "cr"] = "lf"
    comments: bool = False
    keep_alive_ms: float | None = None
    split: Literal["inside"] | Annotated[int, Field(gt=0)] | None = None
    done: bool = True

    def filled(self, conversation: Conversation) -> "Reply":
        """A copy with every `${…}` in the texts and arguments put in place."""
        calls = [
            call.model_copy(update={"arguments": fill(call.arguments, conversation)})
            for call in self.tool_calls
        ]
        return self.model_copy(update={"text": fill(self.text, conversation), "tool_calls": calls})


class Rule(Strict):
    """When something holds, one reply, or one of several."""

    name: str = ""
    when: When = When()
    reply: Reply | None = None
    replies: list[Reply] | None = Field(default=None, min_length=1)
    attempts: list[Reply] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _has_one_kind_of_reply(self) -> "Rule":
        if sum(r is not None for r in (self.reply, self.replies, self.attempts)) != 1:
            raise ValueError("give one of reply, replies (by turn) and attempts (by attempt)")
        return self

    def pick(self, facts: Facts) -> Reply:
        """By turn the last reply repeats; by attempt the list begins again."""
        if self.replies:
            return self.replies[min(facts.conversation.turn, len(self.replies) - 1)]
        if self.attempts:
            return self.attempts[facts.attempt % len(self.attempts)]
        return self.reply or Reply()


class Script(Strict):
    """Rules in order, the models that are listed, and the key that is asked for."""

    rules: list[Rule]
    models: list[str | dict[str, Any]] = ["scripted-model"]
    api_key: str | None = None
    lenient: bool = False

    def rule_for(self, facts: Facts) -> Rule | None:
        return next((rule for rule in self.rules if rule.when.holds(facts)), None)


ScriptSource = Script | Path | str | Mapping[str, Any] | Sequence[Mapping[str, Any]]


def load(source: ScriptSource) -> Script:
    """Read a script from a YAML file, a mapping or a list of rules; BadScript says why not."""
    if isinstance(source, Script):
        return source
    try:
        data = _from_file(Path(source)) if isinstance(source, str | Path) else source
        return Script.model_validate(data if isinstance(data, Mapping) else {"rules": data})
    except (OSError, ValueError, yaml.YAMLError) as error:
        where = source if isinstance(source, str | Path) else "given in Python"
        raise BadScript(f"The script {where} cannot be read: {error}") from error


def _from_file(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def fill(value: Any, conversation: Conversation) -> Any:
    """Put `${…}` in place, in strings at any depth."""
    if isinstance(value, str):
        return PLACE.sub(lambda place: _placed(place, conversation), value)
    if isinstance(value, list):
        return [fill(item, conversation) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, conversation) for key, item in value.items()}
    return value


def _placed(place: re.Match[str], conversation: Conversation) -> str:
    if place["find"]:
        found = re.search(place["find"], "\n".join(conversation.results))
        return (found[found.lastindex or 0] or "") if found else f"[no {place['find']} in results]"
    if place["repeat"]:
        return place["repeat"] * int(place["times"])
    known = {
        "question": conversation.question,
        "model": conversation.model,
        "turn": str(conversation.turn),
        "result": conversation.results[-1] if conversation.results else "",
        "results": "\n".join(conversation.results),
    }
    return known.get(place["name"], place[0])
