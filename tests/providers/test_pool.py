"""Connections are shared by calls, and do not pile up with keys that come and go."""

from __future__ import annotations

import asyncio

from apps.providers.clients import pool


class Counted:
    """Stands where an SDK's client does."""

    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


def place(key: str) -> pool.Place:
    return ("openai", "https://models.example.com/v1", key, 60.0, True)


def test_calls_with_one_key_share_a_client_and_others_do_not() -> None:
    async def ask() -> None:
        first = pool.shared(place("a"), Counted)
        assert pool.shared(place("a"), Counted) is first
        assert pool.shared(place("b"), Counted) is not first
        await pool.close_clients()
        assert first.closed == 1
        assert pool.shared(place("a"), Counted) is not first
        await pool.close_clients()
        assert first.closed == 1

    asyncio.run(ask())


def test_oldest_client_is_dropped_and_not_closed_under_its_stream() -> None:
    async def ask() -> None:
        made = [pool.shared(place(str(n)), Counted) for n in range(33)]
        assert pool.shared(place("1"), Counted) is made[1]
        assert pool.shared(place("0"), Counted) is not made[0]
        await pool.close_clients()
        assert made[0].closed == 0
        assert made[-1].closed == 1

    asyncio.run(ask())
