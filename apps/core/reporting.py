"""What a page or report of an error shows: never what a view or function marked as sensitive."""

from __future__ import annotations

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class AlwaysSafe(SafeExceptionReporterFilter):
    """Django's own filter, which lets everything through in development, kept on there too."""

    def is_active(self, request: HttpRequest | None) -> bool:
        return True
