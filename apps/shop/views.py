"""Pages of the shop: stock, releases, sales and wants, each with a drawer for one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.guilds.acting import acting
from apps.guilds.models import Member
from apps.guilds.policy import decide, requires
from apps.shop import drawers, search, stock_list
from apps.shop.forms import StockFilter
from apps.shop.models import Release, Sale, Shop, StockItem, Want

PAGE = 50
LONGEST_QUERY = 200
Context = dict[str, Any]


@require_safe
@requires("shop.read")
def stock(request: HttpRequest) -> HttpResponse:
    """The stock list; the address is the view."""
    return render(request, "shop/stock.html", _stock_context(request))


@require_safe
@requires("shop.read")
def item(request: HttpRequest, row_id: int) -> HttpResponse:
    """One stock item: a drawer alone for htmx, else beside its list."""
    return _beside(request, "stock", row_id, "shop/stock.html", _stock_context)


@require_safe
@requires("shop.read")
def releases(request: HttpRequest) -> HttpResponse:
    """The catalogue."""
    return render(request, "shop/releases.html", _release_context(request))


@require_safe
@requires("shop.read")
def release(request: HttpRequest, row_id: int) -> HttpResponse:
    """One release: a drawer alone for htmx, else beside its list."""
    return _beside(request, "release", row_id, "shop/releases.html", _release_context)


@require_safe
@requires("shop.read")
def sales(request: HttpRequest) -> HttpResponse:
    """Orders, newest first."""
    return render(request, "shop/sales.html", _sale_context(request))


@require_safe
@requires("shop.read")
def sale(request: HttpRequest, row_id: int) -> HttpResponse:
    """One order: a drawer alone for htmx, else beside its list."""
    return _beside(request, "sale", row_id, "shop/sales.html", _sale_context)


@require_safe
@requires("shop.read")
def wants(request: HttpRequest) -> HttpResponse:
    """What people want; names only for those who may see customers."""
    return render(request, "shop/wants.html", _want_context(request))


def _beside(
    request: HttpRequest,
    kind: str,
    row_id: int,
    template: str,
    context: Callable[[HttpRequest], Context],
) -> HttpResponse:
    shown = drawers.find(kind, row_id, member=acting(request))
    if shown is None:
        raise Http404(f"There is no {kind} {row_id} in this guild.")
    lists = {"stock": "shop:stock", "release": "shop:releases", "sale": "shop:sales"}
    back = f"{reverse(lists[kind])}?{request.GET.urlencode()}"
    labels = {"stock": "Stock", "release": "Releases", "sale": "Sales"}
    drawer = shown.context | {"back": back, "back_label": labels[kind]}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, shown.template, drawer)
    return render(request, template, context(request) | drawer)


def _stock_context(request: HttpRequest) -> Context:
    form = StockFilter(request.GET)
    form.is_valid()
    listing = stock_list.listing(acting(request), form.arguments(), request.GET.get("page"))
    return _context(request, "Stock", "items", "shop:stock", listing.page) | {
        "form": form,
        "filtered": form.filtered,
        "sum": listing.sum,
        "notes": listing.notes,
        "sorts": listing.sorts,
        "next_sort": listing.next_sort,
    }


def _release_context(request: HttpRequest) -> Context:
    rows = Release.objects.visible_to(acting(request)).order_by("artist_display", "title", "pk")
    query = _query(request)
    page = _page(request, _words(rows, query))
    copies = _copies(page)
    for row in page.object_list:
        row.copies = copies.get(row.pk, 0)
    return _context(request, "Releases", "releases", "shop:releases", page) | {
        "q": query,
        "filtered": bool(query),
        "placeholder": "Artist, title, label or catalogue number",
    }


def _sale_context(request: HttpRequest) -> Context:
    member, query = acting(request), _query(request)
    rows = Sale.objects.visible_to(member).select_related("customer")
    state = request.GET.get("state", "")
    if state in Sale.State.values:
        rows = rows.filter(state=state)
    if query:
        rows = rows.filter(_sale_words(member, query))
    page = _page(request, rows.order_by("-ordered_at", "-pk"))
    units = dict(
        Sale.objects.filter(pk__in=[row.pk for row in page.object_list])
        .values_list("pk")
        .annotate(Sum("items__quantity"))
    )
    for row in page.object_list:
        row.units = units.get(row.pk)
    states = [("", "Any"), *Sale.State.choices]
    return _context(request, "Sales", "orders", "shop:sales", page) | {
        "q": query,
        "filtered": bool(query or state),
        "placeholder": "Order number or status",
        "choices": {"name": "state", "label": "Counts as", "value": state, "options": states},
    }


def _sale_words(member: Member, query: str) -> Q:
    words = Q(order_number__icontains=query) | Q(status_text__icontains=query)
    if decide(member, "shop.customers.read"):
        words |= Q(customer__name__icontains=query)
    return words


def _want_context(request: HttpRequest) -> Context:
    query, status = _query(request), request.GET.get("status", "open")
    rows: QuerySet[Any] = Want.objects.visible_to(acting(request)).select_related(
        "release", "customer"
    )
    if status in Want.Status.values:
        rows = rows.filter(status=status)
    rows = _words(rows, query, "release__")
    page = _page(request, rows.order_by("-added_at", "-pk"))
    copies = _copies(page, "release_id")
    for row in page.object_list:
        row.copies = copies.get(row.release_id, 0)
    states = [*Want.Status.choices, ("any", "Any")]
    return _context(request, "Wants", "wants", "shop:wants", page) | {
        "q": query,
        "filtered": bool(query or status != "open"),
        "placeholder": "Artist, title, label or catalogue number",
        "choices": {"name": "status", "label": "Status", "value": status, "options": states},
    }


def _context(
    request: HttpRequest, heading: str, noun: str, list_url: str, page: Page[Any]
) -> Context:
    member = acting(request)
    shop = Shop.objects.filter(guild_id=member.guild_id).first()
    return {
        "heading": heading,
        "noun": noun[:-1] if page.paginator.count == 1 else noun,
        "list_url": list_url,
        "page": page,
        "shop": shop,
        "currency": shop.currency if shop else "",
        "may_import": bool(decide(member, "shop.import")),
        "may_manage": bool(decide(member, "shop.manage")),
        "may_customers": bool(decide(member, "shop.customers.read")),
        "actions_template": "shop/_import_link.html",
    }


def _page(request: HttpRequest, rows: QuerySet[Any]) -> Page[Any]:
    return Paginator(rows, PAGE).get_page(request.GET.get("page"))


def _query(request: HttpRequest) -> str:
    return request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST_QUERY]


def _words(rows: QuerySet[Any], query: str, prefix: str = "") -> QuerySet[Any]:
    """Rows whose release holds every word of the query, in any order."""
    return rows.filter(search.holding(query, prefix)) if query else rows


def _copies(page: Page[Any], field: str = "pk") -> dict[int, int]:
    """Copies for sale of each release of the page."""
    ids = [getattr(row, field) for row in page.object_list]
    for_sale = StockItem.objects.filter(release_id__in=ids, status=StockItem.Status.FOR_SALE)
    return dict(for_sale.values_list("release_id").annotate(Sum("quantity")))
