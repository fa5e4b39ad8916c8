"""What people write in Ask."""

from __future__ import annotations

from django import forms

from apps.agents.models import QUESTION_LIMIT


class AskForm(forms.Form):
    """A question. NUL bytes and blank text are refused in words; nothing is cut."""

    question = forms.CharField(
        strip=True,
        error_messages={
            "required": "Write a question first.",
            "null_characters_not_allowed": (
                "The question holds a NUL character, which no text may. Remove it and send again."
            ),
        },
    )

    # The id of the thread that the form starts, so that a second click starts no second one.
    thread = forms.UUIDField(required=False)

    def clean_question(self) -> str:
        question = str(self.cleaned_data["question"])
        if len(question) > QUESTION_LIMIT:
            raise forms.ValidationError(
                f"The question has {len(question):,} characters; at most {QUESTION_LIMIT:,} fit. "
                "Shorten it, or ask about a part."
            )
        return question


class RenameForm(forms.Form):
    """A thread's title."""

    title = forms.CharField(max_length=120, strip=True)
