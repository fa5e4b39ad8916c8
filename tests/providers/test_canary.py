"""A key that is planted in every way comes out of nothing that the system wrote."""

from __future__ import annotations

import base64
import io
import logging
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
import redis
from django.conf import settings as django_settings
from django.core import serializers
from django.core.management import CommandError, call_command
from django.core.signals import got_request_exception
from django.db import DatabaseError, connections
from django.test import Client, RequestFactory
from django.views.debug import ExceptionReporter
from psycopg import sql

from apps.core.logs import RedactingFormatter
from apps.guilds.models import Guild, Member
from apps.providers import operations, tasks
from apps.providers.models import Credential, ModelProfile
from apps.providers.resolver import open_secret, resolve
from tests.agents.workers import ROOT, environment
from tests.conftest import make_user

# Of no issuer's shape, so that redaction does not hide a leak from this test.
CANARY = "zq9-tangerine-" + "8c1f4b" * 5
SECOND = "zq9-kingfisher-" + "d07e2a" * 5
SHAPES = tuple(
    shape
    for secret in (CANARY, SECOND)
    for shape in (
        secret,
        secret.encode().hex(),
        secret[:20],
        base64.b64encode(secret.encode()).decode()[:-4],
        secret[::-1],
    )
)


@pytest.fixture
def owner(own_db: str) -> Member:
    guild = Guild.objects.create(name="Lantern Street Records")
    user = make_user("ada@example.com", "Ada Quill")
    return Member.objects.create(guild=guild, user=user, display_name="Ada Quill", is_owner=True)


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """Every log line at every level, as our own handler and as a plain one would write it."""
    written = io.StringIO()
    handlers = [logging.StreamHandler(written), logging.StreamHandler(written)]
    handlers[0].setFormatter(RedactingFormatter("%(name)s %(message)s"))
    root, before = logging.getLogger(), logging.getLogger().level
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield written
    root.setLevel(before)
    for handler in handlers:
        root.removeHandler(handler)


def found_in(text: str) -> list[str]:
    return [shape for shape in SHAPES if shape in text]


def dump(name: str) -> str:
    """Every row of every table there is, bytes as hexadecimal digits, as pg_dump shows them."""
    rows = []
    address = django_settings.SUPERUSER_DATABASE_URL
    with psycopg.connect(address, dbname=name, autocommit=True) as connection:
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables"
            " WHERE table_type = 'BASE TABLE'"
            " AND table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for schema, table in tables:
            query = sql.SQL("SELECT row_to_json(t)::text || t::text FROM {} t")
            rows += connection.execute(query.format(sql.Identifier(schema, table))).fetchall()
    return "\n".join(str(row[0]) for row in rows)


def valkey() -> str:
    """Every key of Valkey with what it holds."""
    server: Any = redis.Redis.from_url(django_settings.REDIS_URL)
    readers: dict[bytes, Callable[[bytes], Any]] = {
        b"string": server.get,
        b"list": lambda key: server.lrange(key, 0, -1),
        b"hash": server.hgetall,
        b"set": server.smembers,
        b"zset": lambda key: server.zrange(key, 0, -1),
        b"stream": server.xrange,
    }
    held = {key: readers[server.type(key)](key) for key in server.scan_iter()}
    return repr(held)


def told_by(error: BaseException) -> str:
    """What a log, a debug page and a crash reporter that keeps local variables would show."""
    request = RequestFactory().get("/providers/")
    reporter = ExceptionReporter(request, type(error), error, error.__traceback__)
    found = traceback.TracebackException.from_exception(error, capture_locals=True)
    logging.getLogger("gatehouse.test").error("failed", exc_info=error)
    page = reporter.get_traceback_html() + reporter.get_traceback_text()
    return page + "".join(found.format()) + repr(error) + str(error)


def fails(work: Callable[[], Any]) -> str:
    with pytest.raises(Exception) as caught:
        work()
    # The frames of this very file, and of a client that posts, know the secret before us.
    trace = caught.value.__traceback__
    while "/apps/" not in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    return told_by(caught.value.with_traceback(trace))


def refused(work: Callable[[], Any]) -> str:
    """The words of a refusal that a page or a command shows and no reporter ever sees."""
    with pytest.raises(operations.ProvidersError) as caught:
        work()
    logging.getLogger("gatehouse.test").warning("refused: %s", caught.value)
    return repr(caught.value)


def refuse_inserts() -> None:
    """Make the database itself fail, in the middle of a write."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'no more: %', NEW; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON providers_credential"
            " FOR EACH ROW EXECUTE FUNCTION refuse()"
        )


def add(owner: Member, label: str = "Shop main", secret: str = CANARY, **more: Any) -> Credential:
    values = {"provider": "openai", "actor": owner} | more
    return operations.add_credential(guild=owner.guild, label=label, secret=secret, **values)


def command(*arguments: str, secret: str = "") -> str:
    """A management command as its own process, with a secret on standard input."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env=environment(), input=secret, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    return f"{done.returncode}\n{done.stdout}\n{done.stderr}"


def test_the_dump_would_find_it(owner: Member, own_db: str) -> None:
    """The net has no hole: a key that is kept in the clear is seen."""
    row = add(owner)
    assert found_in(dump(own_db)) == []
    Credential.objects.filter(pk=row.pk).update(ciphertext=CANARY.encode())
    assert CANARY.encode().hex() in found_in(dump(own_db))
    Credential.objects.filter(pk=row.pk).update(test_class=CANARY[:40])
    assert CANARY[:20] in found_in(dump(own_db))
    server = redis.Redis.from_url(django_settings.REDIS_URL)
    server.rpush("canary", CANARY)
    assert CANARY in found_in(valkey())
    assert CANARY in found_in(told_by(ValueError(CANARY)))


def test_a_key_planted_by_operations_comes_out_of_nothing(
    owner: Member, own_db: str, lines: io.StringIO, settings: Any
) -> None:
    settings.DEBUG = True
    row = add(owner)
    operations.select_model(
        guild=owner.guild, purpose="chat", credential=row, model="gpt-x", actor=owner
    )
    told = [repr(row), str(row), repr(row.__dict__), serializers.serialize("json", [row])]
    told += [repr(resolve(owner.guild)), repr(ModelProfile.objects.get())]
    assert open_secret(resolve(owner.guild)) == CANARY
    operations.record_test(row, "auth_failed")
    operations.replace_secret(row, SECOND, actor=owner)
    assert tasks.ask_for_test(row.pk)
    assert "agents" in valkey()
    told += [valkey(), dump(own_db), lines.getvalue()]
    assert found_in("".join(told)) == []
    operations.revoke(row, actor=owner)
    assert found_in(dump(own_db) + lines.getvalue()) == []


def test_a_key_comes_out_of_no_failure(
    owner: Member, own_db: str, lines: io.StringIO, settings: Any
) -> None:
    settings.DEBUG = True
    row = add(owner, "first", secret=SECOND)
    told = [
        refused(lambda: add(owner, CANARY)),
        refused(lambda: add(owner, f"key {CANARY}")),
        fails(lambda: add(owner, "first")),
        fails(lambda: add(owner, provider=CANARY[:3])),
        fails(lambda: add(owner, secret=f"{CANARY} with spaces")),
        fails(lambda: add(owner, provider="custom", base_url="http://models.example")),
        fails(lambda: operations.replace_secret(row, CANARY + "\n" + CANARY, actor=owner)),
    ]
    operations.select_model(
        guild=owner.guild, purpose="chat", credential=row, model="gpt-x", actor=owner
    )
    Credential.objects.update(base_url="https://evil.example/v1")
    told.append(fails(lambda: open_secret(resolve(owner.guild))))
    refuse_inserts()
    told.append(fails(lambda: add(owner, "second")))
    told.append(fails(lambda: operations.replace_secret(row, CANARY, actor=owner)))
    settings.SEALING_KEYS = ""
    told.append(fails(lambda: add(owner, "third")))
    assert any(DatabaseError.__name__ in each or "no more" in each for each in told)
    told += [valkey(), dump(own_db), lines.getvalue()]
    assert [found_in(each) for each in told] == [[]] * len(told)


def test_a_key_piped_into_a_command_comes_out_of_nothing(
    owner: Member, own_db: str, lines: io.StringIO
) -> None:
    base = ("credential", "add", "--provider", "custom", "--base-url", "http://127.0.0.1:9/v1")
    told = [command(*base, "--label", "Shop main", "--json", secret=f"{CANARY}\n")]
    assert Credential.objects.get().open() == CANARY
    told += [
        command(*base, "--label", "shop MAIN", secret=CANARY),
        command("credential", "replace", "Shop main", secret=f"{SECOND}\n"),
        command("credential", "list", "--json"),
        command("credential", "test", "Shop main", "--json"),
        command("rotate_keys"),
    ]
    assert [each[0] for each in told] == ["0", "1", "0", "0", "1", "0"]
    assert Credential.objects.get().open() == SECOND
    assert '"test_class": "unreachable"' in told[4]
    refuse_inserts()
    told.append(command("credential", "--traceback", "replace", "Shop main", secret=CANARY))
    assert "no more" in told[-1]
    told += [valkey(), dump(own_db), lines.getvalue()]
    assert [found_in(each) for each in told] == [[]] * len(told)


@pytest.fixture
def crashes() -> Iterator[list[str]]:
    """What a crash reporter would send of each request that fails, its form included."""
    sent: list[str] = []

    def report(sender: Any, request: Any, **kwargs: Any) -> None:
        error = sys.exc_info()[1]
        assert error is not None
        reporter = ExceptionReporter(request, type(error), error, error.__traceback__)
        found = traceback.TracebackException.from_exception(error, capture_locals=True)
        sent.append(reporter.get_traceback_html() + "".join(found.format()))

    got_request_exception.connect(report)
    yield sent
    got_request_exception.disconnect(report)


def test_a_key_posted_to_a_page_comes_out_of_no_page(
    owner: Member, own_db: str, lines: io.StringIO, crashes: list[str]
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(owner.user)
    good = {"provider": "openai", "label": "Shop main", "key": CANARY, "base_url": ""}
    pages = [client.post("/providers/add/", good, follow=True)]
    row = Credential.objects.get()
    assert row.open() == CANARY
    for wrong in (
        {"label": CANARY},
        {"base_url": f"https://models.example/?key={CANARY}"},
        {"provider": CANARY},
        {"label": ""},
        {"label": "SHOP main"},
    ):
        pages.append(client.post("/providers/add/", good | wrong))
        assert pages[-1].status_code == 422
    pages += [
        client.get(f"/providers/{row.pk}/"),
        client.get(f"/providers/{row.pk}/replace/"),
        client.post(f"/providers/{row.pk}/replace/", {"key": SECOND}, follow=True),
        client.get("/providers/"),
    ]
    refuse_inserts()
    pages.append(client.post(f"/providers/{row.pk}/replace/", {"key": CANARY}))
    pages.append(client.post("/providers/add/", good | {"label": "Another"}))
    assert [page.status_code for page in pages[-2:]] == [500, 500]
    assert ["no more" in crash for crash in crashes] == [True, True]
    told = [page.content.decode() + repr(page.headers) for page in pages]
    told += [*crashes, valkey(), dump(own_db), lines.getvalue()]
    assert [found_in(each) for each in told] == [[]] * len(told)


def test_an_argument_is_no_way_in(owner: Member) -> None:
    with pytest.raises(CommandError, match="unrecognized"):
        call_command("credential", "add", "--label", "x", "--provider", "openai", "--key", CANARY)
