"""Kinds of jobs of the shop: the importers."""

from __future__ import annotations

from functools import wraps
from typing import Any

from apps.jobs.registry import Work, job_kind
from apps.jobs.running import JobRun
from apps.shop import statistics
from apps.shop.importers.collection import import_collection
from apps.shop.importers.orders import import_orders
from apps.shop.importers.releases import import_releases
from apps.shop.importers.stock import import_stock
from apps.shop.importers.wants import import_wants


def _then_analyze(work: Work) -> Work:
    """The first question after an import must not be planned as for an empty shop."""

    @wraps(work)
    def run(job: JobRun) -> dict[str, Any]:
        report = work(job)
        statistics.refresh()
        return report

    return run


for _work in (import_stock, import_releases, import_orders, import_wants, import_collection):
    job_kind(_work.__name__)(_then_analyze(_work))
