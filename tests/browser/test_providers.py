"""A key's whole life by keyboard: added, tested, chosen, asked, replaced, revoked.

Whatever the server sends on the way is kept and searched: a key goes in and never comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from playwright.sync_api import Page, expect

from apps.audit.models import Event
from apps.guilds.models import Member
from apps.providers.models import Credential, ModelProfile
from evals.model_server import ModelServer

from .conftest import _until as until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("worker", "faults")]
WRONG = "sk-canary-wrong-5d41402abc4b2a76"
RIGHT = "sk-canary-right-7d793037a0760186"
NEXT = "sk-canary-next-9f86d081884c7d65"
SOON = 20_000
SENT: list[str] = []


def keep(get_response: Callable[[HttpRequest], HttpResponse]) -> Any:
    """Middleware that keeps every answer of the server, its headers too."""

    def kept(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        body = b"" if response.streaming else response.content
        SENT.append(f"{response.headers}\n{body.decode(errors='replace')}")
        return response

    return kept


@pytest.fixture(autouse=True)
def sent(settings: Any) -> Iterator[list[str]]:
    """What the server sent; set before the server of the test starts."""
    settings.MIDDLEWARE = [f"{__name__}.keep", *settings.MIDDLEWARE]
    SENT.clear()
    yield SENT
    assert len(SENT) > 5
    everything = "\n".join(SENT)
    assert [key for key in (WRONG, RIGHT, NEXT) if key in everything] == []


@pytest.fixture
def provider(settings: Any) -> Iterator[ModelServer]:
    """A provider on loopback that takes one key, and says it back among its models."""
    settings.PROVIDER_ALLOWED_HOSTS = ["127.0.0.1"]
    settings.LLM_INPUT_PRICE = settings.LLM_OUTPUT_PRICE = 1
    rules = [{"reply": {"text": "A test pressing, signed."}}]
    script = {"rules": rules, "api_key": RIGHT, "models": ["lantern-small", RIGHT]}
    with ModelServer(script) as server:
        yield server


def add(page: Page, server: ModelServer, label: str, key: str) -> None:
    """Fill the form as somebody does who never leaves the keyboard."""
    page.get_by_label("Provider", exact=True).select_option("custom")
    page.get_by_label("Label", exact=True).focus()
    page.keyboard.type(label)
    page.keyboard.press("Tab")
    page.keyboard.type(key)
    page.keyboard.press("Tab")
    page.keyboard.type(f"{server.base_url}/v1")
    page.keyboard.press("Enter")


def test_the_life_of_a_key(
    page: Page, signed_in: str, member: Member, provider: ModelServer, own_db: str
):
    page.goto(f"{signed_in}/providers/")
    add(page, provider, WRONG, WRONG)
    expect(page.get_by_text("That looks like a secret")).to_be_visible()
    expect(page.get_by_label("Key", exact=True)).to_have_value("")
    expect(page.get_by_label("Label", exact=True)).to_have_value("")
    page.get_by_label("Base URL", exact=True).fill("")
    add(page, provider, "Back room", WRONG)

    health = page.locator("#health")
    expect(health).to_contain_text("The provider refuses the key", timeout=SOON)
    expect(page.locator(".facts")).to_contain_text("auth_failed")
    page.goto(f"{signed_in}/providers/")
    expect(page.locator(".notice.bad")).to_contain_text("“Back room”: The provider refuses the key")

    page.get_by_role("link", name="Replace Back room").click()
    page.get_by_label("New key").focus()
    page.keyboard.type(RIGHT)
    page.keyboard.press("Enter")
    expect(health).to_contain_text("The key works", timeout=SOON)

    expect(page.locator(".facts")).to_contain_text("1 model")
    page.get_by_role("link", name="Choose a model").click()
    offered = page.locator("#suggestions option").evaluate_all("all => all.map(one => one.value)")
    assert offered == ["lantern-small"]
    page.get_by_label("Model", exact=True).focus()
    page.keyboard.type("lantern-small")
    page.keyboard.press("Enter")
    expect(page.locator("tbody tr").first).to_contain_text("lantern-small")
    expect(page.locator("tbody tr").first).to_contain_text("Back room")
    profile = ModelProfile.objects.get()
    assert (profile.purpose, profile.model, profile.enabled) == ("chat", "lantern-small", True)
    tests = Event.objects.filter(kind="credential_test").order_by("at", "pk")
    until(lambda: tests.count() == 3, "the test of the chosen model")

    page.goto(signed_in)
    page.keyboard.press("/")
    page.keyboard.type("What did Mrs Quill order?")
    page.keyboard.press("Enter")
    run = page.locator(".run").first
    expect(run).to_have_attribute("data-status", "succeeded", timeout=SOON)
    expect(run.locator(".answer")).to_contain_text("A test pressing, signed.")
    expect(run.locator("footer")).to_contain_text("lantern-small")

    page.goto(f"{signed_in}/providers/models/")

    page.get_by_role("link", name="Back room").first.click()
    page.get_by_role("link", name="Replace").click()
    page.get_by_label("New key").focus()
    page.keyboard.type(NEXT)
    page.keyboard.press("Enter")
    expect(health).to_contain_text("The provider refuses the key", timeout=SOON)
    page.get_by_role("button", name="Test again").press("Enter")
    expect(health).to_contain_text("Testing the key")
    expect(health).to_contain_text("The provider refuses the key", timeout=SOON)

    page.get_by_role("link", name="Revoke").click()
    expect(page.get_by_text("Stops with it")).to_be_visible()
    page.get_by_role("button", name="Revoke the key").press("Enter")
    expect(page.get_by_text("No key yet")).to_be_visible()
    key = Credential.objects.get()
    assert (key.status, key.ciphertext) == ("revoked", None)
    assert not ModelProfile.objects.filter(enabled=True).exists()
    assert [each.status for each in tests] == ["failed", *["succeeded"] * 2, *["failed"] * 2]
