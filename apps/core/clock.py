"""Time has one door: aware instants, and the guild's own business day."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class HasTimeZone(Protocol):
    """A guild, as far as time goes: ``time_zone`` is an IANA name."""

    time_zone: str


def now() -> datetime:
    """This instant, aware, in UTC."""
    return datetime.now(UTC)


def zone(guild: HasTimeZone) -> ZoneInfo:
    """The guild's time zone; UTC when its name is unknown here."""
    try:
        return ZoneInfo(guild.time_zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def business_day(guild: HasTimeZone, at: datetime | None = None) -> date:
    """The calendar date of that instant (default: now) where the guild is."""
    return (at or now()).astimezone(zone(guild)).date()


def day_bounds(guild: HasTimeZone, day: date) -> tuple[datetime, datetime]:
    """First instant of the guild's day and of the next one, so that ``start <= t < end``."""
    return _midnight(guild, day), _midnight(guild, day + timedelta(days=1))


def next_reset(guild: HasTimeZone, at: datetime | None = None) -> datetime:
    """When the guild's running day ends: the next midnight there."""
    return day_bounds(guild, business_day(guild, at))[1]


def _midnight(guild: HasTimeZone, day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=zone(guild)).astimezone(UTC)
