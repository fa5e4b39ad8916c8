"""Tells open pages that a topic changed. Never carries content; a lost notice loses nothing."""

from __future__ import annotations

import logging

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

log = logging.getLogger("gatehouse.topics")


def changed(guild_id: int, topic: str) -> None:
    """After commit, tell the guild's pages that ``topic`` (such as ``spend``) changed."""
    transaction.on_commit(lambda: _send(guild_id, topic))


def _send(guild_id: int, topic: str) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        message = {"type": "topic.changed", "topic": topic}
        async_to_sync(layer.group_send)(f"guild.{guild_id}", message)
    except OSError as error:
        log.warning("topic %s not announced: %s", topic, type(error).__name__)
