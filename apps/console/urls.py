"""Addresses of the console room."""

app_name = "console"
urlpatterns: list[object] = []
