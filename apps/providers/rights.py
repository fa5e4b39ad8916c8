"""Who may enter the providers room, and what they may do in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase

from apps.guilds.acting import acting_or_none
from apps.guilds.policy import decide, require

WRITE, TEST, SELECT = "llm.provider.write", "llm.provider.test", "llm.provider.select"
RIGHTS = {"write": WRITE, "test": TEST, "select": SELECT}
View = Callable[..., HttpResponseBase]
May = dict[str, bool]
"""What a member may do here: ``write``, ``test``, ``select``."""


def rights_of(request: HttpRequest) -> May:
    """What the member may do, read from the rows now."""
    member = acting_or_none(request)
    return {name: bool(decide(member, capability)) for name, capability in RIGHTS.items()}


def opens(view: View) -> View:
    """Open a page to members who hold any right of this room; it gets them as ``may``."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        may = rights_of(request)
        if not any(may.values()):
            require(acting_or_none(request), WRITE)
        return view(request, *args, may=may, **kwargs)

    return login_required(checked)
