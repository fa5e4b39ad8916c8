"""Addresses of the chat room."""

app_name = "chat"
urlpatterns: list[object] = []
