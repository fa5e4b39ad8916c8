"""Why a call of a model was refused before it was made."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from apps.providers.errors import ProviderError


class BudgetRefused(Exception):
    """The worst case of a call does not fit what is left of the guild's day.

    Amounts are USD; ``resets_at`` is aware. The message names cause and next step.
    """

    def __init__(
        self, message: str, *, needed: Decimal, left: Decimal, resets_at: datetime
    ) -> None:
        super().__init__(message)
        self.message = message
        self.needed = needed
        self.left = left
        self.resets_at = resets_at


class UnpricedModel(ProviderError):
    """Nobody can say what the model costs, so it is not called."""

    def __init__(self, provider: str, model: str) -> None:
        super().__init__(
            "unsupported_model",
            f"The price of {model} at {provider} is not known, so it is not called. Set "
            "LLM_INPUT_PRICE and LLM_OUTPUT_PRICE (USD per million tokens; 0 for a model that "
            "costs nothing), or choose another LLM_MODEL.",
        )
