"""What went wrong on a wire, as one of our own errors, in words and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import httpx2

from apps.providers.errors import Code, ProviderError

from .bounded import BoundExceeded, NotAStream

# Letters alone: nothing that could be a key, or a piece of somebody's text.
_TOKEN = re.compile(r"(?=.{3,48}$)[a-z]+(_[a-z]+)*")

_BY_STATUS: Mapping[int, tuple[Code, str]] = {
    401: ("auth_failed", "{where} refused the key. Check {key}."),
    402: ("auth_failed", "The account at {where} has no credit left. Top it up, then ask again."),
    403: ("auth_failed", "{where} does not let this key use {model}. Check the key's rights."),
    404: (
        "unsupported_model",
        "{where} does not know the model {model}. Check {chosen} and {address}.",
    ),
    408: ("timeout", "{where} gave up waiting. Ask again."),
    413: (
        "too_large",
        "{model} cannot take a question and history this large. Start a new thread.",
    ),
    429: ("rate_limited", "{where} asks for a pause: too many requests. Try again in a minute."),
    504: ("timeout", "{where} took too long. Ask again."),
}
_BY_REASON: Mapping[str, tuple[Code, str]] = {
    "context_length_exceeded": _BY_STATUS[413],
    "string_above_max_length": _BY_STATUS[413],
    "model_not_found": _BY_STATUS[404],
    "invalid_api_key": _BY_STATUS[401],
    "insufficient_quota": _BY_STATUS[402],
}
# The messages wire names these in an event, where there is no status.
_STATUS_OF_TYPE: Mapping[str, int] = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
# Fixed phrases of providers that give one status and type to everything malformed.
_BY_PHRASE: tuple[tuple[str, tuple[Code, str]], ...] = (
    ("prompt is too long", _BY_STATUS[413]),
    ("credit balance is too low", _BY_STATUS[402]),
    ("api key not valid", _BY_STATUS[401]),
)


class SdkErrors(NamedTuple):
    """An SDK's own errors: a refusal, a lost connection, and anything of its API."""

    status: type[Any]
    connection: type[Any]
    any: type[Any]


@dataclass(frozen=True)
class Source:
    """Where people change what a call is made of, in words that fit behind "Check"."""

    key: str
    address: str
    chosen: str
    patience: str


ENVIRONMENT = Source("LLM_API_KEY", "LLM_BASE_URL", "LLM_MODEL", "raise LLM_TIMEOUT")
STORED = Source(
    "the key under Providers",
    "the key's base URL under Providers",
    "the model under Models",
    "let the operator raise LLM_TIMEOUT",
)


class Failures:
    """Translates failures of one endpoint. ``where`` is its host, ``model`` as asked for."""

    def __init__(
        self, *, where: str, model: str, wire: str, source: Source, sdk: SdkErrors | None = None
    ) -> None:
        self._sdk = sdk
        self._words = {
            "where": where,
            "model": model[:100],
            "wire": wire,
            "key": source.key,
            "address": source.address,
            "chosen": source.chosen,
            "patience": source.patience,
        }

    def error(self, code: Code, words: str, *, told: str = "", **more: Any) -> ProviderError:
        return ProviderError(code, words.format(**self._words, told=told), **more)

    def translate(self, error: BaseException) -> ProviderError:
        """The failure as a ProviderError; the original is never shown, it may echo a secret."""
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, BoundExceeded):
            return self.error(
                "too_large", "Cut off: {told} ({where}). Ask for less.", told=f"{error}"
            )
        if isinstance(error, NotAStream):
            return self.rubbish(str(error))
        if isinstance(error, httpx2.TransportError):
            return self._connection(error)
        return self._of_sdk(error)

    def _of_sdk(self, error: Any) -> ProviderError:
        if self._sdk and isinstance(error, self._sdk.status):
            return self.status(error.status_code, error.body, error.response.headers)
        if self._sdk and isinstance(error, self._sdk.connection):
            # One SDK wraps whatever its transport raises in this error, our own bounds included.
            return self.translate(error.__cause__) if error.__cause__ else self._unreachable()
        if self._sdk and isinstance(error, self._sdk.any):
            return self._event(error.body)
        return self.rubbish("an event of the stream does not parse")

    def rubbish(self, what: str) -> ProviderError:
        """The provider answered, but not with an answer."""
        return self.error(
            "invalid_response",
            "{where} sent no usable answer: {told}. "
            "Check that {address} speaks the {wire} wire, then ask again.",
            told=what,
        )

    def broken_off(self) -> ProviderError:
        return self.error(
            "provider_unavailable",
            "{where} broke the connection off in the middle of an answer. Ask again.",
        )

    def _connection(self, error: httpx2.TransportError) -> ProviderError:
        waited = isinstance(error, httpx2.TimeoutException)
        if waited and not isinstance(error, httpx2.ConnectTimeout):
            return self.error(
                "timeout", "{where} was silent for too long. Ask again, or {patience}."
            )
        return self._unreachable()

    def _unreachable(self) -> ProviderError:
        return self.error(
            "unreachable",
            "{where} cannot be reached. Check {address} and the network, then ask again.",
        )

    def _event(self, body: Any) -> ProviderError:
        """An error that came as an event, in the middle of a stream."""
        told = _inner(body)
        status = told.get("code")
        status = status if isinstance(status, int) else _STATUS_OF_TYPE.get(_reason(told), 0)
        if 400 <= status < 600:
            return self.status(status, told, {})
        if found := _known(told):
            return self.error(*found, retryable=False)
        return self.error(
            "provider_unavailable",
            "{where} reported an error in the middle of an answer. Ask again.{told}",
            told=_named(told),
        )

    def status(self, status: int, body: Any, headers: Mapping[str, str]) -> ProviderError:
        """A refusal by its HTTP status; the provider's own reason counts more."""
        if status < 300:
            return self._event(body)
        told = _inner(body)
        if found := _known(told):
            return self.error(*found, retryable=False)
        if found := _BY_STATUS.get(status):
            return self.error(*found, retry_after=_seconds(headers.get("retry-after")))
        if status >= 500:
            return self.error(
                "provider_unavailable",
                f"{{where}} is having trouble (HTTP {status}). Ask again in a minute.",
                retry_after=_seconds(headers.get("retry-after")),
            )
        if status < 400:
            return self.error(
                "invalid_response",
                f"{{where}} redirects elsewhere (HTTP {status}), which is never followed. "
                "Set {address} to the final address.",
            )
        return self.error(
            "invalid_response",
            f"{{where}} refused the request (HTTP {status}){{told}}. "
            "Check that {model} can call tools and stream.",
            told=_named(told),
        )


def _inner(body: Any) -> Mapping[str, Any]:
    """The error itself, out of the list or the envelope that it may come in."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    return body if isinstance(body, Mapping) else {}


def _known(told: Mapping[str, Any]) -> tuple[Code, str] | None:
    """What the provider's reason means, whatever status it came with."""
    if found := _BY_REASON.get(_reason(told)):
        return found
    said = str(told.get("message") or "").lower()
    return next((meant for phrase, meant in _BY_PHRASE if phrase in said), None)


def _reason(told: Mapping[str, Any]) -> str:
    """The provider's own error code, where it is a plain word: its message is never shown."""
    for name in ("code", "type"):
        value = told.get(name)
        if isinstance(value, str) and _TOKEN.fullmatch(value):
            return value
    return ""


def _named(told: Mapping[str, Any]) -> str:
    reason = _reason(told)
    return f" [{reason}]" if reason else ""


def _seconds(value: str | None) -> float | None:
    """Seconds of a Retry-After header; a date or anything else is not read."""
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None
