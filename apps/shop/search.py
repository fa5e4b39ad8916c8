"""Finding stock: filters, age, order, and totals over all that matches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.expressions import RawSQL

from apps.core.tools import Column, Table, ToolContext, ToolError
from apps.shop import ages, names, tables, titles, vocabularies
from apps.shop.arguments import StockSearch
from apps.shop.formats import fold, grade_short
from apps.shop.models import StockItem

MOST_WORDS = 12
FEW = 5_000
RELEASE = "release__"
JOINERS = frozenset({"and", "&", "+", "the"})
PUNCTUATION = "\"'“”‘’«»,;:!?()[]"
COLUMNS = (
    Column("artist", "Artist"),
    Column("title", "Title"),
    Column("label", "Label"),
    Column("catno", "Cat. no.", "code"),
    Column("format", "Format"),
    Column("media", "Media"),
    Column("sleeve", "Sleeve"),
    Column("price", "Price", "money"),
    Column("quantity", "Copies", "number"),
    Column("listed", "Listed", "date"),
    Column("last_sold", "Last sold", "date"),
    Column("unsold_days", "Idle", "days"),
    Column("location", "Place"),
)
STATUS = Column("status", "Status")
ORDERS: dict[str, tuple[Any, ...]] = {
    "price": ("price", "pk"),
    "-price": ("-price", "pk"),
    "listed": (F("listed_at").asc(nulls_last=True), "pk"),
    "-listed": (F("listed_at").desc(nulls_last=True), "pk"),
    "artist": ("release__artist_display", "release__title", "pk"),
}


@dataclass
class Search:
    """The matching items, how the words of the question were read, and what names were found."""

    items: QuerySet[StockItem]
    notes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


def stock_search(ctx: ToolContext, args: StockSearch) -> Table:
    """Items that fit every argument given, and totals over all of them."""
    search, totals = matching(ctx, args)
    rows = _rows(ctx, args, search.items)
    currency = tables.currency_of(ctx.guild.pk)
    columns = COLUMNS if args.in_stock else (*COLUMNS, STATUS)
    return tables.build(
        ctx,
        titles.of_stock(args, search.said, currency),
        columns,
        rows,
        totals=totals,
        total_rows=totals["rows"],
        notes=[*search.notes, *_price_notes(args), *_copy_notes(totals)],
        currency=currency,
    )


def matching(ctx: ToolContext, args: StockSearch) -> tuple[Search, dict[str, Any]]:
    """The items that fit every argument given, and totals over all of them."""
    _check_range(args)
    search = _narrowed(ctx, args)
    if not args.q:
        return _totalled(search)
    exact, totals = _totalled(replace(search, items=search.items.filter(holding(args.q, RELEASE))))
    if totals["rows"]:
        return exact, totals
    alike = replace(search, items=search.items.filter(resembling(args.q, RELEASE)))
    near, totals = _totalled(alike)
    if not totals["rows"]:
        return exact, totals
    near.notes.append(f"Nothing holds {args.q[:60]!r}; these are alike.")
    return near, totals


def _totalled(search: Search) -> tuple[Search, dict[str, Any]]:
    """The search with its totals; few matches are found once and known by their keys then."""
    keys = list(search.items.values_list("pk", flat=True)[: FEW + 1])
    if len(keys) <= FEW:
        known = RawSQL("SELECT unnest(%s::bigint[])", [keys])
        search = replace(search, items=StockItem.objects.filter(pk__in=known))
    return search, tables.stock_totals(search.items)


def words_of(text: str) -> list[str]:
    """Folded words to look for; joining words count only when there is nothing else."""
    words = [word.strip(PUNCTUATION) or word for word in fold(text).split()]
    words = [word for word in dict.fromkeys(words) if word][:MOST_WORDS]
    return [word for word in words if word not in JOINERS] or words


def holding(text: str, prefix: str = "") -> Q:
    """Releases that hold every word, anywhere in artist, title, label or catalogue number."""
    found = Q()
    for word in words_of(text):
        found &= Q(**{f"{prefix}search__contains": word})
    return found


def resembling(text: str, prefix: str = "") -> Q:
    """Releases that hold every word or one spelt much like it, by trigrams."""
    found = Q()
    for word in words_of(text):
        found &= Q(**{f"{prefix}search__trigram_word_similar": word})
    return found


def _check_range(args: StockSearch) -> None:
    least, greatest = args.price_min, args.price_max
    if least is not None and greatest is not None and least > greatest:
        raise ToolError(f"price_min {least} is above price_max {greatest}; swap them.")


def _narrowed(ctx: ToolContext, args: StockSearch) -> Search:
    search = Search(StockItem.objects.filter(guild_id=ctx.guild.pk))
    if args.in_stock:
        search.items = search.items.filter(tables.IN_STOCK)
    _by_name(ctx, args, search)
    _by_format(ctx, args, search)
    _by_price(args, search)
    if args.grade_min is not None:
        grade = vocabularies.grade(args.grade_min)
        search.items = search.items.filter(media_rank__gte=vocabularies.rank(grade))
        search.notes.append(f"Media grade {grade} or better.")
    if args.not_sold_days is not None:
        cutoff = ctx.now - timedelta(days=args.not_sold_days)
        search.items = ages.unsold_since(search.items, cutoff)
        search.notes.append(
            f"Unsold counts from the later of listing and last completed sale:"
            f" nothing since {tables.day(ctx, cutoff)}."
        )
    return search


def _by_name(ctx: ToolContext, args: StockSearch, search: Search) -> None:
    for asked, kind in ((args.genre, "genre"), (args.style, "style")):
        if asked is None:
            continue
        kind, found = _kind_of(kind, asked, ctx.guild.pk, both=bool(args.genre and args.style))
        column = vocabularies.COLUMNS[kind]
        search.items = search.items.filter(**{f"release__{column}__contains": [found.name]})
        search.said.append(found.name)
        search.notes.append(found.note)


def _kind_of(
    kind: str, asked: str, guild_id: int, *, both: bool
) -> tuple[str, vocabularies.Resolved]:
    """People call a style a genre and the reverse: the other kind is tried for an exact name."""
    if both or _is_own(kind, asked, guild_id):
        return kind, vocabularies.resolve(kind, asked, guild_id)
    other = "style" if kind == "genre" else "genre"
    found = vocabularies.find(other, asked, guild_id, guess=False)
    if found:
        note = f"{asked[:60]!r} was read as the {other} {found.name}."
        return other, vocabularies.Resolved(found.name, note)
    return kind, vocabularies.resolve(kind, asked, guild_id)


def _is_own(kind: str, asked: str, guild_id: int) -> bool:
    """Whether it is a name of that kind; ``DnB`` is known to be no genre without asking."""
    if kind == "genre" and not names.known_name(kind, asked) and names.known_name("style", asked):
        return False
    return vocabularies.find(kind, asked, guild_id, guess=False) is not None


def _by_format(ctx: ToolContext, args: StockSearch, search: Search) -> None:
    if args.format is None:
        return
    carriers, note = vocabularies.carriers(args.format, ctx.guild.pk)
    search.items = search.items.filter(release__carriers__overlap=carriers)
    search.said.append(carriers[0] if len(carriers) == 1 else args.format[:40])
    search.notes.append(note)


def _by_price(args: StockSearch, search: Search) -> None:
    if args.price_min is not None:
        least = "price__gt" if args.exclude_min else "price__gte"
        search.items = search.items.filter(**{least: args.price_min})
    if args.price_max is not None:
        greatest = "price__lte" if args.include_max else "price__lt"
        search.items = search.items.filter(**{greatest: args.price_max})


def _rows(
    ctx: ToolContext, args: StockSearch, items: QuerySet[StockItem]
) -> Iterator[dict[str, Any]]:
    order = args.sort or _usual_order(args)
    if order == "age":
        keys = ages.oldest(items, args.limit)
    else:
        ordered = items.order_by(*ORDERS[order])
        keys = list(ordered.values_list("pk", flat=True)[: args.limit])
    # Releases and last sales are looked up for the rows shown, not for all that are ordered.
    found = {
        item.pk: item for item in StockItem.objects.filter(pk__in=keys).select_related("release")
    }
    sold = ages.last_sales(item.release_id for item in found.values())
    return (_row(ctx, found[key], sold.get(found[key].release_id)) for key in keys)


def _usual_order(args: StockSearch) -> str:
    if args.not_sold_days is not None:
        return "age"
    return "-listed" if args.price_max is None else "price"


def _row(ctx: ToolContext, item: StockItem, last_sold: datetime | None) -> dict[str, Any]:
    release = item.release
    return {
        "ref": item.ref,
        "artist": release.artist_display,
        "title": release.title,
        "label": release.label_display,
        "catno": release.catno_display,
        "format": release.format_text,
        "media": grade_short(item.media_grade),
        "sleeve": grade_short(item.sleeve_grade),
        "price": item.price,
        "quantity": item.quantity,
        "listed": tables.day(ctx, item.listed_at),
        "last_sold": tables.day(ctx, last_sold),
        "unsold_days": tables.days_since(ctx, ages.since(item.listed_at, last_sold)),
        "location": item.location,
        "status": item.status,
    }


def _price_notes(args: StockSearch) -> Iterator[str]:
    if args.price_max is not None:
        kept = "itself included" if args.include_max else "itself left out"
        yield f"Price {'up to' if args.include_max else 'under'} {args.price_max}, {kept}."
    if args.price_min is not None and args.exclude_min:
        yield f"Price over {args.price_min}, itself left out."


def _copy_notes(totals: dict[str, Any]) -> Iterator[str]:
    if totals["copies"] != totals["rows"]:
        yield "The sum counts every copy, not every listing."
