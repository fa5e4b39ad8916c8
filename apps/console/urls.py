"""Addresses of the console room."""

from django.urls import path

from . import views

app_name = "console"
urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in/", views.sign_in, name="login"),
    path("sign-in/<str:token>/", views.sign_in_link, name="sign-in-link"),
    path("sign-out/", views.sign_out, name="logout"),
    path("theme/", views.theme, name="theme"),
    path("guild/", views.switch_guild, name="guild"),
    path("guide/hide/", views.hide_guide, name="hide-guide"),
    path("health/", views.health, name="health"),
]
