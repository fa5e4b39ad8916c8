"""Two people at once, on committed rows and connections of their own."""

from __future__ import annotations

import threading
from typing import Any

from django.db import connection

from apps.guilds.models import Guild
from apps.providers import operations
from apps.providers.models import ModelProfile

from .rows import add, choose


def _at_once(*works: Any) -> list[Any]:
    """Run each in a thread with a connection of its own; what each returned or raised."""
    barrier = threading.Barrier(len(works))
    ended: list[Any] = [None] * len(works)

    def run(index: int) -> None:
        barrier.wait()
        try:
            ended[index] = works[index]()
        except Exception as error:  # noqa: BLE001 - it is what the test looks at
            ended[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return ended


def test_of_two_that_add_one_label_at_once_one_is_told(own_db: str) -> None:
    guild = Guild.objects.create(name="Lantern Street Records")
    ended = _at_once(lambda: add(guild, "Shop"), lambda: add(guild, "shop"))
    assert sorted(type(each).__name__ for each in ended) == ["Credential", "LabelTaken"]


def test_a_model_chosen_while_its_key_is_revoked_never_stays_enabled(own_db: str) -> None:
    guild = Guild.objects.create(name="Lantern Street Records")
    for number in range(8):
        row = add(guild, f"key {number}")
        _at_once(lambda r=row: choose(guild, r), lambda r=row: operations.revoke(r, actor=None))
        assert not ModelProfile.objects.filter(credential=row, enabled=True).exists()


def test_of_two_that_choose_at_once_both_succeed_and_one_stays(own_db: str) -> None:
    guild = Guild.objects.create(name="Lantern Street Records")
    row = add(guild)
    ended = _at_once(
        lambda: choose(guild, row, model="one"), lambda: choose(guild, row, model="two")
    )
    assert [type(each).__name__ for each in ended] == ["ModelProfile", "ModelProfile"]
    assert ModelProfile.objects.count() == 1
