"""Golden questions: how many of them the house model turns into the right call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from apps.core.tools import BadArguments, Tool, registry
from apps.core.vocabulary import Vocabulary
from apps.providers.house.model import MODEL, HouseModel
from apps.providers.house.names import NameIndex
from apps.providers.house.transcript import arguments_of
from apps.providers.types import ChatMessage, ChatRequest, ToolSpec

Load = Callable[[str, int], Vocabulary]


@dataclass(frozen=True)
class Verdict:
    """One question with the call that was made and whether it was the right one."""

    question: str
    tool: str
    arguments: Mapping[str, Any]
    expected: Sequence[Mapping[str, Any]]
    is_right: bool


@dataclass(frozen=True)
class Score:
    """The figure of one file."""

    verdicts: tuple[Verdict, ...]

    @property
    def right(self) -> int:
        return sum(verdict.is_right for verdict in self.verdicts)

    @property
    def percent(self) -> float:
        return 100 * self.right / len(self.verdicts) if self.verdicts else 0.0


def specs() -> tuple[ToolSpec, ...]:
    """Every registered tool as the house model sees it."""
    return tuple(spec_of(tool) for tool in registry)


def spec_of(tool: Tool) -> ToolSpec:
    """A registered tool with its schema, examples and hints."""
    hints = {
        name: dict(field.json_schema_extra)
        for name, field in tool.args_model.model_fields.items()
        if isinstance(field.json_schema_extra, dict)
    }
    return ToolSpec(tool.name, tool.description, tool.schema(), tool.examples, hints)


def score(path: Path, *, load: Load) -> Score:
    """Ask every question of a golden file at its own fixed noon."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    noon = datetime.combine(
        date.fromisoformat(str(content["today"])), time(12), tzinfo=ZoneInfo(content["time_zone"])
    )
    judge = Judge(load=load, now=noon.astimezone(UTC), content=content)
    return Score(tuple(judge.verdict(case) for case in content["cases"]))


class Judge:
    """Asks the model and compares its call with what a case expects."""

    def __init__(self, *, load: Load, now: datetime, content: Mapping[str, Any]) -> None:
        self.model = HouseModel(load)
        self.load = load
        self.now = now
        self.content = content
        self.specs = specs()

    def verdict(self, case: Mapping[str, Any]) -> Verdict:
        reply = self.model.reply(self._request(str(case["question"])))
        call = reply.calls[0] if reply.calls else None
        name = call.name if call else ""
        arguments = arguments_of(call) if call else {}
        ways = [dict(case.get("args") or {}), *(dict(way) for way in case.get("any_of") or ())]
        got = self._resolved(name, arguments) if name else None
        right = name == case["tool"] and any(got == self._resolved(name, way) for way in ways)
        return Verdict(str(case["question"]), name, arguments, ways, right)

    def _request(self, question: str) -> ChatRequest:
        return ChatRequest(
            model=MODEL,
            messages=(ChatMessage("user", question),),
            tools=self.specs,
            max_output_tokens=1024,
            guild_id=0,
            now=self.now,
            time_zone=str(self.content["time_zone"]),
            currency=str(self.content.get("currency") or ""),
        )

    def _resolved(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """Arguments as the tool would take them, names as the vocabulary stores them."""
        tool = registry.get(name)
        try:
            values = tool.validate(dict(arguments)).model_dump(exclude_defaults=True)
        except BadArguments:
            return None
        return {field: self._plain(tool, field, value) for field, value in values.items()}

    def _plain(self, tool: Tool, field: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        extra = tool.args_model.model_fields[field].json_schema_extra
        name = extra.get("vocabulary") if isinstance(extra, dict) else None
        if isinstance(name, str):
            value = NameIndex({name: self.load(name, 0)}).resolve(name, value)
        return " ".join(value.split()).casefold()
