"""The main job, as a person does it: ask, watch, reload, stop, check, take along."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, expect

from apps.agents.models import Run
from apps.guilds.models import Member
from tests.agents.conftest import scripted
from tests.shop_rows import make_shop

__all__ = ["scripted"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("worker", "faults")]
QUESTION = "What's under $10 that hasn't sold in 90 days?"
DONE = 20_000


@pytest.fixture
def shop(member: Member, own_db: str) -> Any:
    return make_shop(member.guild)


def ask(page: Page, question: str) -> None:
    """By keyboard alone: ``/`` goes to the composer, Enter sends."""
    page.keyboard.press("/")
    page.keyboard.type(question)
    page.keyboard.press("Enter")


def answered(page: Page, nth: int = 0) -> Any:
    """The nth run of the page, once its answer is there."""
    run = page.locator(".run").nth(nth)
    expect(run).to_have_attribute("data-status", "succeeded", timeout=DONE)
    return run


def test_ask_watch_check_and_take_along(page: Page, signed_in: str, shop: Any, context: Any):
    page.goto(signed_in)
    expect(page.get_by_role("heading", name="Ask the shop something")).to_be_visible()
    ask(page, QUESTION)
    run = answered(page)

    expect(run.get_by_role("heading", name=QUESTION)).to_be_visible()
    expect(run.locator(".trace summary")).to_contain_text(re.compile(r"stock_search.*6 rows"))
    run.locator(".trace summary").click()
    expect(run.locator(".step").first).to_contain_text(re.compile(r"price_max=10.*6 rows"))
    expect(run.locator(".answer")).to_contain_text("6")
    expect(run.locator(".answer .flagged")).to_have_count(0)
    expect(run.locator("tbody tr")).to_have_count(6)
    expect(run.locator(".foot").first).to_contain_text("As of")
    expect(run.locator("footer")).to_contain_text("house model (no key)")
    expect(page.locator("#live")).to_have_text("Answer finished: succeeded.")
    expect(page.locator("#act")).to_contain_text("Ask")
    expect(page.locator("#threads .thread").first).to_contain_text("under $10")

    run.get_by_role("link", name="Price").click()
    expect(run.locator("th[aria-sort=ascending]")).to_contain_text("Price")
    expect(run.locator("tbody tr").first).to_contain_text("$2.79")

    run.locator("tbody th a").first.click()
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("heading", name="Plot 19")).to_be_focused()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(run.locator("tbody th a").first).to_be_focused()

    context.grant_permissions(["clipboard-read", "clipboard-write"])
    run.get_by_role("link", name="CSV").click()
    expect(page.locator(".toast")).to_contain_text("Copied 6 rows as CSV")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[0].startswith("Artist,Title,")
    assert "Night Allotment,Plot 19," in copied.splitlines()[1]

    run.get_by_role("link", name="Open all 6").click()
    expect(page).to_have_url(re.compile(r"/stock/\?.*price_max=10"))
    expect(page.locator("tbody tr")).to_have_count(6)


def test_a_citation_opens_its_row_and_a_deleted_one_its_tombstone(
    page: Page, signed_in: str, shop: Any, member: Member
):
    from tests.chat import rows

    item = shop[0]
    first: Any = rows.ROWS[0]
    table = rows.result(rows=[first | {"ref": f"stock:{item.pk}"}])
    run = rows.finished_run(member, answer=f"See [stock:{item.pk}].", table=table)
    page.goto(f"{signed_in}/threads/{run.thread_id}/")
    page.locator(".answer .cite").click()
    expect(page.locator("#drawer h2")).to_have_text("Weathervane")
    page.keyboard.press("Escape")
    item.delete()
    page.locator(".answer .cite").click()
    expect(page.locator("#drawer h2")).to_have_text("This row is gone")


def test_an_answer_survives_a_reload_in_the_middle(
    page: Page, signed_in: str, shop: Any, scripted: Any, member: Member
):
    page.goto(signed_in)
    ask(page, "Tell me slowly what we have")
    delta = page.locator(".delta")
    expect(delta).to_have_text(re.compile(r"(\S+\s+){4,}"), timeout=DONE)
    before = delta.inner_text()
    page.reload()
    expect(delta).to_have_text(re.compile(r"(\S+\s+){8,}"), timeout=DONE)
    middle = delta.inner_text()
    run = answered(page)
    whole = Run.objects.get().answer
    assert whole.startswith(before.strip())
    assert whole.startswith(middle.strip())
    expect(run.locator(".answer")).to_have_text(whole)
    expect(page.locator(".run")).to_have_count(1)
    assert Run.objects.get().attempt == 1


HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def test_a_hidden_tab_closes_its_stream_and_goes_on_where_it_stood(
    page: Page, signed_in: str, shop: Any, scripted: Any
):
    page.goto(signed_in)
    ask(page, "Tell me slowly what we have")
    delta = page.locator(".delta")
    expect(delta).to_have_text(re.compile(r"(\S+\s+){4,}"), timeout=DONE)
    page.evaluate(HIDE, True)
    page.wait_for_timeout(150)
    hidden = delta.inner_text()
    page.wait_for_timeout(600)
    assert delta.inner_text() == hidden
    page.evaluate(HIDE, False)
    expect(delta).to_have_text(re.compile(r"(\S+\s+){14,}"), timeout=DONE)
    shown = delta.inner_text()
    run = answered(page)
    whole = Run.objects.get().answer
    assert whole.startswith(shown.strip())
    expect(run.locator(".answer")).to_have_text(whole)


def test_stop_ends_the_work_within_a_second(page: Page, signed_in: str, shop: Any, scripted: Any):
    page.goto(signed_in)
    ask(page, "Ask the silent provider")
    stop = page.get_by_role("button", name="Stop")
    expect(page.locator(".trace summary")).to_contain_text("Running", timeout=DONE)
    page.wait_for_timeout(500)
    stop.click()
    run = page.locator(".run")
    expect(run).to_have_attribute("data-status", "canceled", timeout=DONE)
    expect(run.locator(".notice")).to_contain_text("Stopped by Ada Quill")
    row = Run.objects.get()
    assert row.cancel_requested_at
    assert row.finished_at
    assert (row.finished_at - row.cancel_requested_at).total_seconds() < 1
    expect(page.locator("#act")).to_contain_text("Ask")


def test_a_failing_provider_is_told_in_words_and_asked_again(
    page: Page, signed_in: str, shop: Any, scripted: Any
):
    page.goto(signed_in)
    ask(page, "This provider is broken")
    run = page.locator(".run").first
    expect(run).to_have_attribute("data-status", "failed", timeout=DONE)
    expect(run.locator(".notice")).to_contain_text("The model’s provider failed")
    run.get_by_role("button", name="Try again").click()
    expect(page.locator(".run")).to_have_count(2)
    expect(page.locator(".run").nth(1)).to_have_attribute("data-status", "failed", timeout=DONE)


def test_the_second_question_is_appended_and_the_draft_survives(
    page: Page, signed_in: str, shop: Any
):
    page.goto(signed_in)
    ask(page, "slow stock")
    answered(page)
    page.keyboard.press("/")
    page.keyboard.type("how many items")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("are priced under $10?")
    page.reload()
    box = page.locator("#question")
    expect(box).to_have_value("how many items\nare priced under $10?")
    box.press("Enter")
    run = answered(page, 1)
    expect(run.locator(".answer")).to_contain_text("6")
    expect(box).to_have_value("")
    page.reload()
    expect(page.locator(".run")).to_have_count(2)
    expect(box).to_have_value("")


def test_a_question_that_is_too_long_is_refused_and_kept(page: Page, signed_in: str, shop: Any):
    page.goto(signed_in)
    ask(page, "slow stock")
    answered(page)
    box = page.locator("#question")
    box.fill("x" * 100_001)
    box.press("Enter")
    expect(page.locator("#ask-error")).to_contain_text("at most 100,000 fit")
    assert len(box.input_value()) == 100_001
    box.fill("how many items are priced under $10?")
    box.press("Enter")
    answered(page, 1)
    expect(page.locator("#ask-error")).to_have_count(0)


def test_who_was_signed_out_meanwhile_comes_back_to_the_draft(
    page: Page, signed_in: str, shop: Any, member: Member
):
    page.goto(signed_in)
    ask(page, "slow stock")
    answered(page)
    Session.objects.all().delete()
    ask(page, "this week's sales")
    expect(page).to_have_url(re.compile(r"/sign-in/\?next="))
    page.get_by_label("E-mail").fill("ada@example.com")
    page.get_by_label("Password").fill("correct horse battery")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".run")).to_have_count(1)
    expect(page.locator("#question")).to_have_value("this week's sales")


def test_chips_ask_at_once(page: Page, signed_in: str, shop: Any):
    page.goto(signed_in)
    page.get_by_role("button", name="slow stock").or_(
        page.get_by_role("button", name="how many items are priced under $10?")
    ).first.click()
    answered(page)
    page.get_by_role("button", name="this week’s sales").click()
    answered(page, 1)


def test_works_without_a_script_except_the_stream(
    browser: Any, signed_in: str, context: BrowserContext, shop: Any
):
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.goto(signed_in)
    page.locator("#question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page).to_have_url(re.compile(r"/threads/[0-9a-f-]{36}/$"))
    for _ in range(40):
        if page.locator(".run[data-status=succeeded]").count():
            break
        page.wait_for_timeout(250)
        page.reload()
    run = answered(page)
    run.get_by_role("link", name="Price").click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Price")
    page.locator("tbody th a").first.click()
    expect(page.locator("#drawer h2")).to_have_text("Plot 19")
    plain.close()
