"""Rows that hold a sealed value, and the list of every sealed column there is.

A room with a secret to keep makes its model a :class:`SealedRow`; nothing else needs to be
registered. Key rotation walks :func:`sealed_models` and refuses to call an old key free while
:func:`uncovered_columns` finds bytes in a table that no sealed row accounts for.
"""

from __future__ import annotations

import uuid
from abc import abstractmethod
from typing import Any

from django.apps import apps
from django.db import connection, models

from .sealing import Binding, Sealed, sealer

COLUMNS = frozenset({"ciphertext", "nonce"})


class SealedRow(models.Model):
    """A row with one sealed value; empty once it is wiped. Fixtures leave the bytes out."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    ciphertext = models.BinaryField(null=True, serialize=False)
    nonce = models.BinaryField(null=True, serialize=False)
    key_id = models.CharField(max_length=40, blank=True, serialize=False)
    fingerprint = models.CharField(max_length=16, blank=True, serialize=False)

    SEALED_FIELDS = ("ciphertext", "nonce", "key_id", "fingerprint")

    class Meta:
        abstract = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Django's own metaclass leaves no place for ABC, so it is asked for here."""
        super().__init_subclass__(**kwargs)
        if cls.binding is SealedRow.binding:
            raise TypeError(f"{cls.__name__} must say what its value is sealed to: binding()")

    @abstractmethod
    def binding(self) -> Binding:
        """What the value is sealed to, from the row as it is."""

    @property
    def is_sealed(self) -> bool:
        """Whether there is a value to open."""
        return self.ciphertext is not None

    def seal(self, secret: str) -> None:
        """Keep a secret, sealed with the current key; save ``SEALED_FIELDS`` after it."""
        ring = sealer()
        sealed = ring.seal(secret, self.binding())
        self.ciphertext, self.nonce, self.key_id = sealed.ciphertext, sealed.nonce, sealed.key_id
        self.fingerprint = ring.fingerprint(secret)

    def open(self) -> str:
        """The secret. :class:`~apps.core.sealing.CannotOpen` when it does not open."""
        sealed = Sealed(bytes(self.ciphertext or b""), bytes(self.nonce or b""), self.key_id)
        return sealer().open(sealed, self.binding())

    def wipe(self) -> None:
        """Forget the secret for good; save ``SEALED_FIELDS`` after it."""
        self.ciphertext = self.nonce = None
        self.key_id = self.fingerprint = ""


def sealed_models() -> list[type[SealedRow]]:
    """Every model whose rows hold a sealed value, in the order of the rooms."""
    return [model for model in apps.get_models() if issubclass(model, SealedRow)]


def uncovered_columns() -> list[str]:
    """Columns of bytes, as ``table.column``, that no sealed model accounts for."""
    known = {(model._meta.db_table, name) for model in sealed_models() for name in COLUMNS}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attrelid::regclass::text, attname FROM pg_catalog.pg_attribute a"
            " JOIN pg_catalog.pg_class c ON c.oid = a.attrelid"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"
            " AND a.atttypid = 'bytea'::regtype AND NOT a.attisdropped ORDER BY 1, 2"
        )
        found: list[tuple[Any, Any]] = cursor.fetchall()
    return [f"{table}.{column}" for table, column in found if (table, column) not in known]
