"""Addresses of the chat room."""

from django.urls import path

from . import run_views, stream, views

app_name = "chat"
urlpatterns = [
    path("threads/", views.thread_list, name="threads"),
    path("threads/new/", views.new, name="new"),
    path("ask/", views.start, name="start"),
    path("threads/<uuid:thread_id>/", views.thread, name="thread"),
    path("threads/<uuid:thread_id>/ask/", views.ask, name="ask"),
    path("threads/<uuid:thread_id>/rename/", views.rename, name="rename"),
    path("threads/<uuid:thread_id>/delete/", views.delete, name="delete"),
    path("runs/", run_views.runs, name="runs"),
    path("runs/<uuid:run_id>/", run_views.run, name="run"),
    path("runs/<uuid:run_id>/fragment/", run_views.fragment, name="run-fragment"),
    path("runs/<uuid:run_id>/trace/", run_views.trace, name="trace"),
    path("runs/<uuid:run_id>/stream/", stream.stream, name="stream"),
    path("runs/<uuid:run_id>/cancel/", views.cancel, name="cancel"),
    path("runs/<uuid:run_id>/retry/", views.retry, name="retry"),
    path("runs/<uuid:run_id>/steps/<uuid:step_id>/table/", run_views.table, name="table"),
    path(
        "runs/<uuid:run_id>/steps/<uuid:step_id>/table.csv", run_views.table_csv, name="table-csv"
    ),
    path("runs/<uuid:run_id>/steps/<uuid:step_id>/table.md", run_views.table_md, name="table-md"),
    path("drawer/<slug:kind>/<int:row_id>/", run_views.drawer, name="drawer"),
]
