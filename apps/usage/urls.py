"""Addresses of the usage room."""

from django.urls import path

from . import views

app_name = "usage"
urlpatterns = [path("usage/", views.today, name="today")]
