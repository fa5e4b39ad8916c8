"""The model that needs no key: it reads a question by rule and answers from rows."""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from asgiref.sync import sync_to_async
from django.db import connections

from apps.core import vocabulary
from apps.core.vocabulary import Vocabulary
from apps.providers.house import asking, following
from apps.providers.house.answers import compose, plain
from apps.providers.house.filling import fields_of, fill, ignored
from apps.providers.house.lexicon import concept
from apps.providers.house.matching import Match, Matcher
from apps.providers.house.names import EXACT, NameIndex, key_of
from apps.providers.house.reading import Reader, Reading
from apps.providers.house.transcript import Transcript, transcript
from apps.providers.house.words import cut, lower
from apps.providers.types import (
    ChatRequest,
    Completion,
    TextDelta,
    ToolCall,
    ToolDelta,
    ToolSpec,
    Usage,
)

PROVIDER = "house"
MODEL = "house model (no key)"
LIKE_ENOUGH = 0.2
FIT_ENOUGH = 0.08
CLEAR = 0.5
UNEXPLAINED = 0.08
STRONG = frozenset(("id", "money", "name", "quoted", "words", "number"))
WORDS_PER_DELTA = 6

Load = Callable[[str, int], Vocabulary]


@dataclass(frozen=True)
class Reply:
    """Words, or calls of tools; never both."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


class HouseModel:
    """Serves a :class:`ChatRequest` like any client: deltas, then one completion.

    Deterministic: the same request gets the same answer. ``load`` brings a guild's vocabulary
    by name and may query; it is called off the event loop.
    """

    def __init__(self, load: Load = vocabulary.load) -> None:
        self._load = load

    async def stream(
        self, request: ChatRequest
    ) -> AsyncIterator[TextDelta | ToolDelta | Completion]:
        """Pieces of the answer or of one call, then the completion. Costs nothing."""
        reply = await sync_to_async(self._reply, thread_sensitive=False)(request)
        for piece in pieces(reply.text):
            yield TextDelta(piece)
        for call in reply.calls:
            yield ToolDelta(call.id, call.name, len(call.arguments))
        yield Completion(
            text=reply.text,
            tool_calls=reply.calls,
            finish_reason="tool_calls" if reply.calls else "stop",
            usage=Usage(0, 0, cost=Decimal(0)),
            model=MODEL,
            provider=PROVIDER,
        )

    def _reply(self, request: ChatRequest) -> Reply:
        try:
            return self.reply(request)
        finally:
            connections.close_all()

    def reply(self, request: ChatRequest) -> Reply:
        """The whole answer at once."""
        said = transcript(request)
        if said.outcomes:
            return Reply(compose(said.outcomes, said.question, self._readings(request, said)))
        low = lower(said.question[: asking.LONGEST_QUESTION])
        words = (
            asking.too_long(said.question)
            or asking.small_talk(low, request.tools)
            or asking.refusal(low, request.tools)
            or asking.not_yet(low, request.tools)
        )
        return Reply(words) if words else self._call(request, said)

    def _call(self, request: ChatRequest, said: Transcript) -> Reply:
        matcher = self._matcher(request)
        reader = matcher.reader
        reading = reader.read(said.question)
        ranked = matcher.rank(reading)
        followed = following.follow(request.tools, said, reading, ranked, reader)
        followed = followed or following.lent(request.tools, said, reading, ranked)
        if followed is not None:
            return Reply(calls=(_tool_call(request, *followed),))
        return self._best(request, reading, ranked)

    def _best(self, request: ChatRequest, reading: Reading, ranked: Sequence[Match]) -> Reply:
        runnable = [match for match in ranked if not match.filled.missing]
        best = max(ranked, key=lambda match: match.likeness, default=None)
        if best and best.filled.missing and _is_sure(best, reading) and best.likeness > CLEAR:
            return Reply(asking.ask_for(best.spec, best.filled.missing))
        if not runnable or not _is_sure(runnable[0], reading):
            return Reply(asking.ask_back(request.tools))
        call = runnable[0]
        return Reply(calls=(_tool_call(request, call.spec, call.filled.arguments),))

    def _matcher(self, request: ChatRequest) -> Matcher:
        """Example questions are read once for the same tools, names and day."""
        names = _vocabulary_names(request.tools)
        vocabularies = {name: self._load(name, request.guild_id) for name in names}
        return prepared(request.tools, vocabularies, today(request))

    def _readings(self, request: ChatRequest, said: Transcript) -> list[str]:
        """How names of vocabularies were read, where the question spells them differently."""
        if len(said.question) > asking.LONGEST_QUESTION:
            return []
        used = {
            str(value)
            for outcome in said.outcomes
            if outcome.call is not None
            for value in following.arguments_of(outcome.call).values()
        }
        reading = self._matcher(request).reader.read(said.question)
        found = []
        for name in reading.names:
            written = reading.text[name.start : name.end]
            alike = {key_of(name.name), f"{key_of(name.name)}s"}
            if name.rank < EXACT and name.name in used and key_of(written) not in alike:
                found.append(f"Read “{plain(written, 60)}” as {plain(name.name, 60)}")
        return found + _unused(request.tools, said, reading)


def _unused(tools: Sequence[ToolSpec], said: Transcript, reading: Reading) -> list[str]:
    """Words on what the question names and no call could take: the rows are not narrowed by it."""
    called = {outcome.call.name for outcome in said.outcomes if outcome.call is not None}
    specs = [tool for tool in tools if tool.name in called]
    used = frozenset(key for spec in specs for key in fill(spec, reading).used)
    left = ignored(reading, used) if specs else []
    named = ", ".join(f"“{plain(text.strip(chr(34)), 60)}”" for text in left[:3])
    return [f"This lookup can't be narrowed by {named}"] if named else []


def today(request: ChatRequest) -> date:
    """The calendar date of the request's instant in its time zone."""
    try:
        zone: Any = ZoneInfo(request.time_zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    return request.now.astimezone(zone).date()


def pieces(text: str) -> Iterable[str]:
    """The text in groups of a few words; joined they are the text."""
    words = re.findall(r"\S+\s*|\s+", text)
    for start in range(0, len(words), WORDS_PER_DELTA):
        yield "".join(words[start : start + WORDS_PER_DELTA])


def _vocabulary_names(tools: Sequence[ToolSpec]) -> list[str]:
    hints = [hint for tool in tools for hint in tool.fills.values()]
    return sorted({str(hint["vocabulary"]) for hint in hints if hint.get("vocabulary")})


def prepared(
    tools: Sequence[ToolSpec], vocabularies: Mapping[str, Vocabulary], day: date
) -> Matcher:
    """A matcher for these tools, names and day; the latest few are kept, whoever asks."""
    key = (tools, vocabularies, day)
    for known, matcher in list(_prepared):
        if known == key:
            return matcher
    index = NameIndex(vocabularies)
    reader = Reader(index=index, kinds=_kinds(tools), known=_known_words(tools), today=day)
    matcher = Matcher(tools, reader)
    _prepared.append((key, matcher))
    return matcher


_prepared: deque[tuple[Any, Matcher]] = deque(maxlen=8)


def _is_sure(match: Match, reading: Reading) -> bool:
    """Whether the tool is meant: like its examples, and more than by small words."""
    used = match.filled.used
    strong = any(key.split(":")[0] in STRONG for key in used)
    loose = [word for word in reading.rest if f"rest:{word.start}" not in used]
    plain = [word for word in reading.rest if not word.is_capital and word not in loose]
    enough = LIKE_ENOUGH + UNEXPLAINED * (len(loose) + len(plain) / 2)
    if (strong or match.shared) and match.likeness >= enough and match.score >= FIT_ENOUGH:
        return True
    if loose or (plain and not strong):
        return False
    return (strong and match.score >= 0) or (
        bool(match.shared and used) and match.score >= FIT_ENOUGH
    )


def _tool_call(request: ChatRequest, spec: ToolSpec, arguments: Any) -> ToolCall:
    """A call whose id follows from what was said, so a repeated request repeats it."""
    text = json.dumps(dict(arguments), ensure_ascii=False, sort_keys=True)
    seed = f"{len(request.messages)}|{spec.name}|{text}"
    return ToolCall(f"house_{hashlib.sha256(seed.encode()).hexdigest()[:16]}", spec.name, text)


def _kinds(tools: Sequence[ToolSpec]) -> set[str]:
    return {
        field.fills.removeprefix("id:")
        for tool in tools
        for field in fields_of(tool)
        if field.fills.startswith("id:")
    }


def _known_words(tools: Sequence[ToolSpec]) -> frozenset[str]:
    """The tools' own words: those of descriptions, names of arguments, and examples' lower case."""
    known: set[str] = set()
    for tool in tools:
        for text in (*tool.examples, tool.description, tool.name.replace("_", " ")):
            known.update(w.plain for w in cut(text) if w.start == 0 or not w.is_capital)
        for field in fields_of(tool):
            known.update(field.name.split("_"))
            said = " ".join(phrase for many in field.words.values() for phrase in many)
            known.update(word.plain for word in cut(said))
    return frozenset(known | {concept(word) for word in known})
