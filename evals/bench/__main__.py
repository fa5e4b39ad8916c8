"""`python -m evals.bench`, for a Python that has the requirements; `bin/bench` sees to that."""

import sys

from evals.bench.command import main

sys.exit(main(sys.argv[1:]))
