"""A sealed value opens for its row, owner and address alone."""

from __future__ import annotations

import base64
import dataclasses
import logging
import traceback
import uuid
from typing import Any

import pytest

from apps.core import sealing
from apps.core.sealed_rows import SealedRow
from apps.core.sealing import Binding, CannotOpen, EnvironmentSealer, Sealed, SealingError, Secret

SECRET = "sk-canary-" + "b5d1f0" * 6
ROW = uuid.UUID("6f0e0f64-3c4e-4f58-9a4c-0e6f0d3a4b11")
BOUND = Binding(ROW, "guild:7", "custom", "Shop main", "https://models.example/v1")


def key(byte: int) -> str:
    return base64.b64encode(bytes([byte]) * 32).decode()


@pytest.fixture
def ring(settings: Any) -> EnvironmentSealer:
    settings.SEALING_KEYS = f"new:{key(1)},old:{key(2)}"
    return EnvironmentSealer()


def test_a_sealed_value_opens_again(ring: EnvironmentSealer) -> None:
    sealed = ring.seal(SECRET, BOUND)
    assert ring.open(sealed, BOUND) == SECRET
    assert sealed.key_id == "new"
    assert len(sealed.nonce) == 12
    assert SECRET.encode() not in sealed.ciphertext


def test_no_nonce_and_no_ciphertext_comes_twice(ring: EnvironmentSealer) -> None:
    sealed = [ring.seal(SECRET, BOUND) for _ in range(200)]
    assert len({one.nonce for one in sealed}) == len({one.ciphertext for one in sealed}) == 200


@pytest.mark.parametrize(
    "change",
    [
        {"row_id": uuid.UUID(int=1)},
        {"owner": "guild:8"},
        {"owner": "user:7"},
        {"provider": "openai"},
        {"label": "shop main"},
        {"origin": "https://models.example/v2"},
        {"origin": "http://models.example/v1"},
        # The same letters at another border between two parts.
        {"provider": "customS", "label": "hop main"},
    ],
)
def test_it_opens_for_no_other_binding(ring: EnvironmentSealer, change: dict[str, Any]) -> None:
    sealed = ring.seal(SECRET, BOUND)
    with pytest.raises(CannotOpen, match="row, owner or address"):
        ring.open(sealed, dataclasses.replace(BOUND, **change))


@pytest.mark.parametrize("place", [0, -1])
def test_a_changed_bit_does_not_open(ring: EnvironmentSealer, place: int) -> None:
    sealed = ring.seal(SECRET, BOUND)
    for name in ("ciphertext", "nonce"):
        changed = bytearray(getattr(sealed, name))
        changed[place] ^= 1
        with pytest.raises(CannotOpen):
            ring.open(dataclasses.replace(sealed, **{name: bytes(changed)}), BOUND)


@pytest.mark.parametrize("sealed", [Sealed(b"", b"", "new"), Sealed(b"x", b"y" * 12, "new")])
def test_what_is_no_sealed_value_does_not_open(ring: EnvironmentSealer, sealed: Sealed) -> None:
    with pytest.raises(CannotOpen):
        ring.open(sealed, BOUND)


def test_every_key_of_the_ring_opens_and_the_first_one_seals(settings: Any) -> None:
    settings.SEALING_KEYS = f"old:{key(2)}"
    before = sealing.sealer().seal(SECRET, BOUND)
    settings.SEALING_KEYS = f"new:{key(1)},old:{key(2)}"
    ring = sealing.sealer()
    assert ring.open(before, BOUND) == SECRET
    assert (ring.current_key_id, ring.key_ids) == ("new", ("new", "old"))
    settings.SEALING_KEYS = f"new:{key(1)}"
    with pytest.raises(CannotOpen, match="'old', which is not in SEALING_KEYS"):
        sealing.sealer().open(before, BOUND)


def test_another_key_of_the_same_id_does_not_open(settings: Any) -> None:
    settings.SEALING_KEYS = f"k:{key(1)}"
    sealed = sealing.sealer().seal(SECRET, BOUND)
    settings.SEALING_KEYS = f"k:{key(2)}"
    with pytest.raises(CannotOpen, match="is another one now"):
        sealing.sealer().open(sealed, BOUND)


def test_a_fingerprint_is_keyed(settings: Any) -> None:
    settings.SEALING_KEYS = f"a:{key(1)}"
    first = sealing.sealer().fingerprint(SECRET)
    assert first == sealing.sealer().fingerprint(SECRET) != sealing.sealer().fingerprint("other")
    assert len(first) == 16
    assert int(first, 16) >= 0
    settings.SEALING_KEYS = f"a:{key(3)}"
    assert sealing.sealer().fingerprint(SECRET) != first


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "SEALING_KEYS is empty"),
        (" , ", "SEALING_KEYS is empty"),
        (key(1), "no id of its own"),
        (f"a:{key(1)},a:{key(2)}", "entry 2 has no id of its own"),
        (f"a b:{key(1)}", "no id of its own"),
        (f"a:{key(1)[:-4]}", "'a' is not 32 bytes"),
        ("a:" + base64.b64encode(bytes(16)).decode(), "'a' is not 32 bytes"),
        ("a:!!!!", "'a' is not 32 bytes"),
    ],
)
def test_a_wrong_ring_is_told_without_its_keys(settings: Any, text: str, told: str) -> None:
    settings.SEALING_KEYS = text
    with pytest.raises(SealingError, match="SEALING_KEYS") as caught:
        sealing.sealer()
    assert told in str(caught.value)
    assert key(1)[:20] not in str(caught.value)


def test_a_secret_shows_nothing_of_itself(ring: EnvironmentSealer, caplog: Any) -> None:
    opened = ring.open(ring.seal(SECRET, BOUND), BOUND)
    logging.getLogger("gatehouse").warning("kept %r", {"secret": opened})
    try:
        raise ValueError("something else")
    except ValueError as error:
        told = "".join(
            traceback.TracebackException.from_exception(error, capture_locals=True).format()
        )
    assert isinstance(opened, Secret)
    assert "opened = Secret([redacted])" in told
    assert SECRET not in told + caplog.text
    assert f"{opened}" == SECRET


def test_the_class_is_a_setting(settings: Any) -> None:
    settings.SEALER = f"{__name__}.Vault"
    assert sealing.sealer().current_key_id == "vault"


class Vault(EnvironmentSealer):
    """Keys from elsewhere."""

    def __init__(self) -> None:
        self.key_ids = ("vault",)
        self.current_key_id = "vault"


def test_bytes_and_ring_are_not_in_a_repr(ring: EnvironmentSealer) -> None:
    sealed = ring.seal(SECRET, BOUND)
    assert repr(sealed) == "Sealed(key_id='new')"
    assert repr(ring) == "EnvironmentSealer(new, old)"


def test_a_sealed_row_must_say_what_it_is_sealed_to() -> None:
    with pytest.raises(TypeError, match="binding"):
        type("Unbound", (SealedRow,), {"__module__": __name__})
