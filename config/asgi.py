"""The ASGI application: HTTP and server-sent events."""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Static files come as synchronous iterators; they are small, so that is fine.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")

application = get_asgi_application()

from apps.core import proof  # noqa: E402 -- needs the apps that the line above loads

# The server imports this inside its event loop, where Django refuses to query.
with ThreadPoolExecutor(1) as pool:
    pool.submit(proof.prove_and_close).result()
