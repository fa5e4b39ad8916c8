"""Gaps in the catalogue: what each is, and how many releases have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Lower, Trim

from apps.core.tools import Column, Table, ToolContext
from apps.shop import tables
from apps.shop.arguments import CatalogHealth
from apps.shop.models import Identifier, Release, ReleaseArtist, ReleaseLabel, Track

Releases = QuerySet[Release]
COLUMNS = (
    Column("gap", "Gap"),
    Column("releases", "Releases", "number"),
    Column("share", "Share", "percent"),
    Column("example", "For instance"),
)


@dataclass(frozen=True)
class Gap:
    """A gap's name and the releases that have it."""

    name: str
    having: Callable[[Releases], Releases]


def _no_barcode(releases: Releases) -> Releases:
    barcodes = Identifier.objects.filter(release_id=OuterRef("pk"), kind="Barcode")
    return releases.filter(~Exists(barcodes.exclude(value="")))


def _no_duration(releases: Releases) -> Releases:
    """Parts of a track do not count: only a track of its own tells how long the record is."""
    timed = Track.objects.filter(release_id=OuterRef("pk"), is_sub=False).exclude(duration="")
    return releases.filter(~Exists(timed))


def _no_catno(releases: Releases) -> Releases:
    labels = ReleaseLabel.objects.annotate(plain=Lower(Trim("catno"))).filter(plain="none")
    return releases.filter(Exists(labels.filter(release_id=OuterRef("pk"))))


def _label_twice(releases: Releases) -> Releases:
    twice = (
        ReleaseLabel.objects.values("release_id", "name")
        .annotate(times=Count("pk"))
        .filter(times__gt=1)
        .order_by()
    )
    return releases.filter(pk__in=twice.values("release_id"))


def _various(releases: Releases) -> Releases:
    credited = ReleaseArtist.objects.filter(release_id=OuterRef("pk"), name="Various", role="")
    return releases.filter(Q(artist_match="Various") | Exists(credited))


GAPS = (
    Gap("no barcode", _no_barcode),
    Gap("no duration of any track", _no_duration),
    Gap("no master release", lambda releases: releases.filter(master_id=None)),
    Gap("no style", lambda releases: releases.filter(styles=[])),
    Gap("a catalogue number “none”", _no_catno),
    Gap("no release date", lambda releases: releases.filter(released__in=["", "0"])),
    Gap("no image", lambda releases: releases.filter(has_image=False)),
    Gap("no country", lambda releases: releases.filter(country="")),
    Gap("a label named twice", _label_twice),
    Gap(
        "“&” or “<” in the title",
        lambda releases: releases.filter(Q(title__contains="&") | Q(title__contains="<")),
    ),
    Gap("artist Various", _various),
)


def catalog_health(ctx: ToolContext, args: CatalogHealth) -> Table:
    """How many releases have each gap, most frequent first."""
    releases = Release.objects.filter(guild_id=ctx.guild.pk)
    counted = releases.aggregate(all=Count("pk"), stubs=Count("pk", filter=Q(is_stub=True)))
    found = [(gap, gap.having(releases).aggregate(n=Count("pk"), one=Min("pk"))) for gap in GAPS]
    found.sort(key=lambda pair: -pair[1]["n"])
    titles = {
        release.pk: str(release)
        for release in Release.objects.filter(pk__in=[each["one"] for _, each in found])
    }
    rows = [
        {
            "ref": f"release:{each['one']}" if each["one"] else "",
            "gap": gap.name,
            "releases": each["n"],
            "share": _percent(each["n"], counted["all"]),
            "example": titles.get(each["one"], ""),
        }
        for gap, each in found
    ]
    return tables.build(
        ctx,
        "Gaps in the catalogue",
        COLUMNS,
        rows,
        totals={"rows": len(rows), "releases": counted["all"]},
        total_rows=len(rows),
        notes=[f"Out of {counted['all']:,} releases.", _stubs(counted["stubs"])],
    )


def _percent(count: int, whole: int) -> str:
    return f"{100 * count / whole:.1f}" if whole else "0.0"


def _stubs(count: int) -> str:
    if not count:
        return ""
    return f"{count:,} of them are known from stock, order or want lists only; a dump fills them."
