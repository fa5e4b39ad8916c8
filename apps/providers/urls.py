"""Addresses of the providers room."""

from django.urls import path

from . import model_views, views

app_name = "providers"
urlpatterns = [
    path("providers/", views.credentials, name="credentials"),
    path("providers/add/", views.add, name="add"),
    path("providers/models/", model_views.models, name="models"),
    path("providers/models/<slug:purpose>/", model_views.model, name="model"),
    path("providers/models/<slug:purpose>/clear/", model_views.clear, name="clear"),
    path("providers/policy/", model_views.policy, name="policy"),
    path("providers/<uuid:credential_id>/", views.credential, name="credential"),
    path("providers/<uuid:credential_id>/health/", views.health, name="health"),
    path("providers/<uuid:credential_id>/test/", views.test, name="test"),
    path("providers/<uuid:credential_id>/replace/", views.replace, name="replace"),
    path("providers/<uuid:credential_id>/revoke/", views.revoke, name="revoke"),
]
