"""`bin/run`, `bin/manage`, `bin/test` and `bin/bench`, once the requirements are installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from config import servers
from config.launch_place import say_on_stderr, var_folder
from config.launch_setup import MANAGE, set_up

# Commands that need no set-up before them: they are the set-up, or they only look.
UNPREPARED = {"setup", "create_roles", "help", "check", "makemigrations", "--help", "--version"}


def manage(arguments: list[str]) -> int:
    """Run one management command; its exit code and its stdin and stdout are ours."""
    if servers.outside_environment(os.environ) is not None:
        settings = servers.local_settings(var_folder(), make_key=False)
        return run_passing_signals([*MANAGE, *arguments], settings)
    embedded = servers.Servers(var_folder())
    with embedded.held():
        if arguments and arguments[0] not in UNPREPARED:
            set_up(embedded, demo=False)
        return run_passing_signals([*MANAGE, *arguments], embedded.environment())


def run_passing_signals(command: list[str], environment: dict[str, str]) -> int:
    """Run a command to its end even when we are told to stop: it is told too, and decides."""
    child = subprocess.Popen(command, env=os.environ | environment)
    # The terminal sends Ctrl-C to the child as well; SIGTERM reaches us alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    code = child.wait()
    return code if code >= 0 else 128 - code


def run(arguments: list[str]) -> int:
    """Start everything and stay until told to stop."""
    from config.launch_run import main as run_main

    return run_main(arguments)


def test(arguments: list[str]) -> int:
    """Run the checks and the tests."""
    from config.launch_tests import main as test_main

    return test_main(arguments)


def bench(arguments: list[str]) -> int:
    """Run the benchmarks."""
    from evals.bench.command import main as bench_main

    return bench_main(arguments)


COMMANDS = {"run": run, "manage": manage, "test": test, "bench": bench}


def main(arguments: list[str]) -> int:
    """Dispatch; an error that names its cause and next step is shown without a traceback."""
    command, *rest = arguments
    try:
        return COMMANDS[command](rest)
    except servers.ServersError as error:
        say_on_stderr(str(error))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
