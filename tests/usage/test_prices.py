"""What a call costs, and who says so."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pytest_django import Settings

from apps.providers.types import Usage
from apps.usage import prices
from apps.usage.errors import UnpricedModel

AT = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _no_prices(settings: Settings) -> None:
    settings.LLM_INPUT_PRICE = settings.LLM_OUTPUT_PRICE = None


def test_providers_own_figure_comes_first() -> None:
    usage = Usage(1000, 100, cost=Decimal("0.123456789"))
    assert prices.cost("openai", "gpt-4o-mini", usage, at=AT) == Decimal("0.12345679")


def test_providers_own_zero_is_kept() -> None:
    assert prices.cost("openrouter", "any", Usage(9, 9, cost=Decimal(0)), at=AT) == 0


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "gpt-4o-mini"), ("openrouter", "openai/gpt-4o-mini")]
)
def test_listed_price_counts_cached_and_reasoning_tokens_once(provider: str, model: str) -> None:
    plain = prices.cost(provider, model, Usage(1000, 100), at=AT)
    cached = prices.cost(provider, model, Usage(1000, 100, cached_tokens=1000), at=AT)
    thought = prices.cost(provider, model, Usage(1000, 100, reasoning_tokens=100), at=AT)
    # 0.15 and 0.60 USD per million; cached input at half price.
    assert plain == thought == Decimal("0.00021")
    assert cached == Decimal("0.000135")


def test_settings_price_what_no_list_knows(settings: Settings) -> None:
    settings.LLM_INPUT_PRICE, settings.LLM_OUTPUT_PRICE = Decimal("2"), Decimal("10")
    assert prices.cost("127.0.0.1", "mine", Usage(1000, 100), at=AT) == Decimal("0.003")


def test_settings_may_say_free(settings: Settings) -> None:
    settings.LLM_INPUT_PRICE = settings.LLM_OUTPUT_PRICE = Decimal(0)
    assert prices.cost("127.0.0.1", "mine", Usage(1000, 100), at=AT) == 0


def test_model_of_another_provider_is_not_priced_by_its_bare_name() -> None:
    with pytest.raises(UnpricedModel):
        prices.cost("127.0.0.1", "gpt-4o", Usage(1, 1), at=AT)


def test_unpriced_model_is_refused_with_the_settings_to_set() -> None:
    with pytest.raises(UnpricedModel) as caught:
        prices.worst_case("127.0.0.1", "mine", input_tokens=1, output_tokens=1, at=AT)
    assert caught.value.code == "unsupported_model"
    for words in ("mine", "127.0.0.1", "LLM_INPUT_PRICE", "LLM_OUTPUT_PRICE"):
        assert words in caught.value.message


def test_amounts_are_rounded_up_to_eight_places(settings: Settings) -> None:
    settings.LLM_INPUT_PRICE = settings.LLM_OUTPUT_PRICE = Decimal("0.001")
    assert prices.cost("127.0.0.1", "mine", Usage(1, 0), at=AT) == Decimal("0.00000001")
