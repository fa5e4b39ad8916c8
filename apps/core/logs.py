"""What every log line passes through: redaction, so that no secret leaves by a log."""

from __future__ import annotations

import logging

from .redaction import redact


class RedactingFormatter(logging.Formatter):
    """Formats as usual, traceback included, and redacts the whole line."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))
