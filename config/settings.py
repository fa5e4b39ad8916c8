"""The one place that reads the environment. It fails early, and in words."""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

DEBUG = env.bool("DEBUG", default=False)
EMBEDDED = env.bool("GATEHOUSE_EMBEDDED", default=False)
VAR = Path(env.str("GATEHOUSE_VAR", default=str(BASE_DIR / "var")))


def _required(name: str, *, what: str) -> str:
    value = env.str(name, default="")
    if not value:
        raise ImproperlyConfigured(
            f"{name} is not set: {what}. Use bin/run or bin/manage, which set it for the "
            "embedded servers, or see docs/reference/settings.md."
        )
    return value


SECRET_KEY = _required("SECRET_KEY", what="it signs sessions and the scope of the reader login")
# Sealed keys of providers. In development bin/run keeps a ring under var/; see core.sealing.
SEALER = env.str("SEALER", default="apps.core.sealing.EnvironmentSealer")
SEALING_KEYS = (
    env.str("SEALING_KEYS", default="")
    if DEBUG or SEALER != "apps.core.sealing.EnvironmentSealer"
    else _required("SEALING_KEYS", what="it seals the keys of model providers")
)
# Hosts that a custom provider may have although they are not public, such as an own Ollama.
PROVIDER_ALLOWED_HOSTS = env.list(
    "PROVIDER_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "::1"] if DEBUG else []
)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "csp",
    "apps.core",
    "apps.audit",
    "apps.guilds",
    "apps.jobs",
    "apps.providers",
    "apps.usage",
    "apps.llm",
    "apps.shop",
    "apps.agents",
    "apps.chat",
    "apps.console",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.guilds.middleware.GuildMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.console.context.navigation",
            ],
        },
    }
]


# Four logins of one database; nothing falls back to another login.
def _database(name: str, *, what: str) -> dict[str, Any]:
    config: dict[str, Any] = env.db_url_config(_required(name, what=what))
    config["ENGINE"] = "django.db.backends.postgresql"
    config.setdefault("OPTIONS", {})
    # A failing statement then logs $1, never the text that was bound to it.
    config["OPTIONS"]["server_side_binding"] = True
    config["CONN_MAX_AGE"] = 0
    config["DISABLE_SERVER_SIDE_CURSORS"] = False
    return config


DATABASES = {
    "default": _database("DATABASE_URL", what="the app login"),
    "owner": _database("OWNER_DATABASE_URL", what="the login that migrates"),
    "reader": _database("READER_DATABASE_URL", what="the login of tools that read"),
    "analyst": _database("ANALYST_DATABASE_URL", what="the login of SQL questions"),
}
SUPERUSER_DATABASE_URL = env.str("GATEHOUSE_SUPERUSER_URL", default="")
DATABASE_ROUTERS = ["apps.core.reading.Router"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = _required("REDIS_URL", what="Redis or Valkey, for wake-ups and streams")
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_ROUTES = {
    "apps.agents.*": {"queue": "agents"},
    "apps.providers.*": {"queue": "agents"},
    "apps.jobs.*": {"queue": "ingest"},
}
# A server that hangs must not hang whoever wakes a worker; the wait of a worker is shorter.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "max_connections": 200,
    "socket_keepalive": True,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL]},
    }
}

AUTH_USER_MODEL = "guilds.User"
LOGIN_URL = "console:login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "console:login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
DEFAULT_EXCEPTION_REPORTER_FILTER = "apps.core.reporting.AlwaysSafe"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
HTTPS = env.bool("HTTPS", default=not DEBUG)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health/$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
if env.bool("BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [path for path in [BASE_DIR / "static"] if path.exists()]
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
MEDIA_ROOT = VAR / "uploads"
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_TEMP_DIR = None
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "apps.core.logs.RedactingFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
    "loggers": {
        # Django's own handlers would print the same lines unredacted.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
        "gatehouse": {"level": env.str("LOG_LEVEL", default="INFO")},
    },
}


# Models and money. Without a key the house model answers.
def _decimal(name: str, default: str | None) -> Decimal | None:
    text = env.str(name, default=default or "")
    if not text:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("-1")
    if not value.is_finite() or value < 0:
        raise ImproperlyConfigured(f"{name} must be an amount of USD, zero or more; it is {text!r}")
    return value


LLM_BASE_URL = env.str("LLM_BASE_URL", default="https://openrouter.ai/api/v1")
LLM_API_KEY = env.str("LLM_API_KEY", default="")
LLM_MODEL = env.str("LLM_MODEL", default="")
LLM_TIMEOUT = env.float("LLM_TIMEOUT", default=60.0)
LLM_INPUT_PRICE = _decimal("LLM_INPUT_PRICE", None)
LLM_OUTPUT_PRICE = _decimal("LLM_OUTPUT_PRICE", None)
DAILY_AI_BUDGET = _decimal("DAILY_AI_BUDGET", "5.00")

TESTING = "pytest" in sys.modules
if TESTING:
    # A password is slow to check on purpose; tests sign in hundreds of times.
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
