"""What every log line passes through: redaction, so that no secret or text leaves by a log."""

from __future__ import annotations

import logging
import traceback
from types import TracebackType
from typing import Any

from django.conf import settings

from .redaction import redact

_Info = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class RedactingFormatter(logging.Formatter):
    """Formats as usual and redacts the whole line.

    Of an exception it keeps the frames and the class. Its message may quote what was asked or
    stored (PostgreSQL's does), so it is shown in development only, and never a database's.
    """

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 -- logging's own name
        error = ei[1]
        parts = []
        while error is not None:
            parts.append("".join(traceback.format_tb(error.__traceback__)) + _named(error))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n".join(reversed(parts))


def _named(error: BaseException) -> str:
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    state = getattr(error, "sqlstate", None)
    if state or "django.db" in kind or "psycopg" in kind:
        return f"{kind} {state or ''}".strip()
    return f"{kind}: {error}" if settings.DEBUG else kind
