"""Pages of the shop by their addresses: lists, filters, drawers, imports, and who may see what."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.audit.models import Event
from apps.guilds import operations as guilds
from apps.jobs.models import Job
from apps.shop.models import Sale, StockItem, Want
from tests.shop_rows import make_item, make_shop

pytestmark = pytest.mark.django_db
HTMX = {"headers": {"HX-Request": "true"}}


@pytest.fixture
def items(member):
    return make_shop(member.guild)


@pytest.fixture
def keeper(client, ada, items):
    client.force_login(ada)
    return client


def text(response) -> str:
    return response.content.decode()


def listed(response) -> list[str]:
    return [row.release.title for row in response.context["page"].object_list]


def test_stock_lists_what_is_for_sale_by_artist(keeper, items):
    response = keeper.get("/stock/")
    assert listed(response)[0] == "Ferry Songs"
    assert len(listed(response)) == 7
    assert "7</b> items, together $54.29" in text(response)
    StockItem.objects.filter(pk=items[0].pk).update(status="Draft")
    assert len(listed(keeper.get("/stock/"))) == 6
    assert len(listed(keeper.get("/stock/?in_stock=no"))) == 7


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("q=night allotment", {"Plot 19"}),
        ("q=brk", {"Weathervane", "Ferry Songs"}),
        ("price_max=3.00", {"Plot 19"}),
        ("price_max=3.00&include_max=1", {"Plot 19", "Nine Bridges"}),
        ("price_min=8.50", {"Low Voltage", "Bright Errand"}),
        ("price_min=8.50&exclude_min=1", {"Bright Errand"}),
        ('format=7"', {"Plot 19", "Nine Bridges"}),
        ("style=DnB&price_max=3", {"Plot 19"}),
        ("not_sold_days=600", {"Weathervane", "Nine Bridges", "Kitchen Light"}),
        ("grade_min=NM", set()),
    ],
)
def test_filters_mean_what_the_tool_means(keeper, query, titles):
    assert set(listed(keeper.get(f"/stock/?{query}"))) == titles


@pytest.mark.parametrize(
    ("sort", "first"),
    [("price", "Plot 19"), ("-price", "Bright Errand"), ("age", "Weathervane"),
     ("-listed", "Bright Errand"), ("nonsense", "Ferry Songs")],
)  # fmt: skip
def test_sorting(keeper, sort, first):
    assert listed(keeper.get(f"/stock/?sort={sort}"))[0] == first


@pytest.mark.parametrize("query", ["price_max=6,85 €", "price_min=-1", "not_sold_days=x", "q=%00"])
def test_a_filter_that_cannot_be_read_is_told_or_left_out(keeper, query):
    assert keeper.get(f"/stock/?{query}").status_code == 200
    if query.startswith("price_max"):
        assert "A price is a bare number such as 6.85." in text(keeper.get(f"/stock/?{query}"))


def test_pages_keep_the_filter(keeper, member):
    for number in range(60):
        make_item(member.guild, "Many", "Copies", "L", "C", "LP", "5.00", 3, number=number)
    first = keeper.get("/stock/?q=many")
    assert "1–50 of <b>60</b> items" in text(first)
    assert "/stock/?q=many&amp;page=2" in text(first)
    assert "51–60 of <b>60</b> items" in text(keeper.get("/stock/?q=many&page=2"))
    assert len(keeper.get("/stock/?sort=age&page=2").context["page"].object_list) == 17


def test_an_item_opens_beside_its_list_and_alone(keeper, items):
    page = text(keeper.get(f"/stock/{items[0].pk}/?q=brk"))
    assert "<html" in page
    assert 'aria-current="true"' in page
    drawer = text(keeper.get(f"/stock/{items[0].pk}/", **HTMX))
    assert "<html" not in drawer
    assert "Very Good Plus (VG+)" in drawer
    assert "647 days without a sale" in drawer
    assert "1 open want" in drawer


def test_release_sale_and_want_pages(keeper, items):
    assert "Weathervane" in text(keeper.get("/releases/?q=weathervane"))
    drawer = text(keeper.get(f"/releases/{items[0].release_id}/", **HTMX))
    assert "$6.50" in drawer
    sale = Sale.objects.get()
    assert "77-1" in text(keeper.get("/sales/?q=77"))
    assert "Wren Aldous" in text(keeper.get(f"/sales/{sale.pk}/", **HTMX))
    assert "77-1" not in text(keeper.get("/sales/?state=refunded"))
    assert "Weathervane" in text(keeper.get("/wants/"))
    Want.objects.update(status="filled")
    assert "Weathervane" not in text(keeper.get("/wants/"))
    assert "Weathervane" in text(keeper.get("/wants/?status=any"))


def test_without_the_right_customers_are_initials(client, clerk, items):
    guilds.grant(clerk.members.get(), "shop.read", actor=None)
    client.force_login(clerk)
    sale = Sale.objects.get()
    for path in ("/sales/", f"/sales/{sale.pk}/", "/wants/"):
        body = text(client.get(path))
        assert "WA" in body
        assert "Wren" not in body
        assert "any press" not in body
    assert "77-1" not in text(client.get("/sales/?q=wren"))


def test_an_empty_shop_offers_a_way_in(client, ada):
    client.force_login(ada)
    body = text(client.get("/stock/"))
    assert "No items yet" in body
    assert 'href="/import/"' in body


def addresses(items) -> list[str]:
    return [
        reverse("shop:item", args=[items[0].pk]),
        reverse("shop:release", args=[items[0].release_id]),
        reverse("shop:sale", args=[Sale.objects.get().pk]),
        reverse("chat:drawer", args=["stock", items[0].pk]),
        reverse("chat:drawer", args=["release", items[0].release_id]),
        reverse("chat:drawer", args=["want", Want.objects.get().pk]),
        "/stock/999999/", "/drawer/stock/999999/", "/drawer/user/1/",
        "/drawer/stock/99999999999999999999/",
    ]  # fmt: skip


def test_strangers_find_no_row(client, stranger, items):
    client.force_login(stranger)
    assert {path: client.get(path).status_code for path in addresses(items)} == dict.fromkeys(
        addresses(items), 404
    )
    for path in ("/stock/", "/releases/", "/sales/", "/wants/"):
        assert "Weathervane" not in text(client.get(path))


def test_without_capabilities_the_shop_is_closed(client, clerk, items):
    client.force_login(clerk)
    for path in ("/stock/", "/releases/", "/sales/", "/wants/", "/import/"):
        assert client.get(path).status_code == 403
    guilds.grant(clerk.members.get(), "agent.ask", actor=None)
    for path in addresses(items)[3:6]:
        assert client.get(path).status_code == 403


def test_a_deleted_row_leaves_a_tombstone(keeper, items):
    gone = items[0].pk
    items[0].delete()
    response = keeper.get(f"/drawer/stock/{gone}/", **HTMX)
    assert response.status_code == 200
    assert "This row is gone" in text(response)
    assert keeper.get(f"/drawer/stock/{items[1].pk}/").url == f"/stock/{items[1].pk}/"


def test_lists_do_not_query_by_row(keeper, member, django_assert_max_num_queries):
    for number in range(20):
        make_item(member.guild, f"Artist {number}", "T", "L", "C", "LP", "5.00", 3)
    for path, most in (("/stock/", 18), ("/releases/", 18), ("/sales/", 18), ("/wants/", 18)):
        with django_assert_max_num_queries(most):
            assert keeper.get(path).status_code == 200


def upload(client, name="inventory.csv", content=b"listing_id\n1\n", **fields):
    file = SimpleUploadedFile(name, content)
    return client.post(
        "/import/", {"kind": "import_stock", "currency": "USD", "file": file, **fields}
    )


def test_an_upload_becomes_a_job(keeper, member, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    response = upload(keeper, dry_run="on")
    job = Job.objects.get()
    assert response.url == f"/jobs/{job.pk}/"
    assert (job.kind, job.created_by, job.status) == ("import_stock", member, "queued")
    assert job.args["currency"] == "USD"
    assert job.args["dry_run"] is True
    assert (tmp_path / job.upload).read_bytes() == b"listing_id\n1\n"
    assert 'hx-trigger="every 1s"' in text(keeper.get(response.url))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"content": b""}, "The file is empty."),
        ({"name": "photo.png"}, "photo.png is not a .csv or .txt file."),
        ({"currency": ""}, "Name the currency"),
        ({"currency": "dollars"}, "at most 3 characters"),
        ({"currency": "$$$"}, "is not a currency code"),
        ({"rate": "1,08"}, "A rate is a bare number"),
        ({"kind": "import_nothing"}, "Select a valid choice"),
        ({"kind": "import_releases"}, "is not a .xml or .xml.gz or .gz file"),
    ],
)
def test_a_wrong_upload_is_told_before_it_is_read(keeper, change, words):
    response = upload(keeper, **change)
    assert response.status_code == 422
    assert words in text(response)
    assert not Job.objects.exists()


def test_a_full_disk_is_told_and_loses_nothing(keeper, settings):
    settings.MEDIA_ROOT = "/dev/full/uploads"
    response = upload(keeper)
    assert response.status_code == 422
    assert "The file could not be kept here" in text(response)
    assert not Job.objects.exists()


def test_a_demo_shop_asks_before_it_is_replaced(client, ada, member, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    make_shop(member.guild, is_demo=True)
    client.force_login(ada)
    assert "This is a demo shop" in text(client.get("/import/"))
    response = upload(client)
    assert response.status_code == 422
    assert "Tick the box to delete it first" in text(response)
    assert upload(client, replace_demo="on").status_code == 302
    assert Job.objects.get().args["replace_demo"] is True


def test_the_demo_shop_is_deleted_in_one_click(client, ada, clerk, member):
    make_shop(member.guild, is_demo=True)
    client.force_login(clerk)
    assert client.post("/demo/delete/").status_code == 403
    client.force_login(ada)
    assert 'action="/demo/delete/"' in text(client.get("/stock/"))
    assert client.get("/demo/delete/").status_code == 405
    assert StockItem.objects.exists()
    assert client.post("/demo/delete/").url == "/import/"
    assert not StockItem.objects.exists()
    assert Event.objects.filter(kind="shop_delete").exists()


def test_a_real_shop_is_never_deleted(keeper):
    assert keeper.post("/demo/delete/").url == "/stock/"
    assert StockItem.objects.count() == 7


def test_the_price_together_counts_every_copy(keeper, items):
    StockItem.objects.filter(pk=items[1].pk).update(quantity=3)
    assert keeper.get("/stock/").context["sum"] == Decimal("60.29")
