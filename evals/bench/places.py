"""The database of one run of the benchmarks, and the environment that points at it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from config.launch_place import ROOT, var_folder
from config.launch_setup import run_setup
from config.servers import Servers

# As a deployment sets it: with DEBUG on, Django keeps every statement.
SETTINGS = {
    "DEBUG": "0",
    "LOG_LEVEL": "ERROR",
    "DAILY_AI_BUDGET": "99999",
    "LLM_MODEL": "scripted-model",
    "LLM_API_KEY": "sk-bench-only",
    "LLM_INPUT_PRICE": "1",
    "LLM_OUTPUT_PRICE": "1",
}


@contextmanager
def own_place() -> Iterator[dict[str, str]]:
    """Embedded servers and a migrated database of this run; its environment.

    Outside servers that the environment names are left alone. The servers live in
    ``GATEHOUSE_VAR``, or in ``var/bench``, and may be in use by others.
    """
    var = var_folder() if os.environ.get("GATEHOUSE_VAR") else ROOT / "var" / "bench"
    servers = Servers(var)
    with servers.held():
        name = f"gatehouse_bench_{os.getpid()}"
        environment = _pointed_at(name, servers.environment()) | SETTINGS
        superuser = environment["GATEHOUSE_SUPERUSER_URL"]
        try:
            run_setup(environment, demo=False)
            yield environment
        finally:
            _drop(superuser, name)


def _pointed_at(name: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The same addresses with this database in each."""
    found = dict(environment)
    for key, value in environment.items():
        if key.endswith("_URL") and value.startswith("postgresql:"):
            found[key] = _with_database(value, name)
    return found


def _with_database(url: str, name: str) -> str:
    """`urlunsplit` would lose the empty host of a socket's address."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}/{name}{query}"


def _drop(superuser: str, name: str) -> None:
    with psycopg.connect(_with_database(superuser, "postgres"), autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )
