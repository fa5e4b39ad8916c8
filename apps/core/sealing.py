"""Sealing has one door: a secret is sealed to its row, owner and address, or it does not open.

AES-256-GCM (NIST SP 800-38D) with a fresh 96-bit nonce and everything that names the row as
associated data. The key ring comes from the environment: its first key seals, every key opens.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import inspect
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import ParamSpec, Protocol, TypeVar
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.utils.module_loading import import_string
from django.views.decorators.debug import sensitive_variables

P = ParamSpec("P")
R = TypeVar("R")
KEY_BYTES = 32
NONCE_BYTES = 12
_KEY_ID = re.compile(r"[A-Za-z0-9_.\-]{1,40}")
_VERSION = b"gatehouse.seal.v1"


class SealingError(Exception):
    """Nothing can be sealed or opened: the key ring is missing or wrong."""


class CannotOpen(SealingError):
    """A sealed value does not open: its key is gone, or its row, owner or address changed."""


class Secret(str):
    """A secret in the clear, on its way to a provider. Its ``repr`` is a mark.

    So a traceback that prints local variables, or a log line with ``%r``, shows nothing.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "Secret([redacted])"


def masks_secret(function: Callable[P, R]) -> Callable[P, R]:
    """Make the argument ``secret`` a :class:`Secret` before any frame below can show it.

    A frame above holds what its own caller gave it: forms and commands read a Secret.
    """
    signature, below = inspect.signature(function), sensitive_variables()(function)

    @wraps(function)
    def masked(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        bound.arguments["secret"] = Secret(bound.arguments["secret"])
        args, kwargs = bound.args, bound.kwargs  # type: ignore[assignment]
        return below(*args, **kwargs)

    return masked


@dataclass(frozen=True)
class Binding:
    """What a sealed value belongs to; it opens for exactly this and nothing else.

    ``owner`` is ``guild:7``, ``user:3`` or ``tenant``; ``origin`` the base URL that the
    secret may be sent to. What does not apply to a row is empty.
    """

    row_id: UUID
    owner: str
    provider: str
    label: str
    origin: str

    def encoded(self) -> bytes:
        """As associated data: each part after its length, so that no two bindings are alike."""
        parts = (str(self.row_id), self.owner, self.provider, self.label, self.origin)
        encoded = [_VERSION, *(part.encode() for part in parts)]
        return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


@dataclass(frozen=True)
class Sealed:
    """A sealed value as it is stored. Holds no secret, and shows no bytes in ``repr``."""

    ciphertext: bytes = field(repr=False)
    nonce: bytes = field(repr=False)
    key_id: str


class Sealer(Protocol):
    """Seals and opens; the class that does it is named by the setting SEALER."""

    @property
    def current_key_id(self) -> str:
        """The key that seals now."""
        ...

    @property
    def key_ids(self) -> tuple[str, ...]:
        """The keys that open, the current one first."""
        ...

    def seal(self, secret: str, binding: Binding) -> Sealed: ...

    def open(self, sealed: Sealed, binding: Binding) -> str:
        """The secret; :class:`CannotOpen` for another binding or a key that is not there."""
        ...

    def fingerprint(self, secret: str) -> str:
        """16 hexadecimal digits that tell two secrets apart; changes with the current key."""
        ...


class EnvironmentSealer:
    """Keys from SEALING_KEYS. Raises :class:`SealingError`, in words, when there are none."""

    # A traceback shows this object while it is being made, too.
    key_ids: tuple[str, ...] = ()
    current_key_id: str = ""

    def __init__(self) -> None:
        self._ring = _ring(settings.SEALING_KEYS)
        self.key_ids = tuple(self._ring)
        self.current_key_id = self.key_ids[0]

    def __repr__(self) -> str:
        return f"EnvironmentSealer({', '.join(self.key_ids)})"

    @sensitive_variables()
    def seal(self, secret: str, binding: Binding) -> Sealed:
        nonce = secrets.token_bytes(NONCE_BYTES)
        key = self._ring[self.current_key_id]
        ciphertext = AESGCM(key).encrypt(nonce, secret.encode(), binding.encoded())
        return Sealed(ciphertext, nonce, self.current_key_id)

    def open(self, sealed: Sealed, binding: Binding) -> str:
        key = self._ring.get(sealed.key_id)
        if key is None:
            raise CannotOpen(
                f"This was sealed with the key {sealed.key_id!r}, which is not in SEALING_KEYS. "
                "Put that key back, or enter the secret again."
            )
        try:
            opened = AESGCM(key).decrypt(sealed.nonce, sealed.ciphertext, binding.encoded())
        except (InvalidTag, ValueError):
            raise CannotOpen(
                "A sealed value does not open: its row, owner or address is not the one it was "
                f"sealed for, or the key {sealed.key_id!r} is another one now. Enter the secret "
                "again."
            ) from None
        return Secret(opened.decode())

    @sensitive_variables()
    def fingerprint(self, secret: str) -> str:
        key = hmac.digest(self._ring[self.current_key_id], b"gatehouse.fingerprint.v1", "sha256")
        return hmac.new(key, secret.encode(), "sha256").hexdigest()[:16]


def sealer() -> Sealer:
    """The sealer of the settings, made anew, so that a changed setting counts at once."""
    made: Sealer = import_string(settings.SEALER)()
    return made


@lru_cache(maxsize=4)
def _ring(text: str) -> Mapping[str, bytes]:
    """``id:base64,…`` as keys by id, in order. :class:`SealingError` without showing a key."""
    ring: dict[str, bytes] = {}
    for position, entry in enumerate(filter(None, (part.strip() for part in text.split(","))), 1):
        key_id, _, encoded = entry.partition(":")
        if not _KEY_ID.fullmatch(key_id) or key_id in ring:
            raise SealingError(
                f"SEALING_KEYS: entry {position} has no id of its own before the colon. Write "
                "id:key, with an id of letters, digits, dots or dashes that no other key has."
            )
        ring[key_id] = _key(key_id, encoded)
    if not ring:
        raise SealingError(
            "SEALING_KEYS is empty, so no secret can be kept. Set it to id:key with a key of 32 "
            "random bytes in base64, such as: k1:$(openssl rand -base64 32)."
        )
    return ring


def _key(key_id: str, encoded: str) -> bytes:
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise SealingError(
            f"SEALING_KEYS: the key {key_id!r} is not 32 bytes in base64. Make one with: "
            "openssl rand -base64 32"
        )
    return key
