"""Pytest fixtures of this folder; a conftest lists the module in `pytest_plugins`."""

from collections.abc import Iterator

import pytest

from evals.model_server import ModelServer


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A server without a rule: `model_server.reset(rules)` gives it its script."""
    with ModelServer([]) as server:
        yield server
