"""Whether the parts of the house answer: booleans only, for people who watch from outside."""

from __future__ import annotations

import contextlib

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from kombu.exceptions import KombuError

from config.celery import app


def database() -> bool:
    """Whether PostgreSQL answers the app's login."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone())
    except DatabaseError:
        return False


def wake_ups() -> bool:
    """Whether Redis or Valkey answers."""
    try:
        with contextlib.closing(_redis()) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def worker() -> bool:
    """Whether a worker answered within half a second."""
    try:
        return bool(app.control.ping(timeout=0.5, limit=1))
    except (KombuError, OSError, redis.RedisError):
        return False


def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1, retry_on_timeout=False
    )
