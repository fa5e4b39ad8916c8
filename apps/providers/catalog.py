"""The providers that a key can be for: where they are, what they speak, what they can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import urlsplit

WireName = Literal["openai", "anthropic"]
Purpose = Literal["chat", "reasoning", "embedding", "routing"]

ADAPTERS: Mapping[WireName, str] = MappingProxyType(
    {
        "openai": "apps.providers.clients.openai_chat:OpenAIChat",
        "anthropic": "apps.providers.clients.anthropic_messages:AnthropicMessages",
    }
)
"""The class behind each wire, as a string: only a worker that calls it loads its SDK."""


class UnknownProvider(LookupError):
    """No provider of this name. The message lists those there are."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no provider {name[:60]!r}. Choose one of {', '.join(names())}.")


@dataclass(frozen=True)
class Capabilities:
    """What a provider's wire can carry; a single model of it may still lack some of it."""

    tools: bool = True
    streaming: bool = True
    embeddings: bool = True
    json_schema: bool = True


@dataclass(frozen=True)
class Provider:
    """One provider. ``base_url`` is empty where the key's own base URL is needed.

    ``suggestions`` are model ids to begin with, per purpose; any other id is as good, the
    provider judges it. ``key_check`` is a path that refuses a wrong key where the list of
    models is open to everybody. ``bad_key`` are statuses that mean a wrong key there.
    """

    name: str
    label: str
    base_url: str
    wire: WireName
    capabilities: Capabilities = Capabilities()
    suggestions: Mapping[Purpose, tuple[str, ...]] = field(default_factory=dict)
    needs_key: bool = True
    key_check: str = ""
    bad_key: frozenset[int] = frozenset()

    @property
    def takes_base_url(self) -> bool:
        """True when whoever adds a key says where the server is."""
        return not self.base_url


_ALL = (
    Provider(
        name="openai",
        label="OpenAI",
        base_url="https://api.openai.com/v1",
        wire="openai",
        suggestions={
            "chat": ("gpt-5.4-mini", "gpt-5.4"),
            "reasoning": ("gpt-5.4", "gpt-5.5"),
            "routing": ("gpt-5.4-nano",),
            "embedding": ("text-embedding-3-small", "text-embedding-3-large"),
        },
    ),
    Provider(
        name="anthropic",
        label="Anthropic",
        base_url="https://api.anthropic.com",
        wire="anthropic",
        capabilities=Capabilities(embeddings=False),
        suggestions={
            "chat": ("claude-sonnet-4-5", "claude-haiku-4-5"),
            "reasoning": ("claude-opus-4-5", "claude-sonnet-4-5"),
            "routing": ("claude-haiku-4-5",),
        },
    ),
    Provider(
        name="gemini",
        label="Google Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        wire="openai",
        suggestions={
            "chat": ("gemini-2.5-flash", "gemini-2.5-pro"),
            "reasoning": ("gemini-2.5-pro",),
            "routing": ("gemini-2.5-flash-lite",),
            "embedding": ("gemini-embedding-001",),
        },
        # A wrong key is a malformed request there.
        bad_key=frozenset({400}),
    ),
    Provider(
        name="openrouter",
        label="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        wire="openai",
        suggestions={
            "chat": ("openai/gpt-5.4-mini", "anthropic/claude-sonnet-4.5"),
            "reasoning": ("anthropic/claude-opus-4.5", "openai/gpt-5.4"),
            "routing": ("openai/gpt-5.4-nano",),
        },
        key_check="key",
    ),
    Provider(
        name="custom",
        label="Custom (any OpenAI-compatible server)",
        base_url="",
        wire="openai",
        needs_key=False,
    ),
)
PROVIDERS: Mapping[str, Provider] = MappingProxyType({each.name: each for each in _ALL})


def names() -> tuple[str, ...]:
    """Every provider's short name, in the order in which they are offered."""
    return tuple(PROVIDERS)


def get(name: str) -> Provider:
    """The provider of this name; UnknownProvider lists those there are."""
    try:
        return PROVIDERS[name]
    except KeyError:
        raise UnknownProvider(name) from None


def name_of_host(host: str) -> str | None:
    """The provider whose own address this host is, or None."""
    hosts = {urlsplit(each.base_url).hostname: each.name for each in _ALL if each.base_url}
    return hosts.get(host.lower())


def adapter(wire: WireName) -> Any:
    """The client class of a wire; the first call loads its SDK, which takes a second or more."""
    module, _, name = ADAPTERS[wire].partition(":")
    return getattr(import_module(module), name)
