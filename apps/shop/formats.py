"""What the record trade writes, read exactly: no Django, no guesses."""

from __future__ import annotations

import unicodedata

def fold(text: str) -> str:
    """Lower-case words without accents or doubled spaces: what search compares."""
    plain = unicodedata.normalize("NFKD", text)
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).casefold().split())
