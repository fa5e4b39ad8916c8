"""The one registry: tools, what they take, and what they return.

A room's ``tools.py`` registers plain functions with :func:`tool`. The loop, the panel, the
house model and the proposals room know tools through :data:`registry` alone, so a new
capability is one function and its argument model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

Effect = Literal["read", "draft", "control", "state", "say", "write"]
ColumnKind = Literal["text", "money", "number", "date", "datetime", "days", "percent", "code"]

MODEL_EFFECTS_THAT_RUN: frozenset[str] = frozenset({"read", "draft", "control"})


class ToolError(Exception):
    """A fact that the model may read: what was wrong with its call, and what to do next."""


class UnknownTool(ToolError):
    """No tool of that name is registered."""


class BadArguments(ToolError):
    """The arguments do not fit the tool's argument model."""


class ToolArgs(BaseModel):
    """Arguments of a tool. Extra fields are refused; text is stripped.

    A field may carry hints in ``json_schema_extra``: ``fills`` says what part of a question
    it takes (``money:max``, ``money:max:included``, ``money:min``, ``money:min:excluded``,
    ``days``, ``date:from``, ``date:to``, ``limit``, ``text``, ``id:release``, ``choice``,
    ``flag``), ``vocabulary`` names a registered vocabulary, and ``words`` maps a choice (or
    ``true`` and ``false``) to phrases under which people ask for it.
    """

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _blank_means_left_out(cls, values: Any) -> Any:
        """A model that fills every field sends ``""`` for those it has nothing for."""
        if not isinstance(values, dict):
            return values
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {
            name: value
            for name, value in values.items()
            if not (name in optional and isinstance(value, str) and not value.strip())
        }


class Actor(Protocol):
    """Whoever a tool runs for: a member, a schedule or a token, always of one guild."""

    @property
    def guild_id(self) -> int: ...


@dataclass(frozen=True)
class ToolContext:
    """What a tool knows besides its arguments. ``now`` is aware; ``run_id`` may be absent."""

    actor: Any
    guild: Any
    now: datetime
    run_id: UUID | None = None


@dataclass(frozen=True)
class Column:
    """One column of a :class:`Table`. ``kind`` decides alignment, format and sorting."""

    name: str
    label: str
    kind: ColumnKind = "text"


@dataclass(frozen=True)
class Table:
    """Rows with a ``ref`` each (``stock:42``), and totals over *all* matching rows.

    ``rows`` hold plain JSON values: money and other decimals as strings, dates in ISO 8601.
    ``total_rows`` counts every match, not only the rows returned; ``totals`` holds whatever
    SQL computed over every match (``rows``, ``copies``, ``sum``, ``least``, ``greatest``).
    ``cut`` names what was left out, in words for people. ``notes`` say how terms were read.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    total_rows: int
    totals: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    cut: Sequence[str] = ()
    currency: str = ""
    as_of: str = ""
    link: str = ""

    def to_json(self) -> dict[str, Any]:
        """The table as plain values. Rows are plain already, so none is copied cell by cell."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        columns = [asdict(column) for column in self.columns]
        return {"kind": "table", **plain, "columns": columns, "rows": list(self.rows)}


@dataclass(frozen=True)
class Figure:
    """One value with its name, e.g. ``Figure("Releases without a barcode", 734)``."""

    label: str
    value: Any
    unit: str = ""
    ref: str = ""
    as_of: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"kind": "figure", **asdict(self)}


@dataclass(frozen=True)
class Text:
    """Text written by a tool, optionally about one row."""

    text: str
    ref: str = ""
    refs: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        return {"kind": "text", **asdict(self)}


Result = Table | Figure | Text
A = TypeVar("A", bound=ToolArgs)


@dataclass(frozen=True)
class Tool:
    """A registered tool. ``description`` is what the model reads: the docstring's first line."""

    name: str
    description: str
    args_model: type[ToolArgs]
    run: Callable[[ToolContext, Any], Result]
    capability: str
    effect: Effect
    public: bool
    examples: tuple[str, ...]
    preview: Callable[[ToolContext, Any], Any] | None = None
    inverse: Callable[..., Any] | None = None

    def validate(self, arguments: Any) -> ToolArgs:
        """Arguments as the tool's own model, or :class:`BadArguments` in words."""
        try:
            return self.args_model.model_validate(arguments)
        except ValidationError as error:
            raise BadArguments(_explain(self, error)) from None

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments as sent to a model: no titles, no hints of ours."""
        return _schema(self.args_model)


class Registry:
    """Tools by name. Registering a name twice is an error of the programmer."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, tool: Tool) -> None:
        if tool.name in self._tools:
            raise ValueError(f"tool {tool.name} is registered twice")
        self._tools[tool.name] = tool

    def remove(self, name: str) -> None:
        self._tools.pop(name, None)

    def get(self, name: str) -> Tool:
        """The tool of that name, or :class:`UnknownTool` naming those there are."""
        try:
            return self._tools[name]
        except KeyError:
            known = ", ".join(sorted(self._tools)) or "none"
            raise UnknownTool(f"There is no tool named {name[:80]!r}. Tools: {known}.") from None

    def __iter__(self) -> Iterator[Tool]:
        return iter(sorted(self._tools.values(), key=lambda tool: tool.name))

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __len__(self) -> int:
        return len(self._tools)


registry = Registry()


def tool(
    *,
    effect: Effect,
    capability: str,
    examples: Iterable[str],
    public: bool = False,
    preview: Callable[[ToolContext, Any], Any] | None = None,
    inverse: Callable[..., Any] | None = None,
) -> Callable[[Callable[[ToolContext, A], Result]], Callable[[ToolContext, A], Result]]:
    """Register a function ``(ctx, args) -> Table | Figure | Text`` as a tool.

    The argument model is read from the annotation of the second parameter, the description
    from the docstring. A ``write`` tool must bring a ``preview``.
    """

    def register(run: Callable[[ToolContext, A], Result]) -> Callable[[ToolContext, A], Result]:
        if effect == "write" and preview is None:
            raise ValueError(f"write tool {run.__name__} has no preview")
        registry.add(
            Tool(
                name=run.__name__,
                description=_first_paragraph(run),
                args_model=_args_model(run),
                run=run,
                capability=capability,
                effect=effect,
                public=public,
                examples=tuple(examples),
                preview=preview,
                inverse=inverse,
            )
        )
        return run

    return register


def _args_model(run: Callable[..., Any]) -> type[ToolArgs]:
    from typing import get_type_hints

    hints = [hint for name, hint in get_type_hints(run).items() if name != "return"]
    model = hints[1] if len(hints) > 1 else None
    if not (isinstance(model, type) and issubclass(model, ToolArgs)):
        raise TypeError(f"tool {run.__name__} needs a ToolArgs as its second parameter")
    return model


def _first_paragraph(run: Callable[..., Any]) -> str:
    paragraph = (run.__doc__ or "").strip().split("\n\n")[0]
    if not paragraph:
        raise ValueError(f"tool {run.__name__} has no docstring for the model to read")
    return re.sub(r"\s+", " ", paragraph)


def _explain(tool: Tool, error: ValidationError) -> str:
    problems = []
    for item in error.errors(include_url=False, include_input=False)[:5]:
        where = ".".join(str(part) for part in item["loc"]) or "arguments"
        problems.append(f"{where}: {item['msg']}")
    allowed = ", ".join(tool.args_model.model_fields) or "none"
    return f"{tool.name} was not run. {'; '.join(problems)}. It takes: {allowed}."


@cache
def _schema(model: type[ToolArgs]) -> dict[str, Any]:
    """Made once: building a schema costs more than a turn's own work."""
    tidy: dict[str, Any] = _tidy(model.model_json_schema())
    return tidy


_HINTS = frozenset({"fills", "vocabulary", "words", "title"})


def _tidy(node: Any) -> Any:
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidy = {key: _tidy(value) for key, value in node.items() if key not in _HINTS}
    if isinstance(node.get("properties"), dict):
        tidy["properties"] = {name: _tidy(value) for name, value in node["properties"].items()}
    return tidy
