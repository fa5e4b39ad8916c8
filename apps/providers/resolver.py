"""Which model answers for whom, and with whose key. Never another owner's in silence.

A guild has its own choice, or, if it opted in, the operator's key from the environment, or
the house model, which needs no key. What an owner chose and cannot be used is an error that
says so; the next owner is not asked in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from apps.core.sealing import SealingError, Secret
from apps.guilds.models import Guild, User

from . import catalog, params
from .models import TENANT, Credential, ModelProfile, ProviderPolicy, Purpose
from .refusals import ModelUnfit, NotUsable, UnknownPurpose

HOUSE = "house"
HOUSE_MODEL = "house model (no key)"
# What a guild's chat model may do when nothing was chosen for it. It never embeds.
_BY_CHAT = frozenset({Purpose.REASONING, Purpose.ROUTING})


@dataclass(frozen=True)
class Resolved:
    """A model, where it is and whose key reaches it. Holds no secret.

    ``owner`` is ``guild:7``, ``user:3``, ``tenant`` (the operator) or ``house``. ``purpose``
    is the one that was chosen, which is ``chat`` when that model stands in; ``told`` then
    says so to people.
    """

    provider: str
    model: str
    owner: str
    label: str
    base_url: str = ""
    purpose: str = Purpose.CHAT
    profile_id: UUID | None = None
    credential_id: UUID | None = None
    params: dict[str, Any] = field(default_factory=dict)
    told: str = ""

    @property
    def is_house(self) -> bool:
        return self.owner == HOUSE


def resolve(
    guild: Guild,
    purpose: str = "chat",
    *,
    user: User | None = None,
    direct: bool = False,
    variant: str = "",
) -> Resolved:
    """The model that serves a purpose of a guild now.

    ``user`` is who asks, if that person's own key may count; ``direct`` is true in a
    conversation with that person alone. :class:`NotUsable` when what was chosen cannot be
    used, or nothing can embed; :class:`ModelUnfit` when the model has no such variant.
    """
    if purpose not in Purpose.values:
        raise UnknownPurpose(f"There is no purpose {purpose[:20]!r}: {', '.join(Purpose.values)}.")
    policy = ProviderPolicy.objects.filter(guild=guild).first()
    owners = [f"user:{user.pk}"] if user and _personal(policy, direct=direct) else []
    for owner in [*owners, f"guild:{guild.pk}"]:
        if (profile := _chosen(owner, purpose)) is not None:
            return _resolved(profile, purpose, variant)
    found = _operator(purpose) if policy and policy.operator_credential_allowed else None
    return _without_variants(found or _house(purpose), variant)


@sensitive_variables()
def open_secret(resolved: Resolved) -> str:
    """The key of a resolved model, for the client that is about to call it and nobody else.

    :class:`NotUsable` when the key was revoked, moved or refused since, or does not open.
    """
    if resolved.is_house:
        return Secret("")
    if resolved.credential_id is None:
        return _environment_key(resolved)
    row = Credential.objects.filter(
        pk=resolved.credential_id,
        owner=resolved.owner,
        provider=resolved.provider,
        base_url=resolved.base_url,
        status=Credential.Status.ACTIVE,
    ).first()
    if row is None:
        raise NotUsable(
            f"The key behind {resolved.label} was revoked, refused or moved meanwhile. Look at it "
            "under Providers, then ask again."
        )
    try:
        opened: str = row.open()
    except SealingError as error:
        raise NotUsable(f"The key “{row.label}” cannot be used. {error}") from None
    return opened


def _environment_key(resolved: Resolved) -> Secret:
    """The operator's key, for what was resolved to the operator and its present address."""
    if resolved.owner != TENANT or resolved.base_url != settings.LLM_BASE_URL:
        raise NotUsable(f"{resolved.label} has no key of its own. Choose a model under Models.")
    return Secret(settings.LLM_API_KEY)


def _personal(policy: ProviderPolicy | None, *, direct: bool) -> bool:
    """Whether people's own keys count here."""
    allowed = policy.personal_keys if policy else ProviderPolicy.PersonalKeys.OFF
    if allowed == ProviderPolicy.PersonalKeys.DM_ONLY:
        return direct
    return allowed == ProviderPolicy.PersonalKeys.GUILD_ALLOWED


def _chosen(owner: str, purpose: str) -> ModelProfile | None:
    """What an owner chose for a purpose, or its chat model where that stands in."""
    wanted = [purpose, Purpose.CHAT] if purpose in _BY_CHAT else [purpose]
    rows = ModelProfile.objects.of(owner).filter(purpose__in=wanted).select_related("credential")
    # A disabled profile is still a choice: its key was revoked, and nobody decided what then.
    by_purpose: dict[str, ModelProfile] = {}
    for row in rows.order_by("enabled", "updated_at"):
        by_purpose[row.purpose] = row
    return next((by_purpose[each] for each in wanted if each in by_purpose), None)


def _resolved(profile: ModelProfile, purpose: str, variant: str) -> Resolved:
    key = profile.credential
    if not profile.enabled or not key.is_usable:
        what = "was refused by the provider" if key.status == key.Status.INVALID else "is revoked"
        raise NotUsable(
            f"The key “{key.label}” behind the {profile.purpose} model {profile.model} {what}. "
            "Replace it under Providers, choose another model under Models, or clear the choice."
        )
    try:
        options = params.with_variant(profile.params, variant)
    except LookupError as error:
        raise ModelUnfit(str(error)) from None
    stands_in = profile.purpose != purpose
    return Resolved(
        provider=profile.provider,
        model=profile.model,
        owner=profile.owner,
        label=f"{profile.model} at {catalog.get(profile.provider).label}",
        base_url=key.base_url,
        purpose=profile.purpose,
        profile_id=profile.pk,
        credential_id=key.pk,
        params=options,
        told=f"No model is chosen for {purpose}, so the chat model does it." if stands_in else "",
    )


def operator_label() -> str:
    """The operator's model for people, as a guild would get it; empty when there is no key."""
    found = _operator(Purpose.CHAT)
    return found.label if found else ""


def _operator(purpose: str) -> Resolved | None:
    """The key of the environment, if there is one; it chats, and never embeds."""
    if not settings.LLM_API_KEY or purpose == Purpose.EMBEDDING:
        return None
    provider, model = _provider_of(settings.LLM_BASE_URL), settings.LLM_MODEL
    label = f"{model} at {provider}" if model else "no model chosen (set LLM_MODEL)"
    return Resolved(
        provider=provider,
        model=model,
        owner=TENANT,
        label=label,
        base_url=settings.LLM_BASE_URL,
    )


def _provider_of(base_url: str) -> str:
    """A provider's name from its base URL; its host where it has none. Never raises."""
    try:
        host = (urlsplit(base_url).hostname or "").lower()
    except ValueError:
        host = ""
    return catalog.name_of_host(host) or host or "unknown"


def _house(purpose: str) -> Resolved:
    if purpose == Purpose.EMBEDDING:
        raise NotUsable("No model is chosen for embedding. Choose one under Models.")
    return Resolved(provider=HOUSE, model=HOUSE_MODEL, owner=HOUSE, label=HOUSE_MODEL)


def _without_variants(found: Resolved, variant: str) -> Resolved:
    if variant:
        raise ModelUnfit(f"{found.label} has no variants, so there is no {variant[:24]!r}.")
    return found
