"""Addresses of the jobs room."""

from django.urls import path

from . import views

app_name = "jobs"
urlpatterns = [
    path("jobs/", views.jobs, name="jobs"),
    path("jobs/<uuid:job_id>/", views.job, name="job"),
    path("jobs/<uuid:job_id>/progress/", views.progress, name="progress"),
    path("jobs/<uuid:job_id>/cancel/", views.cancel, name="cancel"),
]
