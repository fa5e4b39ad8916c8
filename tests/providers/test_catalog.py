"""The providers there are, and that nobody loads an SDK before it calls one."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.providers import addresses, catalog
from apps.providers.clients.calling import WireClient
from apps.usage import prices
from tests.agents.workers import environment

ROOT = Path(__file__).resolve().parents[2]
SEALED = """
import socket, sys
def refuse(*told, **more):
    raise AssertionError("a socket was opened while importing")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
{load}
print(sorted(name for name in ("anthropic", "openai") if name in sys.modules))
"""


def test_every_provider_is_whole() -> None:
    assert catalog.names() == ("openai", "anthropic", "gemini", "openrouter", "custom")
    for provider in catalog.PROVIDERS.values():
        assert provider.label
        assert provider.wire in catalog.ADAPTERS
        assert provider.takes_base_url is (provider.name == "custom")
        offered = {purpose for purpose, models in provider.suggestions.items() if models}
        assert "embedding" not in offered or provider.capabilities.embeddings


@pytest.mark.parametrize("name", [name for name in catalog.names() if name != "custom"])
def test_own_address_of_a_provider_is_safe_and_known(name: str) -> None:
    provider = catalog.get(name)
    assert addresses.checked(provider.base_url) == provider.base_url
    host = provider.base_url.split("/")[2]
    assert catalog.name_of_host(host.upper()) == name
    assert catalog.name_of_host(f"{host}.example.com") is None


@pytest.mark.parametrize("name", catalog.names())
def test_every_suggestion_has_a_price(settings: Settings, name: str) -> None:
    """A model without a known price is refused, so it is no good advice."""
    settings.LLM_INPUT_PRICE = settings.LLM_OUTPUT_PRICE = None
    for models in catalog.get(name).suggestions.values():
        for model in models:
            price = prices.worst_case(
                name,
                model,
                input_tokens=10**6,
                output_tokens=0,
                at=datetime(2026, 6, 1, tzinfo=UTC),
            )
            assert price > 0


def test_unknown_provider_is_told_with_those_there_are() -> None:
    with pytest.raises(catalog.UnknownProvider, match="openai, anthropic, gemini") as caught:
        catalog.get("x" * 500)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_adapter_of_a_wire_speaks_it(wire: catalog.WireName) -> None:
    adapter = catalog.adapter(wire)
    assert issubclass(adapter, WireClient)
    assert adapter.wire == wire


def loaded_by(load: str) -> str:
    """Which SDKs a fresh interpreter has after this, with no socket to be opened."""
    done = subprocess.run(
        [sys.executable, "-c", SEALED.format(load=load)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


SETUP = "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; "


@pytest.mark.django_db
@pytest.mark.parametrize(
    "load",
    [
        SETUP + "import config.asgi, config.urls, apps.llm.gateway",
        SETUP + "django.setup(); import config.celery, apps.agents.tasks, apps.providers.tasks",
        SETUP + "django.setup(); import apps.providers.probe, apps.providers.resolver",
    ],
    ids=["web", "worker", "probe"],
)
def test_entry_point_loads_no_sdk_and_opens_no_socket(load: str) -> None:
    assert loaded_by(load) == "[]"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("provider", "loaded"), [("anthropic", "['anthropic']"), ("gemini", "['openai']")]
)
def test_worker_loads_only_the_sdk_that_its_call_needs(provider: str, loaded: str) -> None:
    load = SETUP + (
        "django.setup(); from apps.providers import registry; "
        f"registry.client_of({provider!r}, '', 'sk-canary')"
    )
    assert loaded_by(load) == loaded
