"""Forms of the providers room. What was typed as a key, wherever, is never shown again."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms

from apps.core.redaction import redact
from apps.core.sealing import Secret

OFF = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}
KEY_LENGTH = 4096
ONCE = "Written once, sealed, never shown again."


def _key(help_text: str, *, required: bool) -> forms.CharField:
    return forms.CharField(
        required=required,
        max_length=KEY_LENGTH,
        # render_value is off: a form that comes back with an error has an empty key.
        widget=forms.PasswordInput(render_value=False, attrs=OFF),
        help_text=help_text,
        error_messages={
            "required": "Type the key; it is never kept in this form.",
            "max_length": f"A key has at most {KEY_LENGTH:,} characters.",
        },
    )


def _base_url(help_text: str) -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=400,
        widget=forms.TextInput(attrs=OFF | {"placeholder": "https://", "inputmode": "url"}),
        help_text=help_text,
    )


def focus(form: forms.Form) -> None:
    """Let a page that comes back begin at the first field that is wrong."""
    for name in form.fields:
        if name in form.errors:
            form.fields[name].widget.attrs["autofocus"] = True
            return


class _Writing(forms.Form):
    """A form with a key: once it is wrong, only harmless values go back to the page."""

    shown_again: tuple[str, ...] = ()

    def clean_key(self) -> Secret:
        """The key so that whatever prints variables from here on prints a mark."""
        return Secret(self.cleaned_data["key"])

    def forget(self) -> None:
        """Drop the key, and every other value that may hold one, from what is rendered."""
        key = str(self.data.get("key", "")).strip()
        values = {name: str(self.data.get(name, "")) for name in self.shown_again}
        self.data = {name: value for name, value in values.items() if _harmless(name, value, key)}
        focus(self)


class CredentialForm(_Writing):
    """A new key with its provider and a name for people."""

    shown_again = ("provider", "label", "base_url")

    provider = forms.ChoiceField(error_messages={"invalid_choice": "Choose one of the list."})
    label = forms.CharField(
        max_length=60,
        widget=forms.TextInput(attrs=OFF),
        help_text="What people call it here, such as “Front desk”.",
    )
    key = _key(ONCE + " A server of your own may need none.", required=False)
    base_url = _base_url("For a custom provider only: where its OpenAI-compatible API begins.")

    def __init__(self, *args: Any, providers: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["provider"]
        field.choices = providers


class SecretForm(_Writing):
    """A new key for a row that is there."""

    shown_again = ("base_url",)

    key = _key(ONCE, required=True)
    base_url = _base_url("A key is sealed to its address; a new address needs the key again.")

    def __init__(self, *args: Any, custom: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not custom:
            del self.fields["base_url"]


class ModelForm(forms.Form):
    """Which key, and which of its provider's models."""

    credential = forms.ChoiceField(error_messages={"invalid_choice": "Choose a key of the list."})
    model = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs=OFF | {"list": "suggestions"}),
        help_text="As the provider writes it. The provider itself checks the name.",
    )

    def forget(self) -> None:
        """Drop a key that was typed as a model from what is rendered."""
        self.data = {name: value for name, value in self.data.items() if redact(value) == value}
        focus(self)

    def __init__(self, *args: Any, credentials: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["credential"]
        field.choices = credentials


def is_plain_address(url: str) -> bool:
    """Whether an address has nothing in it that could be a secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    return plain and redact(url) == url


def refuse(form: forms.Form, error: Exception) -> None:
    """Tell a refusal at the field that it is about, or over the form."""
    field = getattr(error, "field", None)
    form.add_error(field if field in form.fields else None, str(error))


def _harmless(name: str, value: str, key: str) -> bool:
    if key and key in value:
        return False
    return redact(value) == value and (name != "base_url" or is_plain_address(value))
