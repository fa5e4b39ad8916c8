"""Makes the demo shop's pressings from a seed: the same seed and day give the same shop."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from random import Random

from apps.shop.demo import names
from apps.shop.demo.genres import FORMATS, GENRES, Genre
from apps.shop.demo.pressings import GRADE_WEIGHTS, LADDER, Copy, PastSale, Pressing

CENT = Decimal("0.01")
CHARM = (Decimal("0.00"), Decimal("0.49"), Decimal("0.50"), Decimal("0.75"), Decimal("0.99"))
YEARS_OF_SALES = 730
# Beyond this many items only one release in twenty has a track list, to keep benchmarks small.
TRACKS_UP_TO = 50_000
SLEEVES = (*LADDER, "Generic", "Not Graded", "No Cover")
# Added up once: a million draws would add them up a million times.
GENRE_WEIGHTS = tuple(accumulate(genre.weight for genre in GENRES))
FORMAT_WEIGHTS = {
    boost: tuple(accumulate(w * boost if '12"' in text else w for text, w, _ in FORMATS))
    for boost in (1, 3)
}
FORMAT_TEXTS = tuple(text for text, _, _ in FORMATS)
FACTORS = {text: factor for text, _, factor in FORMATS}
_FIRST_YEAR = {"Electronic": 1988, "Hip Hop": 1984, "Jazz": 1956, "Blues": 1957}


def pressings(
    rng: Random, *, count: int, first: int, items: int, midnight: datetime
) -> Iterator[Pressing]:
    """``count`` pressings numbered from ``first``, every third with a second copy."""
    with_tracks = 1 if items <= TRACKS_UP_TO else 20
    for at in range(count):
        genre = rng.choices(GENRES, cum_weights=GENRE_WEIGHTS)[0]
        pressing = _pressing(rng, genre, first + at)
        if at % with_tracks == 0:
            pressing.tracks = _tracks(rng, pressing.format_text)
        step = _step(rng, genre, pressing.format_text)
        pressing.copies = [_copy(rng, step, midnight) for _ in range(2 if at % 3 == 2 else 1)]
        pressing.sales = list(_sales(rng, step, pressing.copies, midnight))
        yield pressing


def _pressing(rng: Random, genre: Genre, number: int) -> Pressing:
    format_text = _format(rng, genre)
    artists = _artists(rng, genre.name)
    return Pressing(
        number=number,
        title=names.trap(number) or names.title(rng),
        artists=artists,
        labels=_labels(rng, artists[0]),
        format_text=format_text,
        genres=_genres(rng, genre),
        styles=_styles(rng, genre),
        country="" if rng.random() < 0.03 else names.pick_country(rng),
        released=_released(rng, _FIRST_YEAR.get(genre.name, 1962)),
        identifiers=list(_identifiers(rng)),
        has_master=rng.random() < 0.61,
        has_image=rng.random() < 0.95,
    )


def _format(rng: Random, genre: Genre) -> str:
    boost = 3 if genre.name == "Electronic" else 1
    return rng.choices(FORMAT_TEXTS, cum_weights=FORMAT_WEIGHTS[boost])[0]


def _artists(rng: Random, genre: str) -> list[str]:
    roll = rng.random()
    if roll < 0.04:
        return ["Various"]
    return [names.artist(rng, genre) for _ in range(2 if roll > 0.94 else 1)]


def _labels(rng: Random, artist: str) -> list[tuple[str, str]]:
    if rng.random() < 0.03:
        return [(f"Not On Label ({artist} Self-released)", "none")]
    label = rng.choice(names.LABELS)
    first = (label, names.catalogue_number(rng, label))
    roll = rng.random()
    if roll < 0.03:
        return [first, (label, names.catalogue_number(rng, label))]
    if roll < 0.08:
        other = rng.choice(names.LABELS)
        return [first, (other, names.catalogue_number(rng, other))]
    return [first]


def _genres(rng: Random, genre: Genre) -> list[str]:
    other = rng.choice(GENRES).name
    return [genre.name, other] if rng.random() < 0.07 and other != genre.name else [genre.name]


def _styles(rng: Random, genre: Genre) -> list[str]:
    if rng.random() < 0.08:
        return []
    weights = range(len(genre.styles) + 8, 8, -1)
    picked = rng.choices(genre.styles, weights, k=1 if rng.random() < 0.7 else 2)
    return list(dict.fromkeys(picked))


def _released(rng: Random, first_year: int) -> str:
    roll = rng.random()
    if roll < 0.09:
        return ""
    year, month, day = rng.randint(first_year, 2024), rng.randint(1, 12), rng.randint(1, 28)
    if roll < 0.62:
        return str(year)
    return f"{year}-{month:02d}-00" if roll < 0.67 else f"{year}-{month:02d}-{day:02d}"


def _identifiers(rng: Random) -> Iterator[tuple[str, str]]:
    if rng.random() < 0.34:
        yield "Barcode", f"{rng.randrange(10**12):013d}"
    if rng.random() < 0.3:
        yield "Matrix / Runout", f"DEMO {rng.randint(100, 999)} A{rng.randint(1, 3)}"


def _tracks(rng: Random, format_text: str) -> list[tuple[str, str, str]]:
    short = "LP" not in format_text and "CD" not in format_text and "Cass" not in format_text
    count = rng.randint(2, 4) if short else rng.randint(7, 12)
    timed = rng.random() < 0.6
    return [
        (
            f"{'A' if at < (count + 1) // 2 else 'B'}{at % ((count + 1) // 2) + 1}",
            names.title(rng),
            f"{rng.randint(2, 8)}:{rng.randint(0, 59):02d}" if timed else "",
        )
        for at in range(count)
    ]


def _step(rng: Random, genre: Genre, format_text: str) -> Decimal:
    """The price of one step of the grade ladder: a thirteenth of the VG+ value."""
    value = (
        genre.typical
        * FACTORS[format_text]
        * rng.lognormvariate(0, 0.55)
        / LADDER["Very Good Plus (VG+)"]
    )
    return max(Decimal(value).quantize(CENT), Decimal("0.05"))


def _copy(rng: Random, step: Decimal, midnight: datetime) -> Copy:
    media = rng.choices(tuple(LADDER), GRADE_WEIGHTS)[0]
    value = step * LADDER[media]
    listed_days = int(min(rng.expovariate(1 / 210), 1400)) + 1
    edited_days = rng.randint(0, listed_days - 1)
    return Copy(
        price=charming(value * Decimal(str(round(rng.uniform(0.85, 1.4), 3))), rng),
        media=media,
        sleeve=rng.choice(SLEEVES) if rng.random() < 0.4 else media,
        listed_at=ago(midnight, listed_days, rng),
        edited_at=ago(midnight, edited_days + 1, rng),
        status=rng.choices(("For Sale", "Draft", "Sold", "Expired"), (88, 3, 8, 1))[0],
        quantity=rng.choices((1, 2, 3), (94, 4, 2))[0],
        location=f"{rng.choice('ABCDEFGH')}{rng.randint(1, 40)}",
        comments=rng.choice(("", "", "Plays through.", "Light surface marks.", "Corner bump.")),
        market_value=value,
        lowest_competitor=_competitor(rng, value),
        cost=(value * Decimal("0.4")).quantize(CENT) if rng.random() < 0.7 else None,
    )


def _competitor(rng: Random, value: Decimal) -> Decimal | None:
    if rng.random() < 0.25:
        return None
    return (value * Decimal(str(round(rng.uniform(0.75, 1.3), 3)))).quantize(CENT)


def charming(price: Decimal, rng: Random) -> Decimal:
    """A price as shops write it: 7.99, 12.50; never under 0.49."""
    whole = Decimal(int(price))
    return max(whole + rng.choice(CHARM), Decimal("0.49"))


def ago(midnight: datetime, days: int, rng: Random) -> datetime:
    """Some opening hour of the day that began so many days before this one.

    Of today only the first minutes are sure to be past; somebody ordered by night.
    """
    if days == 0:
        return midnight + timedelta(seconds=rng.randrange(60, 600))
    return midnight - timedelta(days=days) + timedelta(seconds=rng.randrange(9 * 3600, 21 * 3600))


def _sales(
    rng: Random, step: Decimal, copies: list[Copy], midnight: datetime
) -> Iterator[PastSale]:
    for copy in copies:
        if copy.status == "Sold":
            listed = (midnight - copy.listed_at).days
            days = rng.randint(1, max(1, min(listed, YEARS_OF_SALES)))
            yield PastSale(
                ago(midnight, days, rng), copy.price, copy.media, _order_status(rng, 9), copy=copy
            )
    for _ in range(rng.choices((0, 1, 2, 3, 5), (45, 30, 15, 7, 3))[0]):
        # Fewer the longer ago, so that the shop grows.
        days = int(YEARS_OF_SALES * rng.random() ** 1.3)
        media = rng.choices(tuple(LADDER), GRADE_WEIGHTS)[0]
        price = charming(step * LADDER[media], rng)
        yield PastSale(ago(midnight, days, rng), price, media, _order_status(rng, days))


def _order_status(rng: Random, days: int) -> str:
    if days <= 4:
        return rng.choices(
            ("New Order", "Payment Received", "In Progress", "Shipped"), (15, 35, 30, 20)
        )[0]
    return rng.choices(("Shipped", "Refund Sent", "Cancelled (Per Buyer's Request)"), (93, 4, 3))[0]
