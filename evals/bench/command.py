"""The command line of the benchmarks, and the order they run in.

Django is set up only once the database and the model server of the run exist, so nothing here
imports a room before that.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evals.bench import model_process, places, report
from evals.bench.report import Measured

NAMES = ("loop", "import", "question", "house")


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/bench", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000, help="stock items asked about")
    parser.add_argument("--rows", type=int, default=50_000, help="rows of the imported file")
    parser.add_argument("--runs", type=int, default=12, help="runs one by one; five times as many")
    parser.add_argument("--repeats", type=int, default=40, help="times the question is asked")
    parser.add_argument("--questions", type=int, default=40, help="questions to the house model")
    parser.add_argument("--only", choices=NAMES, action="append", help="may be given repeatedly")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Measure, print the table, write the JSON. Raises ServersError as the servers do."""
    options = parse(arguments)
    options.json = options.json and options.json.absolute()
    with contextlib.ExitStack() as stack:
        environment = stack.enter_context(places.own_place())
        environment["LLM_BASE_URL"] = stack.enter_context(model_process.serving())
        os.environ.update(environment, DJANGO_SETTINGS_MODULE="config.settings")
        facts = report.machine(_set_up())
        try:
            measured = _measure(options)
        finally:
            _close()
    print(report.to_markdown(measured, facts))
    if options.json:
        text = json.dumps(report.to_json(measured, facts), ensure_ascii=False, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def _set_up() -> str:
    """Start Django on this run's database; the version of PostgreSQL."""
    import django

    django.setup()
    from django.db import connection

    version = connection.cursor().execute("SHOW server_version").fetchone()
    return str(version[0]).split()[0]


def _close() -> None:
    from django.db import connections

    connections.close_all()


def _measure(options: argparse.Namespace) -> list[Measured]:
    """Small rows first: the loop and the import do not depend on how much stands beside them."""
    from evals.bench import agent_loop, house_model, importing, question, rows

    wanted = options.only or NAMES
    found: list[Measured] = []
    if "loop" in wanted:
        found += _timed("the agent loop", lambda: agent_loop.measure(runs=options.runs))
    if "import" in wanted:
        found += _timed("the import", lambda: importing.measure(rows=options.rows))
    if not {"question", "house"} & set(wanted):
        return found
    member = _timed("the shop", lambda: rows.demo_shop("Shop of the questions", options.items))
    if "question" in wanted:
        found += _timed("the question", lambda: question.measure(member, options.repeats))
    if "house" in wanted:
        found += _timed("the house model", lambda: house_model.measure(member, options.questions))
    return found


def _timed(what: str, work: Callable[[], Any]) -> Any:
    started = time.monotonic()
    result = work()
    print(f"{what}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return result
