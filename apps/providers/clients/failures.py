"""What went wrong on a wire, as one of our own errors, in words and without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import httpx2
import openai

from apps.providers.errors import Code, ProviderError

from .bounded import BoundExceeded, NotAStream

# Letters alone: nothing that could be a key, or a piece of somebody's text.
_TOKEN = re.compile(r"(?=.{3,48}$)[a-z]+(_[a-z]+)*")

_BY_STATUS: Mapping[int, tuple[Code, str]] = {
    401: ("auth_failed", "{where} refused the key. Check LLM_API_KEY."),
    402: ("auth_failed", "The account at {where} has no credit left. Top it up, then ask again."),
    403: ("auth_failed", "{where} does not let this key use {model}. Check the key's rights."),
    404: (
        "unsupported_model",
        "{where} does not know the model {model}. Check LLM_MODEL and LLM_BASE_URL.",
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


class Failures:
    """Translates failures of one endpoint. ``where`` is its host, ``model`` as asked for."""

    def __init__(self, *, where: str, model: str) -> None:
        self._where = where
        self._model = model[:100]

    def error(self, code: Code, words: str, **more: Any) -> ProviderError:
        return ProviderError(code, words.format(where=self._where, model=self._model), **more)

    def translate(self, error: Exception) -> ProviderError:
        """The failure as a ProviderError; the original is never shown, it may echo a secret."""
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, BoundExceeded):
            return self.error("too_large", f"Cut off: {error} ({{where}}). Ask for less.")
        if isinstance(error, NotAStream):
            return self.rubbish(str(error).replace("{", "").replace("}", ""))
        if isinstance(error, openai.APIStatusError):
            return self._status(error.status_code, error.body, error.response.headers)
        if isinstance(error, openai.APIConnectionError):
            return self._connection(error)
        if isinstance(error, openai.APIError):
            return self._event(error.body)
        return self.rubbish("an event of the stream does not parse")

    def rubbish(self, what: str) -> ProviderError:
        """The provider answered, but not with an answer."""
        return self.error(
            "invalid_response",
            f"{{where}} sent no usable answer: {what}. "
            "Check that LLM_BASE_URL speaks the OpenAI wire, then ask again.",
        )

    def broken_off(self) -> ProviderError:
        return self.error(
            "provider_unavailable",
            "{where} broke the connection off in the middle of an answer. Ask again.",
        )

    def _connection(self, error: openai.APIConnectionError) -> ProviderError:
        cause = error.__cause__
        if isinstance(cause, httpx2.TimeoutException) and not isinstance(
            cause, httpx2.ConnectTimeout
        ):
            return self.error(
                "timeout", "{where} was silent for too long. Ask again, or raise LLM_TIMEOUT."
            )
        return self.error(
            "unreachable",
            "{where} cannot be reached. Check LLM_BASE_URL and the network, then ask again.",
        )

    def _event(self, body: Any) -> ProviderError:
        """An error that came as an event, in the middle of a stream."""
        status = body.get("code") if isinstance(body, Mapping) else None
        if isinstance(status, int) and 400 <= status < 600:
            return self._status(status, body, {})
        if found := _BY_REASON.get(_reason(body)):
            return self.error(*found, retryable=False)
        return self.error(
            "provider_unavailable",
            "{where} reported an error in the middle of an answer. Ask again." + _named(body),
        )

    def _status(self, status: int, body: Any, headers: Mapping[str, str]) -> ProviderError:
        if found := _BY_REASON.get(_reason(body)):
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
                "Set LLM_BASE_URL to the final address.",
            )
        return self.error(
            "invalid_response",
            f"{{where}} refused the request (HTTP {status}){_named(body)}. "
            "Check that {model} can call tools and stream.",
        )


def _reason(body: Any) -> str:
    """The provider's own error code, where it is a plain word: its message is never used."""
    if not isinstance(body, Mapping):
        return ""
    for name in ("code", "type"):
        value = body.get(name)
        if isinstance(value, str) and _TOKEN.fullmatch(value):
            return value
    return ""


def _named(body: Any) -> str:
    reason = _reason(body)
    return f" [{reason}]" if reason else ""


def _seconds(value: str | None) -> float | None:
    """Seconds of a Retry-After header; a date or anything else is not read."""
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None
