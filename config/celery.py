"""The Celery application. Celery only wakes workers: rows in PostgreSQL are the truth."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("gatehouse")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def prove_locks(sender: Any = None, **kwargs: Any) -> None:
    """No worker serves unless the database's locks hold."""
    from apps.core import proof

    proof.prove_and_close()
