from __future__ import annotations

from typing import cast

import pytest

from apps.providers.catalog import WireName
from evals.fixtures import model_server

__all__ = ["model_server", "wire"]


@pytest.fixture(params=["openai", "anthropic"])
def wire(request: pytest.FixtureRequest) -> WireName:
    """Each wire in turn: what holds of one client holds of the other."""
    return cast("WireName", request.param)
