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
    """Test a key, and the models chosen with it; never raises for what a provider does.

    Ten seconds at most, and as many again for each chosen model that its list does not name.
    What came of it is kept unless the key was replaced or revoked meanwhile. Runs an event
    loop of its own, so it must not be called from one.
    """
    try:
        secret = credential.open()
    except SealingError as error:
        secret, result = "", ProbeResult(ok=False, error_class=CANNOT_OPEN, words=str(error))
    else:
        chosen = credential.profiles.filter(enabled=True).values_list("model", flat=True)
        result = asyncio.run(_asked(credential, secret, sorted(set(chosen))))
    # A server may say the key back as a name.
    models = [name for name in result.models if redact(name, also=(secret,)) == name]
    operations.record_test(credential, result.error_class, models=models, actor=actor)
    return result


@sensitive_variables("secret")
async def _asked(credential: Credential, secret: str, chosen: list[str]) -> ProbeResult:
    """What came of the key, or of the first chosen model that its provider does not know."""
    where = {"provider": credential.provider, "base_url": credential.base_url}
    result = await probe(**where, secret=secret)
    for model in chosen:
        if result.ok and model not in result.models:
            tried = await probe(**where, secret=secret, model=model)
            if not tried.ok:
                return tried
    return result
