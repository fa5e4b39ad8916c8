"""Releases, their copies, and who wants them: rows for tools, read as ``reader``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Case, F, IntegerField, Min, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce

from apps.core.tools import Column, Table, ToolContext, ToolError
from apps.shop import ages, search, tables, vocabularies
from apps.shop.arguments import CustomerWants, ReleaseLookup, StockForRelease
from apps.shop.formats import grade_short
from apps.shop.models import Identifier, Release, ReleaseArtist, StockItem, Track, Want

MOST_TRACKS = 40
RELEASE_COLUMNS = (
    Column("discogs_id", "Release", "code"),
    Column("artist", "Artist"),
    Column("title", "Title"),
    Column("label", "Label"),
    Column("catno", "Cat. no.", "code"),
    Column("format", "Format"),
    Column("country", "Country"),
    Column("released", "Released"),
    Column("genres", "Genre"),
    Column("styles", "Style"),
    Column("barcode", "Barcode", "code"),
    Column("in_stock", "In stock", "number"),
    Column("cheapest", "Cheapest", "money"),
)
COPY_COLUMNS = (
    Column("status", "Status"),
    Column("media", "Media"),
    Column("sleeve", "Sleeve"),
    Column("price", "Price", "money"),
    Column("quantity", "Copies", "number"),
    Column("market_value", "Market value", "money"),
    Column("lowest_competitor", "Lowest elsewhere", "money"),
    Column("listed", "Listed", "date"),
    Column("unsold_days", "Idle", "days"),
    Column("location", "Place"),
    Column("comments", "Comments"),
)
WANT_COLUMNS = (
    Column("customer", "Customer"),
    Column("artist", "Artist"),
    Column("title", "Title"),
    Column("format", "Format"),
    Column("status", "Status"),
    Column("added", "Wanted since", "date"),
    Column("in_stock", "In stock", "number"),
    Column("cheapest", "Cheapest", "money"),
)


def release_of(ctx: ToolContext, number: int) -> Release:
    """The release of that Discogs number or, failing that, of our own; else ToolError."""
    numbered = Release.objects.filter(guild_id=ctx.guild.pk)
    by_discogs = Case(When(discogs_id=number, then=0), default=1, output_field=IntegerField())
    found = numbered.filter(Q(discogs_id=number) | Q(pk=number)).order_by(by_discogs).first()
    if found is None:
        raise ToolError(
            f"This shop has no release {number}. Look it up by words with release_lookup."
        )
    return found


def in_stock_of(release: str) -> QuerySet[StockItem]:
    """Items for sale of the outer row's release, whose column is named."""
    return StockItem.objects.filter(
        tables.IN_STOCK, guild_id=OuterRef("guild_id"), release_id=OuterRef(release)
    ).order_by()


def with_stock(rows: QuerySet[Any], release: str) -> QuerySet[Any]:
    """Adds ``in_stock`` (copies) and ``cheapest`` (price) to rows about releases."""
    items = in_stock_of(release).values("release_id")
    copies = items.annotate(copies=Sum("quantity")).values("copies")
    cheapest = items.annotate(cheapest=Min("price")).values("cheapest")
    return rows.annotate(
        in_stock=Coalesce(Subquery(copies, output_field=IntegerField()), 0),
        cheapest=Subquery(cheapest),
    )


def release_lookup(ctx: ToolContext, args: ReleaseLookup) -> Table:
    """One release with its tracks, or those that hold the words."""
    if args.release_id is None and not args.q:
        raise ToolError("Name a release: release_id, or words of artist and title as q.")
    found, notes = _releases(ctx, args)
    count = found.count()
    barcodes = Identifier.objects.filter(release_id=OuterRef("pk"), kind="Barcode").exclude(
        value=""
    )
    rows = with_stock(found, "pk").annotate(
        barcode=Subquery(barcodes.order_by("position").values("value")[:1])
    )
    shown = list(rows.order_by("artist_display", "title", "year", "pk")[: tables.LEAST_ROWS])
    if count == 1:
        notes += list(_about(shown[0]))
    items = StockItem.objects.filter(tables.IN_STOCK, guild_id=ctx.guild.pk, release__in=found)
    return tables.build(
        ctx,
        "Releases",
        RELEASE_COLUMNS,
        [_release_row(release) for release in shown],
        totals=tables.stock_totals(items) | {"rows": count},
        total_rows=count,
        notes=notes,
        currency=tables.currency_of(ctx.guild.pk),
    )


def _releases(ctx: ToolContext, args: ReleaseLookup) -> tuple[QuerySet[Release], list[str]]:
    everyone = Release.objects.filter(guild_id=ctx.guild.pk)
    if args.release_id is not None:
        return everyone.filter(pk=release_of(ctx, args.release_id).pk), []
    text = args.q or ""
    found = everyone.filter(search.holding(text))
    if found.exists():
        return found, []
    alike = everyone.filter(search.resembling(text))
    return alike, [f"Nothing holds {text[:60]!r}; these are alike."] if alike.exists() else []


def _release_row(release: Any) -> dict[str, Any]:
    return {
        "ref": release.ref,
        "discogs_id": release.discogs_id,
        "artist": release.artist_display,
        "title": release.title,
        "label": release.label_display,
        "catno": release.catno_display,
        "format": release.format_text,
        "country": release.country,
        "released": release.released,
        "genres": "; ".join(release.genres),
        "styles": "; ".join(release.styles),
        "barcode": release.barcode or "",
        "in_stock": release.in_stock,
        "cheapest": release.cheapest,
    }


def _about(release: Release) -> Iterator[str]:
    credited = ReleaseArtist.objects.filter(release_id=release.pk).exclude(role="")
    named = [f"{credit.display} ({credit.role})" for credit in credited[:10]]
    if named:
        yield f"Credits: {', '.join(named)}."
    tracks = list(Track.objects.filter(release_id=release.pk)[: MOST_TRACKS + 1])
    if tracks:
        listed = "; ".join(_track(track) for track in tracks[:MOST_TRACKS])
        yield f"Tracks: {listed}{'; …' if len(tracks) > MOST_TRACKS else '.'}"


def _track(track: Track) -> str:
    timed = f" ({track.duration})" if track.duration else ""
    return f"{track.number} {track.title[:80]}{timed}".strip()


def stock_for_release(ctx: ToolContext, args: StockForRelease) -> Table:
    """Every listing of one release, those for sale first, then by price."""
    release = release_of(ctx, args.release_id)
    items = StockItem.objects.filter(guild_id=ctx.guild.pk, release=release)
    totals = tables.stock_totals(items)
    for_sale = tables.stock_totals(items.filter(tables.IN_STOCK))
    first = Case(When(tables.IN_STOCK, then=0), default=1, output_field=IntegerField())
    shown = items.order_by(first, "price", "pk")[: tables.LEAST_ROWS]
    last_sold = ages.last_sales([release.pk]).get(release.pk)
    return tables.build(
        ctx,
        f"Copies of {release}"[: tables.LONGEST_CELL],
        COPY_COLUMNS,
        [_copy_row(ctx, item, last_sold) for item in shown],
        totals=totals | {"for_sale": for_sale["copies"]},
        total_rows=totals["rows"],
        notes=[
            f"For sale: {for_sale['copies']} copies in {for_sale['rows']} listings.",
            f"Last completed sale of this release: {tables.day(ctx, last_sold)}."
            if last_sold
            else "No completed sale of this release is known.",
        ],
        currency=tables.currency_of(ctx.guild.pk),
    )


def _copy_row(ctx: ToolContext, item: StockItem, last_sold: datetime | None) -> dict[str, Any]:
    return {
        "ref": item.ref,
        "status": item.status,
        "media": grade_short(item.media_grade),
        "sleeve": grade_short(item.sleeve_grade),
        "price": item.price,
        "quantity": item.quantity,
        "market_value": item.market_value,
        "lowest_competitor": item.lowest_competitor,
        "listed": tables.day(ctx, item.listed_at),
        "unsold_days": tables.days_since(ctx, ages.since(item.listed_at, last_sold)),
        "location": item.location,
        "comments": item.comments,
    }


def customer_wants(ctx: ToolContext, args: CustomerWants) -> Table:
    """Want list entries, open ones first, newest first; customers by initials alone."""
    wants, notes = _wants(ctx, args)
    count = wants.count()
    first = Case(When(status=Want.Status.OPEN, then=0), default=1, output_field=IntegerField())
    shown = with_stock(wants, "release_id").select_related("release", "customer")
    ordered = shown.order_by(first, F("added_at").desc(nulls_last=True), "pk")
    items = StockItem.objects.filter(
        tables.IN_STOCK, guild_id=ctx.guild.pk, release__in=wants.values("release_id")
    )
    customers = wants.exclude(customer=None).values("customer_id").distinct().count()
    return tables.build(
        ctx,
        "Wants",
        WANT_COLUMNS,
        [_want_row(ctx, want) for want in ordered[: tables.LEAST_ROWS]],
        totals=tables.stock_totals(items) | {"rows": count, "customers": customers},
        total_rows=count,
        notes=[*notes, "Copies and prices are those of the wanted releases in stock."],
        currency=tables.currency_of(ctx.guild.pk),
    )


def _wants(ctx: ToolContext, args: CustomerWants) -> tuple[QuerySet[Want], list[str]]:
    wants, notes = Want.objects.filter(guild_id=ctx.guild.pk), []
    if args.release_id is not None:
        wants = wants.filter(release=release_of(ctx, args.release_id))
    if args.genre is not None:
        found = vocabularies.resolve("genre", args.genre, ctx.guild.pk)
        wants = wants.filter(release__genres__contains=[found.name])
        notes.append(found.note)
    if args.status is not None:
        wants = wants.filter(status=args.status)
    return wants, notes


def _want_row(ctx: ToolContext, want: Any) -> dict[str, Any]:
    return {
        "ref": want.ref,
        "customer": want.customer.initials if want.customer else "",
        "artist": want.release.artist_display,
        "title": want.release.title,
        "format": want.release.format_text,
        "status": want.status,
        "added": tables.day(ctx, want.added_at),
        "in_stock": want.in_stock,
        "cheapest": want.cheapest,
    }
