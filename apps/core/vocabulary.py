"""Names that a guild's rows use (genres, styles, formats), for whoever reads a question.

Rooms register a loader; the house model and the tools ask by name. A loader runs its own
query on the reader connection and returns names as stored, most used first, together with
the other spellings under which people ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Vocabulary:
    """``names`` as stored; ``synonyms`` from another spelling (casefolded) to a stored name."""

    names: tuple[str, ...]
    synonyms: Mapping[str, str] = field(default_factory=dict)


_loaders: dict[str, Callable[[int], Vocabulary]] = {}


def register(name: str, load: Callable[[int], Vocabulary]) -> None:
    """Register ``load(guild_id) -> Vocabulary`` under a name such as ``genre``."""
    _loaders[name] = load


def load(name: str, guild_id: int) -> Vocabulary:
    """The guild's vocabulary of that name; an unknown name is empty."""
    loader = _loaders.get(name)
    return loader(guild_id) if loader else Vocabulary(())


def known() -> frozenset[str]:
    """Names under which a vocabulary is registered."""
    return frozenset(_loaders)
