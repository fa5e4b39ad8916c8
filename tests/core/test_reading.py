"""The lock around tools: tried by connecting as each login and attempting what it must not."""

from __future__ import annotations

import time
from typing import Any

import psycopg
import pytest
from django.db import connections

from apps.core import proof, reading, scope
from apps.guilds.models import Guild, Member, User

pytestmark = pytest.mark.usefixtures("own_db")


def connect(alias: str) -> psycopg.Connection[Any]:
    config = connections.settings[alias]
    return psycopg.connect(
        host=config["HOST"],
        port=config["PORT"],
        user=config["USER"],
        password=config["PASSWORD"],
        dbname=config["NAME"],
        autocommit=True,
    )


def guilds_seen(connection: psycopg.Connection[Any], text: str) -> list[str]:
    with connection.transaction():
        connection.execute("SELECT set_config('gatehouse.scope', %s, true)", [text])
        return [row[0] for row in connection.execute("SELECT name FROM guilds_guild")]


def test_the_proof_holds_on_a_fresh_database() -> None:
    proof.prove()


def test_reader_sees_its_guild_only(guild: Guild, stranger: User) -> None:
    with reading.scope(guild.pk):
        assert list(Guild.objects.values_list("name", flat=True)) == [guild.name]


def test_reader_without_a_scope_sees_nothing(guild: Guild) -> None:
    with connect("reader") as connection:
        assert connection.execute("SELECT count(*) FROM guilds_guild").fetchone() == (0,)


@pytest.mark.parametrize("alias", ["reader", "analyst"])
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO public.guilds_guild (name) VALUES ('x')",
        "UPDATE guilds_guild SET name = 'x'",
        "DELETE FROM guilds_guild",
        "SET default_transaction_read_only = off; DELETE FROM reading.guilds_guild",
        "SET TRANSACTION READ WRITE; DELETE FROM public.guilds_guild",
        "CREATE TEMP TABLE mine (x int)",
        "CREATE TABLE reading.mine (x int)",
        "CREATE VIEW reading.mine AS SELECT 1",
        "SELECT * FROM public.guilds_guild",
        "SELECT * FROM public.guilds_user",
        "SELECT * FROM public.audit_event",
        "SELECT inner_pad FROM gate.scope_key",
        "SELECT gate.guild()",
        "SET ROLE gatehouse_owner",
        "SET SESSION AUTHORIZATION gatehouse_owner",
        "ALTER ROLE CURRENT_USER SUPERUSER",
        "GRANT SELECT ON public.guilds_guild TO CURRENT_USER",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY guilds_guild TO PROGRAM 'true'",
        "SELECT lo_create(0)",
        "SELECT pg_sleep(1)",
        "SELECT pg_advisory_lock(1)",
        "CREATE FUNCTION reading.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE EXTENSION dblink",
        "VACUUM public.guilds_guild",
    ],
)
def test_read_only_logins_are_refused(alias: str, statement: str) -> None:
    *before, last = statement.split("; ")
    with connect(alias) as connection:
        for part in before:
            connection.execute(part)
        with pytest.raises(psycopg.Error):
            connection.execute(last)


def test_a_forged_scope_sees_no_row(guild: Guild, stranger: User) -> None:
    other = stranger.members.get().guild
    good = scope.sign(guild.pk)
    payload, mac = good.rsplit("|", 1)
    forged = [
        f"{payload.replace(f'{guild.pk}|', f'{other.pk}|', 1)}|{mac}",
        f"{payload}|{'0' * 64}",
        payload,
        "",
        f"{guild.pk}",
        f"{guild.pk}||9999999999|{'0' * 32}|{'0' * 64}",
        good + " ",
        good.replace("|", "||", 1),
    ]
    with connect("reader") as connection:
        assert guilds_seen(connection, good) == [guild.name]
        for text in forged:
            assert guilds_seen(connection, text) == []


def test_an_expired_scope_sees_no_row(guild: Guild) -> None:
    with connect("reader") as connection:
        assert guilds_seen(connection, scope.sign(guild.pk, seconds=-1)) == []


def test_a_scope_expires_within_an_open_transaction(guild: Guild) -> None:
    with connect("reader") as connection, connection.transaction():
        signed = scope.sign(guild.pk, seconds=1)
        connection.execute("SELECT set_config('gatehouse.scope', %s, true)", [signed])
        assert connection.execute("SELECT count(*) FROM guilds_guild").fetchone() == (1,)
        time.sleep(1.1)
        assert connection.execute("SELECT count(*) FROM guilds_guild").fetchone() == (0,)


def test_reader_cannot_widen_its_scope_inside_one_select(guild: Guild, stranger: User) -> None:
    other = stranger.members.get().guild
    widened = f"{other.pk}||9999999999|{'a' * 32}|{'b' * 64}"
    query = (
        "WITH s AS MATERIALIZED (SELECT set_config('gatehouse.scope', %s, true))"
        " SELECT g.name FROM s, guilds_guild g"
    )
    with connect("reader") as connection, connection.transaction():
        connection.execute("SELECT set_config('gatehouse.scope', %s, true)", [scope.sign(guild.pk)])
        names = {row[0] for row in connection.execute(query, [widened])}
    assert names <= {guild.name}


def test_the_scope_does_not_survive_its_transaction(guild: Guild) -> None:
    with reading.scope(guild.pk):
        assert Guild.objects.count() == 1
    with connections["reader"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM guilds_guild")
        assert cursor.fetchone() == (0,)


def test_a_tool_that_strays_fails(guild: Guild) -> None:
    with reading.scope(guild.pk), pytest.raises(reading.StrayQuery):
        Guild.objects.using("default").count()
    with reading.scope(guild.pk), pytest.raises(reading.StrayQuery):
        connections["owner"].cursor().execute("SELECT 1")
    with reading.scope(guild.pk), pytest.raises(reading.StrayQuery):
        connections["default"].cursor()
    with reading.scope(guild.pk), pytest.raises(reading.StrayQuery):
        list(Guild.objects.using("default").iterator())
    assert Guild.objects.using("default").count() == 1


def test_a_tool_that_writes_through_the_orm_fails(guild: Guild) -> None:
    with pytest.raises(Exception, match=r"read-only|permission"), reading.scope(guild.pk):
        Guild.objects.filter(pk=guild.pk).update(name="changed")
    assert Guild.objects.get().name == guild.name


def test_a_table_without_a_view_cannot_be_read(guild: Guild, member: Member) -> None:
    with pytest.raises(Exception, match="does not exist"), reading.scope(guild.pk):
        Member.objects.count()


def test_the_app_login_has_no_ddl_and_cannot_change_the_audit() -> None:
    statements = [
        "CREATE TABLE public.mine (x int)",
        "CREATE TEMP TABLE mine (x int)",
        "ALTER TABLE public.guilds_guild ADD COLUMN x int",
        "DROP TABLE public.guilds_guild",
        "TRUNCATE public.audit_event",
        "DELETE FROM public.audit_event",
        "UPDATE public.audit_event SET kind = 'x'",
        "SELECT inner_pad FROM gate.scope_key",
    ]
    with connect("default") as connection:
        # Without the grant option this is a warning, not an error; it must give nothing.
        connection.execute("GRANT ALL ON public.audit_event TO CURRENT_USER")
        for statement in statements:
            with pytest.raises(psycopg.Error):
                connection.execute(statement)


def test_the_proof_names_an_open_lock() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("GRANT SELECT ON public.guilds_guild TO gatehouse_reader")
    with pytest.raises(proof.LocksOpen, match="reader login can reach tables"):
        proof.prove()


def test_the_proof_tells_a_changed_key(settings: Any) -> None:
    settings.SECRET_KEY = "another key altogether, long enough to be one"
    with pytest.raises(proof.LocksOpen, match="SECRET_KEY has changed"):
        proof.prove()
