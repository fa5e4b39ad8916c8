"""The signed scope of the reader login: which guild's rows it may see, and until when.

A plain session setting could be widened by any SQL that runs as ``reader``. So the setting
``gatehouse.scope`` holds ``guild|channels|expires|nonce|mac`` and a SECURITY DEFINER function
checks the mac with a key that only the database's owner can read. The mac is HMAC-SHA256
(RFC 2104), spelt out with ``sha256()`` because pgcrypto may be missing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable

from django.conf import settings

BLOCK = 64


def key() -> bytes:
    """The signing key, derived from SECRET_KEY for this use alone (32 bytes)."""
    return hmac.digest(settings.SECRET_KEY.encode(), b"gatehouse.reading.scope.v1", "sha256")


def pads() -> tuple[bytes, bytes]:
    """The key as HMAC's inner and outer block (64 bytes each), as the database keeps it."""
    padded = key().ljust(BLOCK, b"\0")
    return bytes(byte ^ 0x36 for byte in padded), bytes(byte ^ 0x5C for byte in padded)


def sign(guild_id: int, *, channels: Iterable[int] = (), seconds: int = 30) -> str:
    """A scope for one guild and these channels, valid for so many seconds from now."""
    listed = ",".join(str(channel) for channel in channels)
    expires = int(time.time()) + seconds
    payload = f"{guild_id}|{listed}|{expires}|{secrets.token_hex(16)}"
    mac = hmac.new(key(), payload.encode(), hashlib.sha256).hexdigest()
    return f"{payload}|{mac}"


def key_id() -> str:
    """Names the key without giving it away, to tell when SECRET_KEY has changed."""
    return hashlib.sha256(b"id:" + key()).hexdigest()[:16]


SCHEMA_SQL = r"""
CREATE SCHEMA IF NOT EXISTS gate;
CREATE SCHEMA IF NOT EXISTS reading;
CREATE SCHEMA IF NOT EXISTS analysis;
REVOKE ALL ON SCHEMA gate FROM PUBLIC;
CREATE TABLE IF NOT EXISTS gate.scope_key (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    inner_pad bytea NOT NULL, outer_pad bytea NOT NULL, key_id text NOT NULL
);
REVOKE ALL ON gate.scope_key FROM PUBLIC;
CREATE OR REPLACE FUNCTION gate.checked_scope() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT signed.payload
    FROM (
        SELECT left(raw, -65) AS payload, right(raw, 64) AS mac
        FROM (SELECT current_setting('gatehouse.scope', true) AS raw) setting
        WHERE raw ~ '^[0-9]{1,18}\|[0-9,]*\|[0-9]{1,12}\|[0-9a-f]{32}\|[0-9a-f]{64}$'
    ) signed, gate.scope_key
    WHERE encode(sha256(outer_pad || sha256(inner_pad || convert_to(signed.payload, 'UTF8'))),
                 'hex') = signed.mac
      AND split_part(signed.payload, '|', 3)::bigint > extract(epoch FROM clock_timestamp())
$$;
CREATE OR REPLACE FUNCTION gate.guild() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT split_part(gate.checked_scope(), '|', 1)::bigint
$$;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA gate FROM PUBLIC;
"""
