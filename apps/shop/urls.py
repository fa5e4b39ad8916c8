"""Addresses of the shop room."""

from django.urls import path

from . import import_views, views

app_name = "shop"
urlpatterns = [
    path("stock/", views.stock, name="stock"),
    path("stock/<int:row_id>/", views.item, name="item"),
    path("releases/", views.releases, name="releases"),
    path("releases/<int:row_id>/", views.release, name="release"),
    path("sales/", views.sales, name="sales"),
    path("sales/<int:row_id>/", views.sale, name="sale"),
    path("wants/", views.wants, name="wants"),
    path("import/", import_views.import_file, name="import"),
    path("demo/delete/", import_views.delete_demo, name="delete-demo"),
]
