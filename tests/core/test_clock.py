from __future__ import annotations

from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest

from apps.core import clock

LISBON = SimpleNamespace(time_zone="Europe/Lisbon")
TOKYO = SimpleNamespace(time_zone="Asia/Tokyo")


def test_the_business_day_is_the_guilds_own() -> None:
    late = datetime(2026, 11, 12, 16, 0, tzinfo=UTC)
    assert clock.business_day(LISBON, late) == date(2026, 11, 12)
    assert clock.business_day(TOKYO, late) == date(2026, 11, 13)


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 6, 1), 24)]
)
def test_a_day_is_as_long_as_the_clock_change_makes_it(day: date, hours: int) -> None:
    start, end = clock.day_bounds(LISBON, day)
    assert (end - start).total_seconds() == hours * 3600


def test_the_reset_is_the_next_midnight_there() -> None:
    at = datetime(2026, 11, 12, 16, 0, tzinfo=UTC)
    assert clock.next_reset(TOKYO, at) == datetime(2026, 11, 13, 15, 0, tzinfo=UTC)


def test_an_unknown_zone_falls_back_to_utc() -> None:
    assert str(clock.zone(SimpleNamespace(time_zone="Nowhere/Else"))) == "UTC"
