"""What pages say about keys and models: a shape, a word, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from apps.core.sealing import SealingError, sealer

from . import catalog
from .models import Credential


@dataclass(frozen=True)
class State:
    """How a key does. ``kind`` colours, ``icon`` and ``word`` say it without colour."""

    kind: str
    icon: str
    word: str
    title: str
    words: str


WORKS = State("ok", "ok", "Works", "The key works", "The provider took it and listed its models.")
UNTESTED = State(
    "", "queued", "Untested", "Not tested yet", "Test it, so that you know before a question does."
)
REVOKED = State("", "off", "Revoked", "Revoked", "Its sealed key was wiped.")
SEALED_SHUT = State(
    "bad",
    "lock",
    "Does not open",
    "The key does not open any more",
    "The sealing key that it needs is missing from this installation. Put it back into "
    "SEALING_KEYS, or replace the key.",
)
FAILED = State(
    "bad", "bad", "Failed", "The test failed", "Test again; if it fails again, replace the key."
)
FAILURES = {
    "cannot_open": SEALED_SHUT,
    "auth_failed": State(
        "bad",
        "bad",
        "Refused",
        "The provider refuses the key",
        "It is wrong, expired or was withdrawn. Replace it with a valid one, or revoke it.",
    ),
    "rate_limited": State(
        "warn",
        "clock",
        "Rate limited",
        "The provider asks to wait",
        "Too many requests, or no credit left. Look at the account there, then test again.",
    ),
    "provider_unavailable": State(
        "warn",
        "warn",
        "Provider down",
        "The provider can’t answer now",
        "The key may be good. Test again in some minutes.",
    ),
    "invalid_response": State(
        "bad",
        "bad",
        "Not understood",
        "What answered is no model provider",
        "The address answers, but not with a list of models. Check the base URL.",
    ),
    "timeout": State(
        "warn",
        "clock",
        "No answer in time",
        "No answer in ten seconds",
        "The provider is slow, or the address is wrong. Test again, then check the base URL.",
    ),
    "unreachable": State(
        "bad",
        "bad",
        "Unreachable",
        "Nothing can be reached at that address",
        "Check the base URL. Only https to public addresses is allowed, unless the operator "
        "lists a host.",
    ),
    "unsupported_model": State(
        "warn",
        "warn",
        "Model unknown",
        "The provider does not know the model",
        "Choose another model for the purposes that use this key.",
    ),
}


FIELDS = frozenset(
    {
        *("pk", "label", "provider", "base_url", "status", "test_class", "tested_at"),
        *("key_id", "fingerprint", "created_by", "created_at", "updated_by", "updated_at"),
        "listed_models",
    }
)


class Shown:
    """A key as a page shows it: some of the row's fields, none that opens it, and how it does."""

    def __init__(self, row: Credential) -> None:
        self.row = row

    def __getattr__(self, name: str) -> Any:
        if name not in FIELDS:
            raise AttributeError(name)
        return getattr(self.row, name)

    @cached_property
    def state(self) -> State:
        if self.row.status == Credential.Status.REVOKED:
            return REVOKED
        if not self.opens:
            return SEALED_SHUT
        if self.row.test == Credential.Test.FAILED:
            return FAILURES.get(self.row.test_class, FAILED)
        return WORKS if self.works else UNTESTED

    @property
    def works(self) -> bool:
        return self.row.test == Credential.Test.SUCCEEDED

    @cached_property
    def opens(self) -> bool:
        """Whether the sealing key that it needs is there; nothing is opened to know it."""
        try:
            return self.row.key_id in sealer().key_ids
        except SealingError:
            return False

    @property
    def is_older(self) -> bool:
        """Whether it opens, but waits to be sealed anew with the current sealing key."""
        return self.opens and self.row.key_id != sealer().current_key_id

    @property
    def provider_name(self) -> str:
        known = catalog.PROVIDERS.get(self.row.provider)
        return known.label.partition(" (")[0] if known else self.row.provider

    @property
    def short_fingerprint(self) -> str:
        """Which sealing key, and enough to tell two keys apart."""
        return f"{self.row.key_id}·{self.row.fingerprint[:4]}"
