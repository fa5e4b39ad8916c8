"""What every page needs to know: rooms, guild, theme, and today's spend. Read only when shown."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from apps.guilds.acting import acting_or_none
from apps.guilds.models import Guild, Member
from apps.usage import budget

from .first_run import guide
from .rights import held

THEMES = (("auto", "Auto"), ("light", "Light"), ("dark", "Dark"))
THEME_COOKIE = "theme"


@dataclass(frozen=True)
class Room:
    """A room of the rail, shown to those who may enter it."""

    group: str
    label: str
    icon: str
    name: str
    capability: str
    tab: bool = False
    others: tuple[str, ...] = ()
    """Capabilities that open it as well."""

    def opens(self, allowed: frozenset[str]) -> bool:
        """Whether somebody with these capabilities may enter."""
        return not allowed.isdisjoint((self.capability, *self.others))


ROOMS = (
    Room("Desk", "Ask", "ask", "chat:new", "agent.ask", tab=True),
    Room("Desk", "Runs", "runs", "chat:runs", "agent.ask", tab=True),
    Room("Shop", "Stock", "crate", "shop:stock", "shop.read", tab=True),
    Room("Shop", "Releases", "disc", "shop:releases", "shop.read"),
    Room("Shop", "Sales", "sales", "shop:sales", "shop.read", tab=True),
    Room("Shop", "Wants", "wants", "shop:wants", "shop.read"),
    Room("Shop", "Imports", "down-to", "jobs:jobs", "job.read"),
    Room("House", "Usage", "usage", "usage:today", "usage.read"),
    Room(
        "House",
        "Providers",
        "key",
        "providers:credentials",
        "llm.provider.write",
        others=("llm.provider.test", "llm.provider.select"),
    ),
)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context of every page; strangers get the theme alone."""
    context: dict[str, Any] = {"theme": theme_of(request), "themes": THEMES}
    member = acting_or_none(request)
    if member is None:
        return context
    # Lazy, so that a fragment pays for nothing that it does not show; read once for each page.
    allowed: Any = SimpleLazyObject(lambda: held(member))
    rooms: Any = SimpleLazyObject(lambda: _rooms(request, allowed))
    return context | {
        "guild": member.guild,
        "person": member.display_name,
        "guilds": SimpleLazyObject(lambda: _guilds(member)),
        "rooms": SimpleLazyObject(lambda: _by_group(rooms)),
        "tabs": SimpleLazyObject(lambda: [room for room in rooms if room.tab]),
        "spend": SimpleLazyObject(lambda: _spend(member)),
        "usage_url": SimpleLazyObject(lambda: reverse("usage:today") * ("usage.read" in allowed)),
        "ask_url": reverse("chat:new"),
        "stock_url": reverse("shop:stock"),
        "import_url": SimpleLazyObject(lambda: _import_url(allowed)),
        "first_run": SimpleLazyObject(lambda: guide(request)),
        "first_run_template": "console/_first_run.html",
    }


def _import_url(allowed: frozenset[str]) -> str:
    return reverse("shop:import") if "shop.import" in allowed else ""


def theme_of(request: HttpRequest) -> str:
    """The theme that the browser's cookie names; ``auto`` for anything else."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in dict(THEMES) else "auto"


def _guilds(member: Member) -> list[Guild]:
    return list(
        Guild.objects.filter(
            members__user_id=member.user_id or 0, members__is_active=True
        ).order_by("name", "pk")
    )


def _rooms(request: HttpRequest, allowed: frozenset[str]) -> list[Any]:
    return [_shown(room, request) for room in ROOMS if room.opens(allowed)]


def _shown(room: Room, request: HttpRequest) -> Any:
    return SimpleNamespace(
        group=room.group,
        label=room.label,
        icon=room.icon,
        url=reverse(room.name),
        tab=room.tab,
        here=_is_here(room, request),
    )


# Pages that belong to a room without standing under its address.
NEIGHBOURS = {"chat:thread": "chat:new", "chat:threads": "chat:new", "shop:import": "jobs:jobs"}
INSIDE = {"shop:item": "shop:stock", "shop:release": "shop:releases", "shop:sale": "shop:sales"}
PROVIDERS = ("credential", "add", "replace", "revoke", "models", "model", "policy")
INSIDE |= {f"providers:{page}": "providers:credentials" for page in PROVIDERS}
PAGES = NEIGHBOURS | INSIDE | {"chat:run": "chat:runs", "jobs:job": "jobs:jobs"}


def _is_here(room: Room, request: HttpRequest) -> bool:
    match = request.resolver_match
    here = match.view_name if match else ""
    return PAGES.get(here, here) == room.name


def _by_group(rooms: list[Any]) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for room in rooms:
        groups.setdefault(room.group, []).append(room)
    return groups


def _spend(member: Member) -> Any:
    today = budget.today(member.guild)
    cap = Decimal(today.cap)
    return SimpleNamespace(
        spent=today.spent,
        cap=cap,
        warn=cap * Decimal("0.8"),
        full=cap * Decimal("0.999"),
        resets_at=today.resets_at,
    )
