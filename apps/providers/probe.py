"""A test of a key: ask its provider for the list of models, which costs nothing."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2

from . import addresses, catalog, limits
from .clients import pool
from .clients.bounded import BoundExceeded, NotAStream
from .clients.failures import STORED, Failures
from .errors import ProviderError

_NAME_CHARACTERS = 200
_OF_ANOTHER_KIND = {"too_large": "invalid_response"}


@dataclass(frozen=True)
class ProbeResult:
    """What came of a test. ``error_class`` is empty when it went well.

    It is auth_failed, rate_limited, provider_unavailable, invalid_response, timeout,
    unreachable or unsupported_model. ``words`` tell people, with the next step, and hold
    nothing that the provider said. ``models`` are the names it lists, sorted.
    """

    ok: bool
    error_class: str
    words: str
    models: tuple[str, ...] = ()


async def probe(*, provider: str, base_url: str, secret: str, model: str = "") -> ProbeResult:
    """Test a key, and a model where one is named; ten seconds at most.

    Never raises for what a provider, a network or a base URL does. UnknownProvider when
    there is no such provider.
    """
    known = catalog.get(provider)
    where = urlsplit(base_url or known.base_url).hostname or "the provider"
    failures = Failures(where=where, model=model or "models", wire=known.wire, source=STORED)
    try:
        async with asyncio.timeout(limits.PROBE_SECONDS):
            return await _probe(known, base_url, secret, model, failures)
    except TimeoutError:
        return _failed(failures.error("timeout", "{where} did not answer in ten seconds."))
    except ProviderError as error:
        return _failed(error)
    except (BoundExceeded, NotAStream, httpx2.HTTPError, httpx2.InvalidURL) as error:
        return _failed(failures.translate(error))


async def _probe(
    known: catalog.Provider, base_url: str, secret: str, model: str, failures: Failures
) -> ProbeResult:
    root = pool.root_of(known.wire, addresses.checked(base_url or known.base_url))
    if known.needs_key and not secret:
        raise failures.error("auth_failed", "{where} needs a key. Add one, then test again.")
    headers = pool.key_headers(known.wire, secret)
    asking = pool.http_client(
        headers, idle=limits.PROBE_SECONDS, guarded=True, whole=limits.MODEL_LIST_BYTES
    )
    async with asking:
        questions = _Questions(known, root, asking, failures)
        if known.key_check:
            await questions.check_key()
        models = await questions.models()
        if model and not _is_listed(model, models):
            await questions.check_model(model)
    told = f"The key works; {len(models)} models are listed."
    return ProbeResult(ok=True, error_class="", words=told, models=models)


@dataclass(frozen=True)
class _Questions:
    """What is asked of one provider with one key."""

    known: catalog.Provider
    root: str
    http: httpx2.AsyncClient
    failures: Failures

    async def check_key(self) -> None:
        """Ask what only a good key may; a server that does not know the question has no say."""
        response = await self._get(self.known.key_check)
        if response.status_code != 404:
            self._judge(response)

    async def models(self) -> tuple[str, ...]:
        response = await self._get(
            self._models_path, {"limit": "1000"} if self._is_messages else {}
        )
        if response.status_code == 404:
            raise self.failures.error(
                "invalid_response",
                "{where} has no list of models there. Check {address}: it often ends in /v1.",
            )
        self._judge(response)
        try:
            return _names(json.loads(response.content))
        except (ValueError, RecursionError):
            raise self.failures.rubbish("the list of models does not parse") from None

    async def check_model(self, model: str) -> None:
        """A name may be known though it is not listed, such as an alias."""
        response = await self._get(f"{self._models_path}/{quote(model)}")
        if response.status_code == 404:
            raise self.failures.status(404, {}, {})
        self._judge(response)

    @property
    def _is_messages(self) -> bool:
        return self.known.wire == "anthropic"

    @property
    def _models_path(self) -> str:
        return "v1/models" if self._is_messages else "models"

    async def _get(self, path: str, query: dict[str, str] | None = None) -> httpx2.Response:
        return await self.http.get(f"{self.root}/{path}", params=query or None)

    def _judge(self, response: httpx2.Response) -> None:
        status = 401 if response.status_code in self.known.bad_key else response.status_code
        if status >= 300:
            raise self.failures.status(status, _body(response), response.headers)


def _body(response: httpx2.Response) -> Any:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        return None


def _names(body: Any) -> tuple[str, ...]:
    """The names in a list of models; ValueError when it is none."""
    listed = body.get("data") if isinstance(body, dict) else None
    if not isinstance(listed, list):
        raise ValueError("no list of models")
    found = (each.get("id") for each in listed if isinstance(each, dict))
    names = {_name(each) for each in found if isinstance(each, str)} - {""}
    return tuple(sorted(names)[: limits.MODEL_LIST_NAMES])


def _name(listed: str) -> str:
    """A model's name as calls use it; empty when it is none that anybody could type."""
    name = listed.removeprefix("models/")
    return name if name.isprintable() and len(name) <= _NAME_CHARACTERS else ""


def _is_listed(model: str, models: tuple[str, ...]) -> bool:
    """True also for a variant of a listed name, as some providers write behind a colon."""
    return not {model, model.partition(":")[0], f"{model}:latest"}.isdisjoint(models)


def _failed(error: ProviderError) -> ProbeResult:
    kind = _OF_ANOTHER_KIND.get(error.code, error.code)
    return ProbeResult(ok=False, error_class=kind, words=error.message)
