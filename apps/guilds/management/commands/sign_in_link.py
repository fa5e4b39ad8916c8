"""Print a one-time sign-in link for a staff user (development only)."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.guilds import operations
from apps.guilds.models import User


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--user", default="", help="e-mail; the first staff user if left out")
        parser.add_argument("--base-url", default="http://127.0.0.1:8000")

    def handle(self, *args: Any, **options: Any) -> None:
        user = self._user(options["user"])
        try:
            token = operations.make_sign_in_link(user)
        except operations.SignInLinksOff as error:
            raise CommandError(f"{error} Sign in with a password.") from None
        self.stdout.write(f"{options['base_url'].rstrip('/')}/sign-in/{token}/")

    def _user(self, email: str) -> User:
        if not email:
            return operations.ensure_first_guild()[1]
        user = User.objects.filter(email__iexact=email, is_active=True).first()
        if user is None:
            raise CommandError(f"No active staff user has the e-mail {email[:80]!r}.")
        return user
