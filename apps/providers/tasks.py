"""What a worker does for keys: test them. A message carries the row's id and nothing else."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from apps.jobs import waking

from .models import Credential


@shared_task(name="apps.providers.test_credential")
def test_credential(credential_id: str) -> None:
    """Ask the provider whether it takes the key, and write down what came of it.

    A second delivery tests again, which changes nothing else; a row that is gone or revoked
    is left alone.
    """
    from .trying import try_key  # brings an HTTP client: not for a web process

    credential = Credential.objects.testable().filter(pk=credential_id).first()
    if credential is not None:
        try_key(credential)


def ask_for_test(credential_id: UUID) -> bool:
    """Send a worker to test a key; False when no broker takes the message."""
    return waking.wake(test_credential, credential_id)
