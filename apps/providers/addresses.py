"""Base URLs of providers: their own, or one that somebody typed."""

from __future__ import annotations

from urllib.parse import urlsplit

from apps.core.redaction import redact

from . import catalog
from .refusals import AddressUnfit

LENGTH = 300


def base_url_for(provider: str, typed: str) -> str:
    """Where a key is sent: what was typed, or the provider's own. :class:`AddressUnfit`.

    The address is part of what a key is sealed to, so it is kept in one spelling: without
    a slash at the end.
    """
    url = typed.strip().rstrip("/") or catalog.get(provider).base_url
    if not url:
        raise AddressUnfit("A custom provider needs a base URL, such as https://models.example/v1.")
    if len(url) > LENGTH or not _is_plain(url):
        raise AddressUnfit(
            "That is no base URL. It is an https address without a user name, key, question "
            "mark or fragment, such as https://models.example/v1."
        )
    return url


def _is_plain(url: str) -> bool:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises where the port is no number
    except ValueError:
        return False
    extra = parts.username or parts.password or parts.query or parts.fragment
    plain = url.isascii() and url.isprintable() and " " not in url
    known = parts.scheme in {"http", "https"} and bool(parts.hostname)
    return known and plain and not extra and redact(url) == url
