"""Who acts, and where: ``request.member`` and ``request.guild`` of the chosen guild."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from apps.core import clock

from .models import Member

SESSION_KEY = "guild"


class GuildMiddleware:
    """Sets the member of the guild that the session chose, else the user's first one.

    Both are None for strangers and for users without a member. Pages show times in the
    guild's own zone.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        member = chosen_member(request)
        request.member = member  # type: ignore[attr-defined]
        request.guild = member.guild if member else None  # type: ignore[attr-defined]
        if member is None:
            return self.get_response(request)
        with timezone.override(clock.zone(member.guild)):
            return self.get_response(request)


def chosen_member(request: HttpRequest) -> Member | None:
    """The acting member, read from the rows at every request."""
    if not request.user.is_authenticated:
        return None
    members = list(
        Member.objects.filter(user_id=request.user.pk, is_active=True)
        .select_related("guild", "user")
        .order_by("created_at", "pk")
    )
    wanted = request.session.get(SESSION_KEY)
    for member in members:
        if member.guild_id == wanted:
            return member
    return members[0] if members else None
