"""Kinds of jobs of the shop: the importers."""

from __future__ import annotations

from apps.jobs.registry import job_kind
from apps.shop.importers.collection import import_collection
from apps.shop.importers.orders import import_orders
from apps.shop.importers.releases import import_releases
from apps.shop.importers.stock import import_stock
from apps.shop.importers.wants import import_wants

for _work in (import_stock, import_releases, import_orders, import_wants, import_collection):
    job_kind(_work.__name__)(_work)
