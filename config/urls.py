"""Addresses of every room. Django's own admin site is not mounted: it would be a side door."""

from django.urls import include, path

urlpatterns = [
    path("", include("apps.console.urls")),
    path("", include("apps.chat.urls")),
    path("", include("apps.shop.urls")),
    path("", include("apps.usage.urls")),
    path("", include("apps.jobs.urls")),
    path("", include("apps.providers.urls")),
]
