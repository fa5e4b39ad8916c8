from __future__ import annotations

import pytest

from apps.core.redaction import MARK, redact


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghijklmnop1234",
        "ghp_abcdefghijklmnopqrstuvwx12",
        "AKIAABCDEFGHIJKLMNOP",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "xoxb-1234567890-abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sflKxwRJSMeKKF2QT4",
    ],
)
def test_keys_are_removed(secret: str) -> None:
    assert secret not in redact(f"the key is {secret}, keep it")


def test_named_values_and_passwords_in_addresses_are_removed() -> None:
    text = redact(
        "api_key=hunter2hunter postgres://app:s3cr3t@db/x Authorization: Bearer abcdef123"
    )
    assert "hunter2" not in text
    assert "s3cr3t" not in text
    assert "abcdef123" not in text


def test_ordinary_text_is_left_alone() -> None:
    text = "The token economy of risk-taking; sk-8 shelf, password forgotten"
    assert redact("47 items under $10, shelf B-14") == "47 items under $10, shelf B-14"
    assert MARK in redact(text) or redact(text) == text


def test_a_literal_secret_is_removed_wherever_it_stands() -> None:
    assert "swordfish" not in redact("error near 'swordfish!'", also=("swordfish",))
