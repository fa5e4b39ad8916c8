"""Set a staff user's password, asked for twice or read from standard input."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from apps.guilds.models import User


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["email"]).first()
        if user is None:
            raise CommandError(f"There is no staff user {options['email'][:80]!r}.")
        password = self._read()
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        user.set_password(password)
        user.save(update_fields=["password"])
        self.stdout.write(f"The password of {user.email} is set.")

    def _read(self) -> str:
        if not sys.stdin.isatty():
            return sys.stdin.readline().rstrip("\n")
        first = getpass.getpass("New password: ")
        if first != getpass.getpass("Again: "):
            raise CommandError("The two passwords differ; nothing was changed.")
        return first
