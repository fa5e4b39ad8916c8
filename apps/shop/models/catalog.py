"""The catalogue: releases as Discogs describes them, kept as written."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from apps.shop.formats import fold
from apps.shop.models.base import ShopRow


class SearchText(models.TextField):
    """Folded words of a release, written on every save and bulk insert, so never stale."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        text = search_text(model_instance)
        setattr(model_instance, self.attname, text)
        return text

    def deconstruct(self) -> Any:
        """As a plain text field: migrations import nothing of ours."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


def search_text(release: Any) -> str:
    """Artist (shown and as written), title, label and catalogue number, folded."""
    parts = dict.fromkeys(
        (
            release.artist_display,
            release.artist_match,
            release.title,
            release.label_display,
            release.catno_display,
        )
    )
    return fold(" ".join(part for part in parts if part))


class Release(ShopRow):
    """One pressing. ``carriers`` holds every carrier of the set: ``LP``, ``7"``, ``CD`` …

    ``artist_match`` keeps Discogs' " (2)" for matching, ``artist_display`` drops it.
    ``released`` is the date as written (``1999-03-00``, ``0``, empty), ``year`` what is sure.
    A stub was made from a row that only names the release; a dump or a fuller row fills it.
    """

    discogs_id = models.BigIntegerField(null=True, blank=True)
    title = models.TextField()
    artist_display = models.TextField(blank=True, default="")
    artist_match = models.TextField(blank=True, default="")
    label_display = models.TextField(blank=True, default="")
    catno_display = models.TextField(blank=True, default="")
    format_text = models.TextField(blank=True, default="")
    country = models.TextField(blank=True, default="")
    released = models.TextField(blank=True, default="")
    year = models.SmallIntegerField(null=True, blank=True)
    genres = ArrayField(models.TextField(), default=list, blank=True)
    styles = ArrayField(models.TextField(), default=list, blank=True)
    carriers = ArrayField(models.TextField(), default=list, blank=True)
    notes = models.TextField(blank=True, default="")
    master_id = models.BigIntegerField(null=True, blank=True)
    has_image = models.BooleanField(default=False)
    data_quality = models.TextField(blank=True, default="")
    is_stub = models.BooleanField(default=False)
    search = SearchText(blank=True, default="", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["guild", "discogs_id"], name="release_once_per_guild")
        ]
        indexes = [
            GinIndex(fields=["genres"], name="release_genres"),
            GinIndex(fields=["styles"], name="release_styles"),
            GinIndex(fields=["carriers"], name="release_carriers"),
            GinIndex(fields=["search"], opclasses=["gin_trgm_ops"], name="release_search"),
        ]

    def __str__(self) -> str:
        return f"{self.artist_display} – {self.title}" if self.artist_display else self.title

    @property
    def ref(self) -> str:
        return f"release:{self.pk}"


class ReleasePart(ShopRow):
    """A part of a release, in the order of the source."""

    position = models.PositiveIntegerField()

    class Meta:
        abstract = True
        ordering = ["release_id", "position"]


class ReleaseArtist(ReleasePart):
    """A credit. ``role`` is empty for the main artists; ``joiner`` stands before the next one."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="artists")
    name = models.TextField()
    display = models.TextField()
    role = models.TextField(blank=True, default="")
    joiner = models.TextField(blank=True, default="")


class ReleaseLabel(ReleasePart):
    """A label with its catalogue number as written; Discogs may name a label twice."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="labels")
    name = models.TextField()
    catno = models.TextField(blank=True, default="")


class ReleaseFormat(ReleasePart):
    """One carrier of the set. ``carrier`` is empty for descriptions of the whole set."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="formats")
    carrier = models.TextField(blank=True, default="")
    quantity = models.PositiveIntegerField(default=1)
    descriptions = ArrayField(models.TextField(), default=list, blank=True)
    text = models.TextField(blank=True, default="")


class Track(ReleasePart):
    """A track, or a part of one (``is_sub``). ``number`` is the side and position: ``A1``."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="tracks")
    number = models.TextField(blank=True, default="")
    title = models.TextField(blank=True, default="")
    duration = models.TextField(blank=True, default="")
    is_sub = models.BooleanField(default=False)


class Identifier(ReleasePart):
    """A barcode, matrix number or the like, as written."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="identifiers")
    kind = models.TextField()
    value = models.TextField(blank=True, default="")
    description = models.TextField(blank=True, default="")
