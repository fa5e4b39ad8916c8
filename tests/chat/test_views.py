"""Ask by its addresses: pages, asking, stopping, asking again, and whose threads these are."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from apps.agents.models import QUESTION_LIMIT, Run, Thread
from apps.guilds import operations as guilds

from .rows import ended_run, finished_run, live_run, result, thread_of, tool_step

pytestmark = pytest.mark.django_db
HTMX = {"headers": {"HX-Request": "true"}}


@pytest.fixture
def asker(client, ada):
    client.force_login(ada)
    return client


def text(response) -> str:
    return response.content.decode()


def test_the_empty_page_offers_the_tools_own_examples(asker, member):
    body = text(asker.get("/threads/new/"))
    assert 'action="/ask/"' in body
    assert "what&#x27;s under $10 that hasn&#x27;t sold in 90 days?" in body
    assert "this week&#x27;s sales" in body


def test_examples_of_tools_that_a_member_may_not_use_are_not_offered(client, clerk, guild):
    for capability in ("agent.ask", "shop.read"):
        guilds.grant(clerk.members.get(), capability, actor=None)
    client.force_login(clerk)
    body = text(client.get("/threads/new/"))
    assert "this week&#x27;s sales" in body
    assert "who wants release" not in body


def test_a_first_question_starts_a_thread(asker, member, django_capture_on_commit_callbacks):
    response = asker.post("/ask/", {"question": " slow stock?\r\nplease "})
    run = Run.objects.get()
    assert response.status_code == 302
    assert response.url == f"/threads/{run.thread_id}/"
    assert (run.status, run.member) == ("queued", member)
    assert run.thread.title == "slow stock? please"


def test_ask_returns_the_run_connected_to_its_stream(asker, member):
    thread = thread_of(member)
    body = text(asker.post(f"/threads/{thread.pk}/ask/", {"question": "slow stock?"}, **HTMX))
    run = Run.objects.get()
    assert f'id="run-{run.pk}"' in body
    assert f'sse-connect="/runs/{run.pk}/stream/?after=' in body
    assert f'hx-post="/runs/{run.pk}/cancel/"' in body
    assert 'id="spend"' in body
    assert 'hx-swap-oob="true"' in body


def test_ask_without_a_script_goes_back_to_the_thread(asker, member):
    thread = thread_of(member)
    response = asker.post(f"/threads/{thread.pk}/ask/", {"question": "slow stock?"})
    assert response.url == f"/threads/{thread.pk}/#run-{Run.objects.get().pk}"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("x" * (QUESTION_LIMIT + 1), "100,001 characters; at most 100,000 fit"),
        ("   ", "Write a question first."),
        ("a\x00b", "NUL character"),
    ],
)
@pytest.mark.parametrize("htmx", [{}, HTMX])
def test_a_bad_question_is_refused_in_words_and_kept(asker, member, question, words, htmx):
    thread = thread_of(member)
    for path in (f"/threads/{thread.pk}/ask/", "/ask/"):
        response = asker.post(path, {"question": question}, **htmx)
        assert response.status_code == 422
        assert words in text(response)
        assert question.replace("\x00", "").strip() in text(response)
    assert not Run.objects.exists()


def test_a_question_of_a_hundred_thousand_characters_fits(asker, member):
    thread = thread_of(member)
    question = "é" * QUESTION_LIMIT
    response = asker.post(f"/threads/{thread.pk}/ask/", {"question": question}, **HTMX)
    assert response.status_code == 200
    assert Run.objects.get().question == question
    assert "Show all 100000 characters" in text(response)


def test_one_answer_at_a_time_in_a_thread(asker, member):
    run = live_run(member)
    response = asker.post(f"/threads/{run.thread_id}/ask/", {"question": "and now?"}, **HTMX)
    assert response.status_code == 422
    assert "still being answered" in text(response)
    assert "and now?" in text(response)
    assert response["HX-Retarget"] == "#composer"
    assert Run.objects.count() == 1


def test_stop_ends_a_queued_run_and_says_by_whom(asker, member):
    run = live_run(member)
    response = asker.post(f"/runs/{run.pk}/cancel/", **HTMX)
    body = text(response)
    run.refresh_from_db()
    assert run.status == "canceled"
    assert "Stopped by Ada Quill" in body
    assert response["HX-Reswap"] == "outerHTML"
    assert "data-send" in body
    assert asker.post(f"/runs/{run.pk}/cancel/").url == f"/threads/{run.thread_id}/"


def test_retry_asks_the_same_question_as_a_new_run(asker, member):
    run = ended_run(member, "failed", "provider_failed", "The provider did not answer in 20 s.")
    body = text(asker.post(f"/runs/{run.pk}/retry/", **HTMX))
    again = Run.objects.exclude(pk=run.pk).get()
    assert (again.question, again.retry_of) == (run.question, run)
    assert f'id="run-{again.pk}"' in body


def test_a_finished_run_shows_trace_answer_table_proof_and_cost(asker, member):
    run = finished_run(member)
    body = text(asker.get(f"/threads/{run.thread_id}/"))
    assert "stock_search" in body
    for argument in ("price_max=10", "not_sold_days=90", "sort=&quot;listed&quot;"):
        assert argument in body
    assert "47 rows" in body
    assert f'id="{run.pk}-r1-sum"' in body
    assert f'href="#{run.pk}-r1-sum">$256.39</a>' in body
    assert 'class="cite" href="/drawer/stock/1/"' in body
    assert "12 Nov 2026, 10:42 WET" in body
    assert "3 of 47 rows are shown" in body
    assert "=HYPERLINK(1)" in body
    assert "sse-connect" not in body
    assert "house model (no key)" in body


def test_an_answer_cannot_smuggle_markup_or_images(asker, member):
    answer = "<script>x</script> <img src=//evil.example/a> ![a](https://evil.example/b.png) [c](https://evil.example)"
    body = text(asker.get(f"/threads/{finished_run(member, answer=answer).thread_id}/"))
    assert "<script>x" not in body
    assert "<img" not in body
    assert 'href="https://evil.example' not in body


@pytest.mark.parametrize(
    ("status", "reason", "shown"),
    [
        ("failed", "provider_failed", "The model’s provider failed"),
        ("failed", "daily_budget", "See the budget"),
        ("failed", "step_limit", "Stopped after eight turns"),
        ("denied", "permission_denied", "Not allowed"),
        ("failed", "executor_failed", "An error of ours"),
        ("failed", "", "The run failed"),
    ],
)
def test_a_run_without_an_answer_says_why(asker, member, status, reason, shown):
    run = ended_run(member, status, reason, "Because of the weather.")
    body = text(asker.get(f"/threads/{run.thread_id}/"))
    assert shown in body
    assert "Because of the weather." in body
    assert "Try again" in body


def test_table_sorts_by_link_and_as_a_fragment(asker, member):
    run = finished_run(member)
    address = f"/runs/{run.pk}/steps/{tool_step(run).pk}/table/?sort=price&dir=desc"
    fragment = text(asker.get(address, **HTMX))
    assert fragment.lstrip().startswith("{#") is False
    assert "<html" not in fragment
    assert fragment.index("=HYPERLINK(1)") < fragment.index("Weathervane")
    assert 'aria-sort="descending"' in fragment
    assert "<html" in text(asker.get(address))


def test_csv_downloads_without_formulas(asker, member):
    run = finished_run(member)
    response = asker.get(f"/runs/{run.pk}/steps/{tool_step(run).pk}/table.csv")
    assert response["Content-Type"].startswith("text/csv")
    assert 'filename="under-10-not-sold-in-90-days.csv"' in response["Content-Disposition"]
    assert "'=HYPERLINK(1),10.00," in text(response)
    assert asker.get(f"{response.request['PATH_INFO']}?bom=1").content.startswith(b"\xef\xbb\xbf")


def test_markdown_downloads(asker, member):
    run = finished_run(member)
    response = asker.get(f"/runs/{run.pk}/steps/{tool_step(run).pk}/table.md")
    assert text(response).startswith("| Item | Price |")


def test_a_step_without_a_table_has_none(asker, member):
    run = finished_run(member)
    first = run.steps.get(index=0)
    assert asker.get(f"/runs/{run.pk}/steps/{first.pk}/table.csv").status_code == 404


def test_an_empty_result_says_so(asker, member):
    run = finished_run(member, table=result(rows=[], total_rows=0, totals={}, cut=[]))
    body = text(asker.get(f"/threads/{run.thread_id}/"))
    assert "No row fits." in body
    assert "table.csv" not in body


def test_rename_and_delete_a_thread(asker, member):
    run = finished_run(member)
    thread = run.thread
    asker.post(f"/threads/{thread.pk}/rename/", {"title": "Bargain bin"})
    thread.refresh_from_db()
    assert thread.title == "Bargain bin"
    assert "Bargain bin" in text(asker.get("/threads/"))
    asked = asker.get(f"/threads/{thread.pk}/delete/")
    assert "gone for good" in text(asked)
    assert Thread.objects.exists()
    assert asker.post(f"/threads/{thread.pk}/delete/").url == "/threads/"
    assert not Run.objects.exists()


def test_runs_and_one_run(asker, member):
    run = finished_run(member)
    assert f"/runs/{run.pk}/" in text(asker.get("/runs/"))
    body = text(asker.get(f"/runs/{run.pk}/"))
    assert "wants 1 call" in body
    assert "stock_search(" in body
    assert asker.get(f"/runs/{run.pk}/fragment/").url == f"/runs/{run.pk}/"
    assert "<html" not in text(asker.get(f"/runs/{run.pk}/fragment/", **HTMX))
    assert "<html" not in text(asker.get(f"/runs/{run.pk}/trace/"))


def addresses(run: Run) -> list[tuple[str, str]]:
    """Every address that names a thread or a run, with its method."""
    step = tool_step(run).pk
    return [
        ("get", reverse("chat:thread", args=[run.thread_id])),
        ("post", reverse("chat:ask", args=[run.thread_id])),
        ("post", reverse("chat:rename", args=[run.thread_id])),
        ("get", reverse("chat:delete", args=[run.thread_id])),
        ("post", reverse("chat:delete", args=[run.thread_id])),
        ("get", reverse("chat:run", args=[run.pk])),
        ("get", reverse("chat:run-fragment", args=[run.pk])),
        ("get", reverse("chat:trace", args=[run.pk])),
        ("post", reverse("chat:cancel", args=[run.pk])),
        ("post", reverse("chat:retry", args=[run.pk])),
        ("get", reverse("chat:table", args=[run.pk, step])),
        ("get", reverse("chat:table-csv", args=[run.pk, step])),
        ("get", reverse("chat:table-md", args=[run.pk, step])),
    ]


def test_strangers_find_nothing(client, member, stranger):
    run = finished_run(member)
    client.force_login(stranger)
    answers = {
        path: getattr(client, method)(path, {"question": "x", "title": "x"}).status_code
        for method, path in addresses(run)
    }
    assert set(answers.values()) == {404}
    assert Run.objects.count() == 1


def test_a_thread_is_its_askers_alone(client, member, clerk):
    guilds.grant(clerk.members.get(), "agent.ask", actor=None)
    run = finished_run(member)
    client.force_login(clerk)
    answers = {
        path: getattr(client, method)(path, {"question": "x", "title": "x"}).status_code
        for method, path in addresses(run)
    }
    assert set(answers.values()) == {404}
    assert "Slow stock" not in text(client.get("/threads/"))
    assert "slow stock" not in text(client.get("/runs/"))


def test_without_the_capability_ask_is_closed(client, clerk):
    client.force_login(clerk)
    for path in ("/threads/new/", "/threads/", "/runs/"):
        response = client.get(path)
        assert response.status_code == 403
        assert "agent.ask" in text(response)
    assert client.post("/ask/", {"question": "x"}).status_code == 403
    assert not Run.objects.exists()


def test_signed_out_is_sent_to_the_door(client):
    assert client.get("/threads/new/").url == "/sign-in/?next=/threads/new/"


def queries(client, path, django_assert_max_num_queries, most):
    with django_assert_max_num_queries(most):
        assert client.get(path).status_code == 200


def test_lists_do_not_query_by_row(asker, member, django_assert_max_num_queries):
    thread = thread_of(member)
    for _ in range(6):
        finished_run(member, thread)
        thread_of(member)
    queries(asker, f"/threads/{thread.pk}/", django_assert_max_num_queries, 18)
    queries(asker, "/threads/", django_assert_max_num_queries, 14)
    queries(asker, "/runs/", django_assert_max_num_queries, 12)


def test_a_second_click_on_a_first_question_starts_no_second_thread(asker, member):
    page = text(asker.get("/threads/new/"))
    form = {
        "question": "slow stock",
        "thread": re.search(r'name="thread" value="([^"]+)"', page)[1],
    }
    first, second = asker.post("/ask/", form), asker.post("/ask/", form)
    assert first.url == second.url
    assert (Thread.objects.count(), Run.objects.count()) == (1, 1)


def test_a_thread_id_of_somebody_else_is_not_taken_over(asker, member, clerk):
    guilds.grant(clerk.members.get(), "agent.ask", actor=None)
    theirs = live_run(clerk.members.get())
    response = asker.post("/ask/", {"question": "mine", "thread": theirs.thread_id})
    assert str(theirs.thread_id) not in response.url
    assert theirs.thread.runs.count() == 1


def test_a_failed_call_says_why_in_words(asker, member):
    run = finished_run(member)
    error = {"kind": "error", "error": "stock_search was not run. limit: too many."}
    run.steps.filter(kind="tool").update(status="failed", reason="bad_arguments", result=error)
    assert "limit: too many." in text(asker.get(f"/threads/{run.thread_id}/"))


def test_a_request_that_is_too_long_is_told_in_words(asker):
    response = asker.post("/ask/", {"question": "x" * (2 * 1024 * 1024 + 1)})
    assert response.status_code == 400
    assert "100,000 characters" in text(response)
