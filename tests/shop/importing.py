"""Run an import command as a person does, on files written here or given."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

HEADER = (
    "listing_id,artist,title,label,catno,format,release_id,status,price,listed,comments,"
    "media_condition,sleeve_condition,accept_offer,external_id,weight,format_quantity,location,"
    "quantity"
)
LISTING: Mapping[str, Any] = {
    "listing_id": 1001,
    "artist": "The Paper Lanterns (2)",
    "title": "Low Tide",
    "label": "Harbour Wall",
    "catno": "HW 7",
    "format": 'LP, Album, RE + 7", Single',
    "release_id": 501,
    "status": "For Sale",
    "price": "12.5",
    "listed": "2026-03-01 12:00:00",
    "comments": "",
    "media_condition": "Very Good Plus (VG+)",
    "sleeve_condition": "Very Good (VG)",
    "accept_offer": "N",
    "external_id": "",
    "weight": "230",
    "format_quantity": "1",
    "location": "A3",
    "quantity": "1",
}


def run(kind: str, *paths: Path, **options: Any) -> dict[str, Any]:
    """The JSON report of a command that succeeds."""
    out = StringIO()
    call_command(kind, *map(str, paths), json=True, stdout=out, stderr=StringIO(), **options)
    report: dict[str, Any] = json.loads(out.getvalue())
    return report


def refused(kind: str, *paths: Path, **options: Any) -> str:
    """What a command says when it refuses; its JSON says the same."""
    out = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command(kind, *map(str, paths), json=True, stdout=out, stderr=StringIO(), **options)
    assert json.loads(out.getvalue())["error"] == str(raised.value)
    return str(raised.value)


def counts(report: Mapping[str, Any]) -> tuple[int, int, int, int]:
    return report["read"], report["created"], report["updated"], report["skipped"]


def stock_file(path: Path, *rows: Mapping[str, Any], without: Iterable[str] = ()) -> Path:
    """An inventory export: each row is LISTING with these fields changed."""
    names = [name for name in LISTING if name not in set(without)]
    return table_file(path, names, [{**LISTING, **row} for row in rows])


def table_file(path: Path, names: list[str], rows: Iterable[Mapping[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
    return path
