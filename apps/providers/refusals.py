"""What the providers room refuses, each with words for people and the field it is about."""

from __future__ import annotations

from django.core.exceptions import NON_FIELD_ERRORS


class ProvidersError(Exception):
    """Something in the providers room is not possible. The message holds no secret.

    ``field`` names the field of a form that the message belongs to.
    """

    field: str = NON_FIELD_ERRORS


class LabelTaken(ProvidersError):
    """Another key of the same owner has this label."""

    field = "label"


class LabelLooksSecret(ProvidersError):
    """The label looks like a key; labels are shown to everybody."""

    field = "label"


class LabelUnfit(ProvidersError):
    """The label is empty, too long, or holds control characters."""

    field = "label"


class SecretUnfit(ProvidersError):
    """The secret cannot be sent as a header: empty, too long, or with spaces in it."""

    field = "key"


class AddressUnfit(ProvidersError):
    """The base URL is none, or holds more than an address."""

    field = "base_url"


class UnknownProvider(ProvidersError):
    """There is no provider of that name."""

    field = "provider"


class ProviderMismatch(ProvidersError):
    """The key is of another owner or provider than the profile."""


class NotUsable(ProvidersError):
    """A key or a model cannot be used as it is: revoked, refused, missing, or not allowed."""


class ModelUnfit(ProvidersError):
    """The model's name or its params are not possible."""

    field = "model"


class UnknownPurpose(ProvidersError):
    """There is no purpose of that name."""


class CannotSeal(ProvidersError):
    """The installation has no key ring, so no secret can be kept."""
