"""Addresses of the shop room."""

app_name = "shop"
urlpatterns: list[object] = []
