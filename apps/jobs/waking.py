"""Telling a worker about a row. A message that is lost is made good by the sweep."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from kombu.exceptions import OperationalError

log = logging.getLogger("gatehouse.waking")
# A message that nobody took by then is dropped: the sweep has sent another.
EXPIRES = 30


def wake(task: Any, row_id: UUID | str) -> bool:
    """Send ``task(row_id)``; False, and nothing lost, when the broker is away."""
    try:
        task.apply_async((str(row_id),), retry=False, expires=EXPIRES)
    except (OperationalError, OSError) as error:
        log.warning("no worker woken, the sweep will: %s", type(error).__name__)
        return False
    return True


def wake_all(task: Any, row_ids: list[UUID]) -> int:
    """Send for each row until one can't be sent; how many were."""
    sent = 0
    for row_id in row_ids:
        if not wake(task, row_id):
            break
        sent += 1
    return sent
