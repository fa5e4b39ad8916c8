"""Chat: the Ask panel and the stream of a run."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "apps.chat"
