"""Writes of the providers room: keys, models, policy. Each is audited by metadata only.

Who may do it is asked by the caller, through ``guilds.policy``; an ``actor`` of None is the
operator at the command line.
"""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.views.decorators.debug import sensitive_variables

from apps.audit.recorder import record
from apps.core import clock
from apps.core.redaction import redact
from apps.core.sealing import SealingError, Secret, masks_secret
from apps.guilds.models import Guild, Member

from . import addresses, catalog
from . import params as options
from .models import Credential, ModelProfile, OwnerType, ProviderPolicy, Purpose
from .refusals import (
    AddressUnfit,
    CannotSeal,
    LabelLooksSecret,
    LabelTaken,
    LabelUnfit,
    ModelUnfit,
    NotUsable,
    ProviderMismatch,
    ProvidersError,
    SecretUnfit,
    UnknownProvider,
    UnknownPurpose,
)

__all__ = [
    "AddressUnfit",
    "CannotSeal",
    "LabelLooksSecret",
    "LabelTaken",
    "LabelUnfit",
    "ModelUnfit",
    "NotUsable",
    "ProviderMismatch",
    "ProvidersError",
    "SecretUnfit",
    "UnknownProvider",
    "UnknownPurpose",
    "add_credential",
    "clear_model",
    "policy_of",
    "record_test",
    "replace_secret",
    "revoke",
    "select_model",
    "set_policy",
]

LABEL_LENGTH = 60
SECRET_LENGTH = 4096
LISTED_MODELS = 1000
"""How many names of a provider's list are kept for suggestions."""
ADDRESS_LENGTH = 300
# A long run of letters with digits among them: no name for people, likely a key or its part.
_TOKEN = re.compile(r"(?=[A-Za-z_\-]*[0-9])[A-Za-z0-9_\-]{24,}")
_CHANGED = [*Credential.SEALED_FIELDS, "updated_by", "updated_at"]


@masks_secret
@transaction.atomic
def add_credential(
    *,
    guild: Guild,
    provider: str,
    label: str,
    secret: str,
    base_url: str = "",
    actor: Member | None,
) -> Credential:
    """Seal a new key of a guild, untested. Raises a :class:`ProvidersError` named for the fact.

    An empty ``base_url`` means the provider's own; ``custom`` has none and needs one.
    """
    kept, now = _checked_secret(provider, secret), clock.now()
    credential = Credential(
        id=uuid.uuid4(),
        owner_type=OwnerType.GUILD,
        owner=f"guild:{guild.pk}",
        guild=guild,
        provider=provider,
        label=_checked_label(label, kept),
        base_url=_base_url(provider, base_url),
        created_by=actor,
        updated_by=actor,
        created_at=now,
        updated_at=now,
    )
    _seal(credential, kept)
    _insert(credential)
    _audit("credential_add", credential, actor)
    return credential


@masks_secret
@transaction.atomic
def replace_secret(
    credential: Credential, secret: str, *, base_url: str | None = None, actor: Member | None
) -> Credential:
    """A new secret in the same row, untested again; None keeps the address as it is."""
    kept, row = _checked_secret(credential.provider, secret), _locked(credential)
    before = row.base_url
    if base_url is not None:
        row.base_url = _base_url(row.provider, base_url)
    _seal(row, kept)
    row.status, row.test, row.test_class = row.Status.ACTIVE, row.Test.UNTESTED, ""
    row.tested_at, row.updated_by, row.updated_at = None, actor, clock.now()
    row.listed_models = []
    row.secret_version += 1
    tested = ["test", "test_class", "tested_at", "listed_models"]
    row.save(update_fields=[*_CHANGED, *tested, "base_url", "status", "secret_version"])
    _audit("credential_replace", row, actor, base_url_changed=row.base_url != before)
    return row


@transaction.atomic
def revoke(credential: Credential, *, actor: Member | None) -> Credential:
    """Wipe a key for good and disable its profiles; a second time changes nothing."""
    row = Credential.objects.select_for_update().get(pk=credential.pk)
    if row.status == row.Status.REVOKED:
        return row
    row.wipe()
    row.status, row.updated_by = row.Status.REVOKED, actor
    row.revoked_at = row.updated_at = clock.now()
    row.save(update_fields=[*_CHANGED, "status", "revoked_at"])
    stopped = ModelProfile.objects.filter(credential=row, enabled=True).update(
        enabled=False, updated_at=row.revoked_at
    )
    _audit("credential_revoke", row, actor, profiles=stopped)
    return row


def record_test(
    credential: Credential,
    outcome_class: str,
    *,
    models: Sequence[str] = (),
    actor: Member | None = None,
) -> bool:
    """Keep how a test ended: a class of failure, or empty for success with the models it listed.

    False, and nothing kept, when the key was replaced or revoked since ``credential`` was read.
    A key that the provider refuses becomes invalid until it is replaced or passes a test.
    """
    values: dict[str, Any] = {"test_class": outcome_class[:40], "tested_at": clock.now()}
    if not outcome_class:
        values |= {"test": Credential.Test.SUCCEEDED, "status": Credential.Status.ACTIVE}
        values["listed_models"] = list(models[:LISTED_MODELS])
    else:
        values["test"] = Credential.Test.FAILED
    if outcome_class == "auth_failed":
        values["status"] = Credential.Status.INVALID
    with transaction.atomic():
        same = Credential.objects.live().filter(
            pk=credential.pk, secret_version=credential.secret_version
        )
        if not same.update(**values):
            return False
        status = "failed" if outcome_class else "succeeded"
        _audit("credential_test", credential, actor, status=status, reason=outcome_class)
    return True


@transaction.atomic
def select_model(
    *,
    guild: Guild,
    purpose: str,
    credential: Credential,
    model: str,
    params: dict[str, Any] | None = None,
    actor: Member | None,
) -> ModelProfile:
    """Let a model serve a purpose of a guild, in place of the one before."""
    owner, checked = f"guild:{guild.pk}", _checked_model(purpose, model, params)
    # One at a time per guild: two would both see no profile, and the second would fail.
    Guild.objects.select_for_update(no_key=True).get(pk=guild.pk)
    key = _locked(credential)
    if key.owner != owner:
        raise ProviderMismatch("That key is not one of this guild's. Choose one of its own.")
    if not key.is_usable:
        raise NotUsable(f"The provider refused “{key.label}”. Replace the key, then choose again.")
    if purpose == Purpose.EMBEDDING and not catalog.get(key.provider).capabilities.embeddings:
        raise NotUsable(f"{catalog.get(key.provider).label} has no embeddings. Choose another key.")
    ModelProfile.objects.of(owner).filter(purpose=purpose).delete()
    profile = ModelProfile.objects.create(
        owner_type=OwnerType.GUILD,
        owner=owner,
        guild=guild,
        purpose=purpose,
        credential=key,
        provider=key.provider,
        model=model.strip(),
        params=checked,
        selected_by=actor,
        updated_at=clock.now(),
    )
    record(
        "model_select",
        guild_id=guild.pk,
        actor=_name(actor),
        profile=str(profile.pk),
        purpose=purpose,
        credential=str(key.pk),
        provider=key.provider,
        model=profile.model[:120],
    )
    return profile


@transaction.atomic
def clear_model(guild: Guild, purpose: str, actor: Member | None) -> int:
    """Forget what was chosen for a purpose; how many profiles that were."""
    gone, _ = ModelProfile.objects.of(f"guild:{guild.pk}").filter(purpose=purpose).delete()
    if gone:
        record("model_clear", guild_id=guild.pk, actor=_name(actor), purpose=purpose, profiles=gone)
    return int(gone)


def policy_of(guild: Guild) -> ProviderPolicy:
    """The guild's policy as stored, or a closed one that is not."""
    found = ProviderPolicy.objects.filter(guild=guild).first()
    return found or ProviderPolicy(guild=guild, updated_at=clock.now())


@transaction.atomic
def set_policy(
    guild: Guild,
    *,
    operator_credential_allowed: bool | None = None,
    personal_keys: str | None = None,
    actor: Member | None,
) -> ProviderPolicy:
    """Change what a guild allows beside its own keys; None leaves a part as it is."""
    policy, _ = ProviderPolicy.objects.select_for_update().get_or_create(
        guild=guild, defaults={"updated_at": clock.now()}
    )
    if operator_credential_allowed is not None:
        policy.operator_credential_allowed = operator_credential_allowed
    if personal_keys is not None:
        policy.personal_keys = ProviderPolicy.PersonalKeys(personal_keys)
    policy.updated_by, policy.updated_at = actor, clock.now()
    policy.save()
    record(
        "provider_policy",
        guild_id=guild.pk,
        actor=_name(actor),
        operator_credential_allowed=policy.operator_credential_allowed,
        personal_keys=str(policy.personal_keys),
    )
    return policy


def _locked(credential: Credential) -> Credential:
    """The row as it is now, ours until the transaction ends. A revoked one is refused."""
    row: Credential = Credential.objects.select_for_update().get(pk=credential.pk)
    if row.status == row.Status.REVOKED:
        raise NotUsable(f"“{row.label}” is revoked and its secret is wiped. Add a new key.")
    return row


@sensitive_variables()
def _seal(credential: Credential, secret: Secret) -> None:
    try:
        credential.seal(secret)
    except SealingError as error:
        raise CannotSeal(str(error)) from None


def _insert(credential: Credential) -> None:
    try:
        with transaction.atomic():
            credential.save(force_insert=True)
    except IntegrityError as error:
        if "providers_key_label_once" not in str(error):
            raise
        raise LabelTaken(
            f"There is a key “{credential.label}” already. Choose another label, or replace "
            "that key."
        ) from None


@sensitive_variables()
def _checked_secret(provider: str, secret: str) -> Secret:
    """The secret as it is sealed; empty only where the provider's server may need none."""
    kept = Secret(secret.strip())
    if not kept and _known(provider).needs_key:
        raise SecretUnfit("Type the key; an empty one cannot be kept.")
    if len(kept) > SECRET_LENGTH:
        raise SecretUnfit(f"A key has at most {SECRET_LENGTH:,} characters.")
    if not kept.isascii() or not kept.isprintable() or " " in kept:
        raise SecretUnfit("A key has no spaces, line breaks or accents. Copy it again, alone.")
    return kept


def _known(provider: str) -> catalog.Provider:
    try:
        return catalog.get(provider)
    except catalog.UnknownProvider as error:
        raise UnknownProvider(str(error)) from None


def _base_url(provider: str, typed: str) -> str:
    """Where a key is sent: what was typed, or the provider's own; in the one spelling."""
    url = typed.strip() or _known(provider).base_url
    if not url or len(url) > ADDRESS_LENGTH or redact(url) != url:
        raise AddressUnfit(
            "This provider needs a base URL, such as https://models.example.com/v1, with no key "
            f"in it and at most {ADDRESS_LENGTH} characters."
        )
    try:
        return addresses.checked(url)
    except addresses.UnsafeAddress as error:
        raise AddressUnfit(error.message) from None


@sensitive_variables()
def _checked_label(label: str, secret: str) -> str:
    name = unicodedata.normalize("NFC", label).strip()
    if not name or len(name) > LABEL_LENGTH or not name.isprintable():
        raise LabelUnfit(f"A label has 1 to {LABEL_LENGTH} characters, in one line.")
    if redact(name, also=(secret,)) != name or _TOKEN.search(name):
        raise LabelLooksSecret(
            "That looks like a secret, so it was not kept. A label is read by everyone: choose "
            "a name."
        )
    return name


def _checked_model(purpose: str, model: str, params: dict[str, Any] | None) -> dict[str, Any]:
    if purpose not in Purpose.values:
        raise UnknownPurpose(f"There is no purpose {purpose[:20]!r}: {', '.join(Purpose.values)}.")
    name = model.strip()
    if not name or len(name) > 200 or not name.isprintable() or redact(name) != name:
        raise ModelUnfit("A model's name has 1 to 200 characters, as the provider writes it.")
    try:
        return options.checked(params)
    except ValueError as error:
        raise ModelUnfit(f"These params are not possible. {error}") from None


def _audit(kind: str, credential: Credential, actor: Member | None, **more: Any) -> None:
    record(
        kind,
        guild_id=credential.guild_id,
        actor=_name(actor),
        credential=str(credential.pk),
        provider=credential.provider,
        **more,
    )


def _name(actor: Member | None) -> str:
    return f"member:{actor.pk}" if actor else "operator"
