"""Every page at phone and desk width, light and dark: it fits, and it breaks no rule."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from apps.guilds.models import Member
from apps.guilds.operations import make_sign_in_link
from apps.providers import operations as providers
from apps.providers.models import Credential
from tests.chat import rows
from tests.shop_rows import make_shop

from .conftest import Faults, sign_in

pytestmark = pytest.mark.browser
SHAPES = [(390, "light"), (390, "dark"), (1440, "light"), (1440, "dark")]


@pytest.fixture
def addresses(member: Member, own_db: str) -> list[str]:
    """One of each page, filled."""
    items = make_shop(member.guild, is_demo=True, copies=3)
    run = rows.finished_run(member)
    failed = rows.ended_run(member, "failed", "provider_failed", "x" * 300)
    key = make_key(member)
    lists = ["/threads/new/", "/threads/", "/runs/", "/stock/", "/releases/", "/sales/", "/wants/"]
    return [
        *lists, "/stock/?q=nothing-like-it", "/import/", "/jobs/", "/usage/",
        f"/threads/{run.thread_id}/", f"/threads/{failed.thread_id}/", f"/runs/{run.pk}/",
        f"/stock/{items[0].pk}/", f"/releases/{items[0].release_id}/",
        "/providers/", "/providers/models/", "/providers/models/chat/", "/providers/policy/",
        *(f"/providers/{key.pk}/{part}" for part in ("", "replace/", "revoke/")),
    ]  # fmt: skip


def make_key(member: Member) -> Credential:
    """A key that failed its test and has a model, with the longest names there are."""
    key = providers.add_credential(
        guild=member.guild, provider="custom", label="Back room box under the stairs " + "W" * 20,
        secret="sk-canary-0123456789abcdef", actor=member,
        base_url="https://models.lantern-street-records.example/very/long/path/to/v1",
    )  # fmt: skip
    model = "lantern/mixture-of-experts-instruct-" + "x" * 60
    for purpose in ("chat", "embedding"):
        providers.select_model(
            guild=member.guild, purpose=purpose, credential=key, model=model, actor=member
        )
    providers.record_test(key, "auth_failed")
    return key


@pytest.mark.parametrize(("width", "scheme"), SHAPES)
def test_no_page_scrolls_sideways_or_complains(
    browser: Browser, house: str, member: Member, addresses: list[str], width: int, scheme: Any
):
    size: Any = {"width": width, "height": 844}
    context = browser.new_context(viewport=size, color_scheme=scheme)
    assert member.user
    sign_in(context, house, member.user)
    page = context.new_page()
    faults = Faults(page)
    wide = []
    for address in addresses:
        page.goto(house + address)
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        wide += [(address, over)] if over > 0 else []
        unnamed = page.evaluate(UNNAMED)
        assert unnamed == [], (address, unnamed)
    assert (wide, faults.found) == ([], [])
    context.close()


# Whatever can be pressed or filled says what it is, and no id is used twice.
UNNAMED = """() => {
  const seen = new Set(), faults = [];
  for (const e of document.querySelectorAll('[id]')) {
    if (seen.has(e.id)) faults.push('twice: ' + e.id);
    seen.add(e.id);
  }
  const all = 'a[href], button, input:not([type=hidden]), select, textarea';
  for (const e of document.querySelectorAll(all)) {
    const label = e.labels && [...e.labels].map(l => l.textContent).join('');
    const name = (e.getAttribute('aria-label') || label || e.textContent || '').trim();
    if (!name) faults.push(e.outerHTML.slice(0, 80));
  }
  for (const e of document.querySelectorAll('[style]')) faults.push('style: ' + e.outerHTML);
  return faults;
}"""


def test_the_one_time_link_opens_the_gate_once(
    page: Page, house: str, member: Member, settings: Any, faults: Faults
):
    settings.DEBUG = True
    assert member.user
    link = f"{house}/sign-in/{make_sign_in_link(member.user)}/"
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Ask the shop something")).to_be_visible()
    expect(page.get_by_text("Ada Quill")).to_be_visible()


def test_phone_rooms_open_as_a_sheet_and_threads_too(
    page: Page, signed_in: str, member: Member, faults: Faults
):
    page.set_viewport_size({"width": 390, "height": 844})
    rows.finished_run(member)
    page.goto(signed_in)
    page.get_by_role("button", name="More").click()
    expect(page.get_by_role("link", name="Usage")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Usage")).to_be_hidden()
    page.get_by_role("button", name="Threads").click()
    page.locator("#threads .thread").first.click()
    expect(page.locator(".answer")).to_be_visible()


def test_the_theme_is_kept(page: Page, signed_in: str, faults: Faults):
    page.goto(signed_in)
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.wait_for_timeout(300)
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")


def test_keys_walk_rows_and_can_be_turned_off(
    page: Page, signed_in: str, member: Member, faults: Faults
):
    make_shop(member.guild)
    page.goto(f"{signed_in}/stock/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("tbody th a").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#drawer h2")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("tbody th a").nth(1)).to_be_focused()
    page.keyboard.press("?")
    page.get_by_label("Single-key shortcuts on").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("tbody th a").nth(1)).to_be_focused()
