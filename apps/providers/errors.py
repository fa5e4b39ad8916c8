"""What may go wrong between us and a model, named for the fact."""

from __future__ import annotations

from typing import Literal

from .types import Usage

Code = Literal[
    "auth_failed",
    "rate_limited",
    "provider_unavailable",
    "invalid_response",
    "timeout",
    "unreachable",
    "unsupported_model",
    "too_large",
]

RETRYABLE: frozenset[str] = frozenset({"rate_limited", "provider_unavailable", "unreachable"})


class ProviderError(Exception):
    """A model could not answer. ``code`` is for machines, the message for people.

    The message names cause and next step and holds no secret. ``retry_after`` is what the
    provider asked for, in seconds. ``usage`` is what was used before the failure, when
    anything was.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.retryable = code in RETRYABLE if retryable is None else retryable
        self.retry_after = retry_after
        self.usage = usage

    def __repr__(self) -> str:
        return f"ProviderError({self.code!r}, {self.message!r})"
