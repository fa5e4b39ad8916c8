from __future__ import annotations

import logging

from apps.core.logs import RedactingFormatter


def line(message: str, *args: object, error: BaseException | None = None) -> str:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, message, args, info)
    return RedactingFormatter("%(message)s").format(record)


def test_a_sign_in_token_does_not_reach_a_log() -> None:
    token = "ME2jONRYmoITBlVizSL3XV0dlfRQkkp9gE3MiDsZrgU"
    assert token not in line("Gone: %s", f"/sign-in/{token}/")


def test_a_key_in_a_traceback_does_not_reach_a_log() -> None:
    try:
        raise ValueError("refused: sk-canary-0123456789abcdef")
    except ValueError as error:
        shown = line("failed", error=error)
    assert "sk-canary" not in shown
    assert "ValueError" in shown
