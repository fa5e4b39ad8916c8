"""Bounded text calls for derived data: titles, classification, summaries."""

from __future__ import annotations

import asyncio

from apps.core import clock
from apps.guilds.models import Guild
from apps.providers.errors import ProviderError
from apps.providers.types import ChatMessage, ChatRequest

from . import gateway


async def text(
    prompt: str,
    *,
    guild: Guild,
    purpose: str,
    seconds: float,
    retries: int,
    max_input_bytes: int,
    max_output_tokens: int,
    system: str = "",
) -> str:
    """The model's answer as text, without tools; leaves a usage event and nothing else.

    ``seconds`` is the time for everything, waiting included. Raises ProviderError with
    ``too_large`` before anything is sent when the input is over its bound, with ``timeout``
    when the time is up; BudgetRefused as the gateway does.
    """
    size = len((system + prompt).encode("utf-8", "replace"))
    if size > max_input_bytes:
        raise ProviderError(
            "too_large", f"The text is {size:,} bytes; at most {max_input_bytes:,} fit. Shorten it."
        )
    told = [ChatMessage("system", system)] if system else []
    request = ChatRequest(
        model="",
        messages=(*told, ChatMessage("user", prompt)),
        tools=(),
        max_output_tokens=max_output_tokens,
        guild_id=guild.pk,
        now=clock.now(),
        time_zone=guild.time_zone,
        retries=retries,
    )
    try:
        async with asyncio.timeout(seconds):
            completion = await gateway.stream(request, guild=guild, purpose=purpose)
    except TimeoutError:
        raise ProviderError(
            "timeout", f"The model did not answer within {seconds:g} s. Ask again."
        ) from None
    return completion.text


def text_now(
    prompt: str,
    *,
    guild: Guild,
    purpose: str,
    seconds: float,
    retries: int,
    max_input_bytes: int,
    max_output_tokens: int,
    system: str = "",
) -> str:
    """:func:`text` for callers without an event loop; runs one and closes what it opened."""

    async def run() -> str:
        try:
            return await text(
                prompt,
                guild=guild,
                purpose=purpose,
                seconds=seconds,
                retries=retries,
                max_input_bytes=max_input_bytes,
                max_output_tokens=max_output_tokens,
                system=system,
            )
        finally:
            await gateway.close_connections()

    return asyncio.run(run())
