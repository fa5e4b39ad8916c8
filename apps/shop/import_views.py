"""Bringing files in, and taking the demo shop out."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from apps.guilds.acting import acting
from apps.guilds.policy import requires
from apps.jobs import operations
from apps.jobs.models import Job
from apps.shop import demo
from apps.shop.forms import KINDS, PRICED, ImportForm
from apps.shop.models import Shop

WORDS = {
    "import_stock": "A Discogs inventory export, new or old, or any CSV with its column names. "
    "Found again by listing id, so a second import updates.",
    "import_orders": "Discogs’ orders or order items. An order total is counted once.",
    "import_wants": "A Discogs want list.",
    "import_collection": "A Discogs collection export, own columns too.",
    "import_releases": "A Discogs release dump, packed or not, of any size.",
}


@require_http_methods(["GET", "HEAD", "POST"])
@requires("shop.import")
def import_file(request: HttpRequest) -> HttpResponse:
    """Take a file and start its job. Large uploads go to disk as they come in."""
    shop = Shop.objects.filter(guild_id=acting(request).guild_id).first()
    is_demo = bool(shop and shop.is_demo)
    currency = shop.currency if shop and not is_demo else ""
    given = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = ImportForm(*given, is_demo=is_demo, shop_currency=currency)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("jobs:job", _start(request, form).pk)
        except OSError as error:
            words = f"The file could not be kept here: {error.strerror}. Nothing was imported; "
            form.add_error("file", words + "free some space and send it again.")
    kinds = [{"label": label.split(" (")[0], "words": WORDS[kind]} for kind, label in KINDS]
    context = {"heading": "Import", "form": form, "shop": shop, "kinds": kinds}
    status = 422 if request.method == "POST" else 200
    return render(request, "shop/import.html", context, status=status)


def _start(request: HttpRequest, form: ImportForm) -> Job:
    data, member = form.cleaned_data, acting(request)
    args: dict[str, Any] = {"dry_run": data["dry_run"], "replace_demo": data["replace_demo"]}
    if data["kind"] in PRICED:
        args["currency"] = data["currency"]
        args["rate"] = str(data["rate"]) if data["rate"] else None
    label = dict(KINDS)[data["kind"]].split(" (")[0]
    return operations.enqueue(
        data["kind"],
        guild=member.guild,
        args=args,
        created_by=member,
        upload=data["file"],
        title=f"{label}: {data['file'].name[-120:]}",
    )


@require_POST
@requires("shop.manage")
def delete_demo(request: HttpRequest) -> HttpResponse:
    """Delete the demo shop whole, in one click: it is invented and can be made again."""
    member = acting(request)
    try:
        gone = demo.delete(member.guild, actor=member)
    except demo.NothingToDelete:
        messages.info(request, "There is no demo shop here.")
        return redirect("shop:stock")
    words = f"The demo shop is deleted, {gone:,} rows. bin/manage load_demo makes it again."
    messages.success(request, words)
    return redirect("shop:import")
