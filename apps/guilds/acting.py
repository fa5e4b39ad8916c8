"""Who a request acts as, with its type: what the middleware set and ``requires`` has checked."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest

from .models import Guild, Member


def acting(request: HttpRequest) -> Member:
    """The member of a view that ``requires`` a capability; never None there."""
    return cast(Member, request.member)  # type: ignore[attr-defined]


def acting_or_none(request: HttpRequest) -> Member | None:
    """The member, or None for strangers and for pages outside the middleware."""
    return getattr(request, "member", None)


def guild_of(request: HttpRequest) -> Guild:
    """The guild that the request acts in; never None where a member is required."""
    return acting(request).guild
