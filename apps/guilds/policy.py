"""Rights have one door: :func:`decide`. Whatever it does not know, it denies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase

from apps.audit.recorder import record

from .capabilities import CAPABILITIES
from .models import Member

P = ParamSpec("P")


@dataclass(frozen=True)
class Decision:
    """Whether an actor may, and why. ``reason`` is one of a closed set of codes."""

    allowed: bool
    reason: str
    capability: str

    def __bool__(self) -> bool:
        return self.allowed


class Denied(PermissionDenied):
    """The actor lacks a capability; carries the decision."""

    def __init__(self, decision: Decision) -> None:
        what = CAPABILITIES.get(decision.capability, decision.capability)
        super().__init__(f"You may not do this here. It needs “{what}” ({decision.capability}).")
        self.decision = decision


def decide(actor: Member | None, capability: str, args: Any = None) -> Decision:
    """Whether the actor holds the capability in its guild, read from the rows now.

    Reason codes: ``owner``, ``granted``, ``unknown_identity``, ``unknown_capability``,
    ``inactive``, ``missing_capability``, ``store_error``. Never raises.
    """
    if capability not in CAPABILITIES:
        return Decision(False, "unknown_capability", capability)
    if actor is None or actor.pk is None:
        return Decision(False, "unknown_identity", capability)
    try:
        return _from_rows(actor.pk, actor.guild_id, capability)
    except DatabaseError:
        return Decision(False, "store_error", capability)


def _from_rows(member_id: int, guild_id: int, capability: str) -> Decision:
    member = Member.objects.filter(pk=member_id, guild_id=guild_id).select_related("user").first()
    if member is None:
        return Decision(False, "unknown_identity", capability)
    if not member.is_active or (member.user and not member.user.is_active):
        return Decision(False, "inactive", capability)
    if member.is_owner:
        return Decision(True, "owner", capability)
    if member.grants.filter(capability=capability, guild_id=guild_id).exists():
        return Decision(True, "granted", capability)
    return Decision(False, "missing_capability", capability)


def require(actor: Member | None, capability: str, *, surface: str = "web") -> None:
    """Raise :class:`Denied`, and leave an audit event, unless the actor holds it."""
    decision = decide(actor, capability)
    if decision:
        return
    record(
        "permission",
        guild_id=actor.guild_id if actor else None,
        actor=f"member:{actor.pk}" if actor else "",
        status="denied",
        reason=decision.reason,
        capability=capability[:100],
        surface=surface,
    )
    raise Denied(decision)


View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def requires(capability: str) -> Callable[[View[P]], View[P]]:
    """Open a view only to members of the chosen guild who hold the capability."""
    if capability not in CAPABILITIES:
        raise ValueError(f"there is no capability {capability!r}")

    def decorate(view: View[P]) -> View[P]:
        from django.contrib.auth.decorators import login_required

        @wraps(view)
        def checked(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            require(getattr(request, "member", None), capability)
            return view(request, *args, **kwargs)

        return login_required(checked)

    return decorate
