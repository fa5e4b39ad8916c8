"""A guild whose model is a scripted server, with prices and a budget set."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pytest_django import Settings

from apps.guilds.models import Guild
from evals.fixtures import model_server
from evals.model_server import ModelServer
from tests.conftest import allow_the_operators_key

__all__ = ["model_server"]

KEY = "sk-canary-4f1d9e77aa310b5c8e2f"


@pytest.fixture
def guild(guild: Guild) -> Guild:
    """The operator's key answers for it."""
    return allow_the_operators_key(guild)


@pytest.fixture
def scripted(model_server: ModelServer, settings: Settings) -> ModelServer:
    """The server as the guild's model: 1 USD per million tokens read, 2 written."""
    settings.LLM_BASE_URL = model_server.base_url + "/v1"
    settings.LLM_API_KEY = KEY
    settings.LLM_MODEL = "scripted-model"
    settings.LLM_TIMEOUT = 5.0
    settings.LLM_INPUT_PRICE = Decimal(1)
    settings.LLM_OUTPUT_PRICE = Decimal(2)
    settings.DAILY_AI_BUDGET = Decimal("5.00")
    return model_server
