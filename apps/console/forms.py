"""Forms of the console."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm


class SignInForm(AuthenticationForm):
    """E-mail and password. A failure never says which of the two was wrong."""

    error_messages = {
        "invalid_login": "That e-mail and password do not open the gate. Mind capitals.",
        "inactive": "This account is switched off. Ask an owner of the guild.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"] = forms.EmailField(label="E-mail")

    def clean_username(self) -> str:
        return str(self.cleaned_data["username"]).strip().lower()
