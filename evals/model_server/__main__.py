"""Serve a script until interrupted: `python -m evals.model_server script.yaml --port 0`."""

import argparse
import signal
import sys
from types import FrameType

from evals.model_server.script import BadScript
from evals.model_server.server import ModelServer


def main() -> int:
    """Print the address on the first line, then serve; 2 when it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m evals.model_server", description=__doc__)
    parser.add_argument("script", help="YAML file with rules")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with ModelServer(options.script, host=options.host, port=options.port) as server:
            print(f"Model server on {server.base_url}, from {options.script}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except (BadScript, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
