"""What every page needs to know: the guild, its rooms, and today's spend."""

from typing import Any

from django.http import HttpRequest


def navigation(request: HttpRequest) -> dict[str, Any]:
    return {}
