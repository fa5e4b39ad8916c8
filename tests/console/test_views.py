"""The door, the frame of every page, health, and errors in words."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse

from apps.audit.models import Event
from apps.console import health
from apps.guilds import operations as guilds
from apps.guilds.models import Guild, Member
from tests.conftest import allow_the_operators_key
from tests.shop_rows import make_shop

pytestmark = pytest.mark.django_db


def text(response) -> str:
    return response.content.decode()


def test_sign_in_with_mail_and_password(client, ada):
    response = client.post(
        "/sign-in/", {"username": "ADA@example.com ", "password": "correct horse battery"}
    )
    assert response.url == "/"
    assert client.get("/").url == "/threads/new/"
    assert Event.objects.filter(kind="sign_in").exists()


def test_a_wrong_password_is_refused_without_saying_which_was_wrong(client, ada):
    for mail in ("ada@example.com", "nobody@example.com"):
        response = client.post("/sign-in/", {"username": mail, "password": "wrong"})
        assert response.status_code == 422
        assert "That e-mail and password do not open the gate." in text(response)


@pytest.mark.parametrize(
    ("onward", "to"), [("/stock/", "/stock/"), ("https://evil.example/", "/"), ("//evil", "/")]
)
def test_sign_in_goes_on_within_the_house_only(client, ada, onward, to):
    data = {"username": ada.email, "password": "correct horse battery", "next": onward}
    assert client.post("/sign-in/", data).url == to


def test_sign_out(client, ada):
    client.force_login(ada)
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/").url == "/sign-in/"
    assert client.get("/").url == "/sign-in/?next=/"


def test_a_one_time_link_signs_in_by_a_press_and_only_once(client, ada, settings):
    settings.DEBUG = True
    link = f"/sign-in/{guilds.make_sign_in_link(ada)}/"
    assert client.get(link).status_code == 200
    assert client.post(link).url == "/"
    client.logout()
    again = client.post(link)
    assert again.status_code == 410
    assert "bin/manage sign_in_link" in text(again)


def test_one_time_links_are_for_development_only(client, ada, settings):
    settings.DEBUG = True
    link = f"/sign-in/{guilds.make_sign_in_link(ada)}/"
    settings.DEBUG = False
    assert client.get(link).status_code == 404
    assert client.post(link).status_code == 404


def test_a_user_without_a_guild_is_told_so(client, ada):
    Member.objects.all().delete()
    client.force_login(ada)
    response = client.get("/")
    assert response.status_code == 403
    assert "not a member of any guild" in text(response)


def test_home_is_the_first_room_that_a_member_may_enter(client, clerk):
    client.force_login(clerk)
    assert "without any right in it yet" in text(client.get("/"))
    guilds.grant(clerk.members.get(), "shop.read", actor=None)
    assert client.get("/").url == "/stock/"
    assert 'href="/usage/"' not in text(client.get("/stock/"))


def test_the_rail_shows_what_a_member_may_enter(client, ada, clerk):
    client.force_login(ada)
    body = text(client.get("/threads/new/"))
    for name in ("chat:runs", "shop:stock", "shop:releases", "shop:sales", "usage:today"):
        assert f'href="{reverse(name)}"' in body
    guilds.grant(clerk.members.get(), "agent.ask", actor=None)
    client.force_login(clerk)
    body = text(client.get("/threads/new/"))
    assert 'href="/runs/"' in body
    assert 'class="room" href="/stock/"' not in body
    assert 'class="room" href="/usage/"' not in body


def test_every_link_of_the_frame_leads_somewhere(client, ada, member):
    import re

    make_shop(member.guild, is_demo=True)
    client.force_login(ada)
    body = text(client.get("/threads/new/"))
    links = set(re.findall(r'href="(/[^"#]*)"', body)) - {"/static/gatehouse.css"}
    links = {link for link in links if not link.startswith("/static/")}
    assert len(links) > 8
    assert {link: client.get(link, follow=True).status_code for link in links} == dict.fromkeys(
        links, 200
    )


def test_the_theme_is_a_cookie(client, ada):
    client.force_login(ada)
    assert 'data-theme="auto"' in text(client.get("/threads/new/"))
    assert client.post("/theme/", {"theme": "dark", "next": "/stock/"}).url == "/stock/"
    assert 'data-theme="dark"' in text(client.get("/threads/new/"))
    client.post("/theme/", {"theme": '"><script>'})
    assert 'data-theme="dark"' in text(client.get("/threads/new/"))


def test_switching_the_guild_is_for_its_members(client, ada, stranger):
    mine = Guild.objects.create(name="Quay Discord")
    Member.objects.create(guild=mine, user=ada, display_name="Ada", is_owner=True)
    client.force_login(ada)
    assert "Quay Discord" in text(client.get("/threads/new/"))
    client.post("/guild/", {"guild": mine.pk})
    assert "Guild: Quay Discord. Switch" in text(client.get("/threads/new/"))
    foreign = stranger.members.get().guild_id
    assert client.post("/guild/", {"guild": foreign}).status_code == 404
    assert client.post("/guild/", {"guild": "x"}).status_code == 404


def test_the_guide_says_what_stands_and_can_be_hidden(client, ada, member, settings):
    settings.LLM_API_KEY = ""
    make_shop(member.guild, is_demo=True)
    client.force_login(ada)
    body = text(client.get("/threads/new/"))
    assert "Setting up, 2 of 4" in body
    assert 'action="/demo/delete/"' in body
    assert 'href="/providers/">Add a key' in body
    client.post("/guide/hide/")
    assert "Setting up" not in text(client.get("/threads/new/"))


def test_the_guide_goes_away_when_all_is_done(client, ada, member, settings):
    settings.LLM_API_KEY, settings.LLM_MODEL = "sk-test", "some-model"
    allow_the_operators_key(member.guild)
    make_shop(member.guild)
    client.force_login(ada)
    assert "Setting up" not in text(client.get("/threads/new/"))


def test_health_is_booleans_without_signing_in(client):
    response = client.get("/health/")
    assert response.status_code == 200
    assert response.json() == {"ok": True, "database": True, "redis": True, "worker": False}


def test_health_is_503_when_redis_is_away(client, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    response = client.get("/health/")
    assert response.status_code == 503
    assert response.json()["redis"] is False
    assert health.database()


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [("/nowhere/", 404, "There is nothing at this address")],
)
def test_errors_are_told_in_words(client, path, status, words):
    response = client.get(path)
    assert response.status_code == status
    assert words in text(response)


def test_a_form_without_its_mark_is_told_what_to_do(ada):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    response = client.post("/ask/", {"question": "x"})
    assert response.status_code == 403
    assert "This form was not accepted" in text(response)


def test_pages_carry_a_strict_policy(client, ada):
    client.force_login(ada)
    response = client.get("/threads/new/")
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    body = text(response)
    assert "<script>" not in body
    assert " style=" not in body
    assert "onclick" not in body


def test_a_page_weighs_less_than_200_kb(client, ada):
    from django.contrib.staticfiles import finders

    client.force_login(ada)
    body = client.get("/threads/new/").content
    names = ["gatehouse.css", "gatehouse.js", "mark.svg", "django_htmx/htmx-2.min.js"]
    names += ["django_htmx/ext/hx-sse-2.min.js"]
    sizes = {name: len(open(finders.find(name), "rb").read()) for name in names}  # noqa: SIM115, PTH123
    assert sizes["gatehouse.css"] < 60_000
    assert len(body) + sum(sizes.values()) < 200_000


def test_the_header_shows_what_today_cost(client, ada, member, settings):
    from apps.core import clock
    from apps.usage.models import DayBudget

    settings.DAILY_AI_BUDGET = Decimal("5.00")
    today = clock.business_day(member.guild)
    DayBudget.objects.create(guild=member.guild, day=today, spent=Decimal("1.84"))
    client.force_login(ada)
    body = text(client.get("/threads/new/"))
    assert "<b>$1.84</b>" in body
    assert 'value="1.84' in body


@pytest.mark.parametrize("wanted", ["", "²", "-1", "9" * 5000, "x"])
def test_a_guild_that_does_not_exist_cannot_be_chosen(client, ada, wanted):
    client.force_login(ada)
    assert client.post("/guild/", {"guild": wanted}).status_code == 404
