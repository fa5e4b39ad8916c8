"""Guilds, staff users, members and their grants."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower

from apps.core import clock


class Guild(models.Model):
    """A tenant: a Discord server, or a local one. Every row of every room belongs to one."""

    class Kind(models.TextChoices):
        LOCAL = "local"
        DISCORD = "discord"

    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.LOCAL)
    time_zone = models.CharField(max_length=64, default="UTC")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """A sign-in of a member of staff. What it may do hangs on its members, not on itself."""

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=100, blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="guilds_user_email_once")]

    def __str__(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name.split(" ")[0] or self.email.split("@")[0]


class Member(models.Model):
    """A person in one guild; a staff user acts as one."""

    guild = models.ForeignKey(Guild, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, null=True, blank=True, related_name="members"
    )
    display_name = models.CharField(max_length=100)
    is_owner = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["guild", "user"], name="guilds_member_user_once")
        ]

    def __str__(self) -> str:
        return self.display_name

    @property
    def initials(self) -> str:
        """Two capitals for the circle that stands for a person."""
        words = self.display_name.split() or ["?"]
        letters = words[0][0] + (words[-1][0] if len(words) > 1 else words[0][1:2])
        return letters.upper()

    @property
    def first_name(self) -> str:
        return self.display_name.split(" ")[0]


class Grant(models.Model):
    """A capability that a member holds in its guild. There are no deny grants."""

    guild = models.ForeignKey(Guild, on_delete=models.CASCADE)
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="grants")
    capability = models.CharField(max_length=128)
    granted_by = models.ForeignKey(
        Member, on_delete=models.SET_NULL, null=True, related_name="given_grants"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["member", "capability"], name="guilds_grant_once")
        ]

    def __str__(self) -> str:
        return f"{self.member}: {self.capability}"


class SignInLinkQuerySet(models.QuerySet["SignInLink"]):
    def usable(self, token: str) -> SignInLinkQuerySet:
        return self.filter(digest=digest(token), used_at__isnull=True, expires_at__gt=clock.now())


class SignInLink(models.Model):
    """A one-time way in for development. Only the token's digest is kept."""

    LIFETIME = timedelta(hours=12)

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    objects = SignInLinkQuerySet.as_manager()

    def __str__(self) -> str:
        return f"sign-in link of {self.user}"


def digest(token: str) -> str:
    """What is kept of a sign-in token. It has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    return secrets.token_urlsafe(32)
