"""The first-run guide: what stands, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from apps.guilds.acting import acting
from apps.guilds.models import Member
from apps.llm import gateway
from apps.shop.models import Shop, StockItem

from .rights import held

HIDDEN = "guide_hidden"


@dataclass(frozen=True)
class GuideStep:
    done: bool
    title: str
    words: str
    href: str = ""
    action: str = ""
    label: str = ""


def guide(request: HttpRequest) -> dict[str, Any] | None:
    """Steps for somebody who may set the shop up; None when hidden, done, or not theirs."""
    member = acting(request)
    if request.session.get(HIDDEN) or not {"shop.import", "shop.manage"} <= held(member):
        return None
    steps = [*_shop_steps(member), *_model_steps(member)]
    done = sum(step.done for step in steps)
    return None if done == len(steps) else {"steps": steps, "done": done}


def _shop_steps(member: Member) -> list[GuideStep]:
    shop = Shop.objects.filter(guild_id=member.guild_id).first()
    count = StockItem.objects.filter(guild_id=member.guild_id).count()
    own = bool(count) and not (shop and shop.is_demo)
    steps = []
    if shop and shop.is_demo:
        words = f"{count:,} items, all invented and marked demo. Ask it anything."
        steps.append(
            GuideStep(
                True,
                "Demo shop loaded",
                words,
                action=reverse("shop:delete-demo"),
                label="Delete it",
            )
        )
    words = "An inventory export, checked before anything is written."
    if own:
        steps.append(GuideStep(True, "Your own stock is here", f"{count:,} items."))
    else:
        steps.append(
            GuideStep(
                False, "Bring your own stock", words, href=reverse("shop:import"), label="Import"
            )
        )
    return steps


def _model_steps(member: Member) -> list[GuideStep]:
    profile = gateway.current_profile(member.guild)
    house = "Deterministic, no key, costs nothing. It says when it can’t tell."
    if profile.model and not profile.is_house:
        return [GuideStep(True, "A model answers", f"{profile.label}.")]
    if not profile.is_house:
        return [_towards(member, "No model answers", f"{profile.label}.", "models", "Models")]
    words = "For questions in any words. Sealed, tested, and never shown again."
    return [
        GuideStep(True, "The house model answers", house),
        _towards(member, "Add a model key", words, "credentials", "Add a key"),
    ]


def _towards(member: Member, title: str, words: str, page: str, label: str) -> GuideStep:
    """A step to be done in the providers room, with a way there for those who may enter it."""
    if "llm.provider.write" not in held(member):
        return GuideStep(False, title, words)
    return GuideStep(False, title, words, href=reverse(f"providers:{page}"), label=label)
