"""Trying a key that is kept: open it, ask its provider, write down what came of it.

Loads an HTTP client, so only workers and commands import this.
"""

from __future__ import annotations

import asyncio

from django.views.decorators.debug import sensitive_variables

from apps.core.redaction import redact
from apps.core.sealing import SealingError
from apps.guilds.models import Member

from . import operations
from .models import Credential
from .probe import ProbeResult, probe

CANNOT_OPEN = "cannot_open"


@sensitive_variables("secret")
def try_key(credential: Credential, *, actor: Member | None = None) -> ProbeResult:
    """Test a key as its row says, ten seconds at most; never raises for what a provider does.

    What came of it is kept unless the key was replaced or revoked meanwhile. Runs an event
    loop of its own, so it must not be called from one.
    """
    try:
        secret = credential.open()
    except SealingError as error:
        secret, result = "", ProbeResult(ok=False, error_class=CANNOT_OPEN, words=str(error))
    else:
        asked = probe(provider=credential.provider, base_url=credential.base_url, secret=secret)
        result = asyncio.run(asked)
    # A server may say the key back as a name.
    models = [name for name in result.models if redact(name, also=(secret,)) == name]
    operations.record_test(credential, result.error_class, models=models, actor=actor)
    return result
