"""Sealed keys of providers, which model serves which purpose, and each guild's policy."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from apps.core.sealed_rows import SealedRow
from apps.core.sealing import Binding
from apps.guilds.models import Guild, Member, User

TENANT = "tenant"


class OwnerType(models.TextChoices):
    GUILD = "guild"
    USER = "user"
    TENANT = "tenant"


class Purpose(models.TextChoices):
    CHAT = "chat"
    REASONING = "reasoning"
    EMBEDDING = "embedding"
    ROUTING = "routing"


def owner_check(name: str) -> models.CheckConstraint:
    """Exactly the id that the type names, and ``owner`` spelt from it (see the migration)."""
    guild, user = Q(guild__isnull=True), Q(user__isnull=True)
    return models.CheckConstraint(
        name=name,
        condition=Q(~guild, user, owner_type="guild")
        | Q(guild, ~user, owner_type="user")
        | Q(guild, user, owner_type="tenant", owner=TENANT),
    )


class OwnedQuerySet(models.QuerySet[Any]):
    def visible_to(self, member: Member) -> Self:
        """Those of the member's own guild; nobody sees a person's or the operator's."""
        return self.filter(owner_type=OwnerType.GUILD, guild_id=member.guild_id)

    def of(self, owner: str) -> Self:
        """Those of one owner, spelt as in ``Owned.owner``."""
        return self.filter(owner=owner)


class CredentialQuerySet(OwnedQuerySet):
    def live(self) -> Self:
        """Those that are not revoked."""
        return self.exclude(status=Credential.Status.REVOKED)

    def testable(self) -> Self:
        """Those with a secret to test: a refused key may be tested again, a revoked one not."""
        return self.live()


class Owned(models.Model):
    """A row of one owner. ``owner`` is ``guild:7``, ``user:3`` or ``tenant``."""

    owner_type = models.CharField(max_length=6, choices=OwnerType.choices)
    owner = models.CharField(max_length=30)
    guild = models.ForeignKey(Guild, on_delete=models.CASCADE, null=True, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")

    class Meta:
        abstract = True


class Credential(SealedRow, Owned):
    """A key of a provider, sealed. It can be replaced and revoked, never read."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        INVALID = "invalid"
        REVOKED = "revoked"

    class Test(models.TextChoices):
        UNTESTED = "untested"
        SUCCEEDED = "succeeded"
        FAILED = "failed"

    provider = models.CharField(max_length=40)
    label = models.CharField(max_length=60)
    base_url = models.CharField(max_length=300)
    secret_version = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.ACTIVE)
    test = models.CharField(max_length=9, choices=Test.choices, default=Test.UNTESTED)
    test_class = models.CharField(max_length=40, blank=True)
    tested_at = models.DateTimeField(null=True)
    listed_models = models.JSONField(default=list)
    created_by = models.ForeignKey(Member, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_by = models.ForeignKey(Member, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = CredentialQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["guild", "-created_at"], name="providers_key_recent")]
        constraints = [
            owner_check("providers_key_owner"),
            models.UniqueConstraint(
                "owner",
                Lower("label"),
                name="providers_key_label_once",
                condition=~Q(status="revoked"),
            ),
            models.UniqueConstraint(
                fields=["id", "provider", "owner"], name="providers_key_for_profiles"
            ),
            models.CheckConstraint(
                name="providers_key_status",
                condition=Q(status__in=["active", "invalid", "revoked"]),
            ),
            models.CheckConstraint(
                name="providers_key_test", condition=Q(test__in=["untested", "succeeded", "failed"])
            ),
            models.CheckConstraint(
                name="providers_key_wiped",
                condition=Q(
                    status="revoked",
                    ciphertext__isnull=True,
                    nonce__isnull=True,
                    key_id="",
                    fingerprint="",
                    revoked_at__isnull=False,
                )
                | Q(
                    ~Q(status="revoked"),
                    ciphertext__isnull=False,
                    nonce__isnull=False,
                    revoked_at__isnull=True,
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} ({self.provider})"

    def binding(self) -> Binding:
        return Binding(self.id, self.owner, self.provider, self.label, self.base_url)

    @property
    def is_usable(self) -> bool:
        return self.status == self.Status.ACTIVE


class ModelProfile(Owned):
    """The model that serves one purpose of one owner, and the key it is reached with.

    The database refuses a credential of another provider or owner, and a second enabled
    profile for a purpose. A disabled one is what a revoked key leaves behind.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    purpose = models.CharField(max_length=10, choices=Purpose.choices)
    credential = models.ForeignKey(Credential, on_delete=models.CASCADE, related_name="profiles")
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    params = models.JSONField(default=dict)
    enabled = models.BooleanField(default=True)
    selected_by = models.ForeignKey(Member, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField()

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            owner_check("providers_profile_owner"),
            models.UniqueConstraint(
                fields=["owner", "purpose"],
                name="providers_one_profile_enabled",
                condition=Q(enabled=True),
            ),
            models.CheckConstraint(
                name="providers_profile_purpose",
                condition=Q(purpose__in=["chat", "reasoning", "embedding", "routing"]),
            ),
            models.CheckConstraint(name="providers_profile_model", condition=~Q(model="")),
        ]

    def __str__(self) -> str:
        return f"{self.purpose}: {self.model} at {self.provider}"


class ProviderPolicy(models.Model):
    """Which keys a guild allows beside its own. A guild without a row allows none."""

    class PersonalKeys(models.TextChoices):
        OFF = "off"
        DM_ONLY = "dm-only"
        GUILD_ALLOWED = "guild-allowed"

    guild = models.OneToOneField(
        Guild, on_delete=models.CASCADE, primary_key=True, related_name="provider_policy"
    )
    operator_credential_allowed = models.BooleanField(default=False)
    personal_keys = models.CharField(
        max_length=13, choices=PersonalKeys.choices, default=PersonalKeys.OFF
    )
    updated_by = models.ForeignKey(Member, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="providers_policy_personal",
                condition=Q(personal_keys__in=["off", "dm-only", "guild-allowed"]),
            )
        ]

    def __str__(self) -> str:
        return f"policy of guild {self.guild_id}"
