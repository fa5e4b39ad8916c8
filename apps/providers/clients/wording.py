"""Texts made fit for any wire."""

from __future__ import annotations

import json
import re
from typing import Any

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_CHARACTERS = 64
MALFORMED = "malformed_arguments"


def writable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def tool_name(name: str) -> str:
    """A name of the characters that both wires take; a model may have made up any."""
    return _NOT_IN_A_NAME.sub("_", name)[:_NAME_CHARACTERS] or "unnamed"


def call_id(given: str) -> str:
    """An id of the characters that both wires take; the same one for a call and its result."""
    return _NOT_IN_A_NAME.sub("_", given) or "unnamed"


def json_object(arguments: str) -> dict[str, Any]:
    """The arguments, or a wrapping of them where they are no JSON object.

    Providers parse the history and refuse the whole request for one malformed call in it.
    """
    try:
        parsed = json.loads(arguments, parse_constant=_no_json)
        if isinstance(parsed, dict):
            return parsed
    except (ValueError, RecursionError):
        pass
    return malformed(arguments)


def malformed(arguments: str) -> dict[str, Any]:
    """A JSON object that holds the beginning of what is none."""
    return {MALFORMED: arguments[:2000]}


def _no_json(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
