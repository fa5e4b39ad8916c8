"""Redaction has one door: what looks like a secret is replaced before it is kept or sent."""

from __future__ import annotations

import re

MARK = "[redacted]"

# Shapes of keys and tokens as their issuers document them, and key=value pairs that name one.
_SECRETS = re.compile(
    r"""
    \b(?:sk|pk|rk)-[A-Za-z0-9_\-]{16,}
  | \bxox[abprs]-[A-Za-z0-9\-]{10,}
  | \bgh[pousr]_[A-Za-z0-9]{20,}
  | \bAIza[A-Za-z0-9_\-]{30,}
  | \bAKIA[0-9A-Z]{16}\b
  | \beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{5,}
  | \b[MN][A-Za-z\d]{23,}\.[\w\-]{6}\.[\w\-]{27,}
  | -----BEGIN[A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[A-Z ]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED = re.compile(
    r"(?i)\b(api[_\-]?key|secret|token|password|passwd|authorization|bearer)\b"
    r"(\s*[:=]\s*|\s+)(?:bearer\s+)?([^\s\"',;]{6,})"
)
_URL_PASSWORD = re.compile(r"(?i)\b([a-z][a-z0-9+.\-]*://[^\s:/@]*):([^\s@/]+)@")


_SIGN_IN = re.compile(r"(/sign-in/)[A-Za-z0-9_\-]{20,}")


def redact(text: str, *, also: tuple[str, ...] = ()) -> str:
    """The text with secrets replaced by a mark. ``also`` names literal secrets to remove."""
    for literal in also:
        if len(literal) >= 6:
            text = text.replace(literal, MARK)
    text = _SECRETS.sub(MARK, text)
    text = _NAMED.sub(lambda match: f"{match[1]}{match[2]}{MARK}", text)
    text = _SIGN_IN.sub(lambda match: f"{match[1]}{MARK}", text)
    return _URL_PASSWORD.sub(lambda match: f"{match[1]}:{MARK}@", text)
