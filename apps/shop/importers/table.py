"""A CSV file opened by what it is: its kind, its columns by name, its rows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from apps.jobs.errors import JobError
from apps.shop.importers.lines import Lines, Record, records

SNIFFED = 4096
SIGNATURES = {
    b"PK\x03\x04": "a spreadsheet or zip archive; save the sheet as CSV UTF-8 and import that",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV UTF-8 and import that",
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"%PDF": "a PDF; export the list as CSV from Discogs instead",
    b"\xff\xfe": "UTF-16 text; save it as CSV UTF-8 and import that",
    b"\xfe\xff": "UTF-16 text; save it as CSV UTF-8 and import that",
    b"<": "XML or HTML; only import_releases reads XML, the others read CSV",
    b"{": "JSON; this command reads the CSV export of Discogs",
    b"[": "JSON; this command reads the CSV export of Discogs",
}


@dataclass(frozen=True)
class FileKind:
    """A file that Discogs exports: its name for people, its command, and how to tell it."""

    name: str
    command: str
    required: frozenset[str]
    unnamed: str = ""
    foreign: frozenset[str] = frozenset()

    def fits(self, names: set[str]) -> bool:
        """Whether a header with these column names is of this kind."""
        return self.required <= names and not self.foreign & names


STOCK = FileKind(
    "inventory export", "import_stock", frozenset({"listing_id", "release_id", "status", "price"})
)
ORDERS = FileKind(
    "orders export", "import_orders", frozenset({"order_num", "order_date", "status", "total"})
)
ORDER_ITEMS = FileKind(
    "order items export",
    "import_orders",
    frozenset({"order_num", "status", "item_id", "item_price"}),
)
COLLECTION = FileKind(
    "collection export", "import_collection", frozenset({"release_id", "collectionfolder"})
)
WANTS = FileKind(
    "want list export",
    "import_wants",
    frozenset({"release_id", "artist", "title", "catalog"}),
    unnamed="date_added",
    foreign=frozenset({"collectionfolder"}),
)
KINDS = (STOCK, ORDER_ITEMS, ORDERS, COLLECTION, WANTS)
ALIASES = {"collection_folder": "collectionfolder"}


@dataclass(frozen=True, slots=True)
class Row:
    """One record by column name, fields stripped. ``end``, ``next_line``: where to go on."""

    values: dict[str, str]
    line: int
    end: int
    next_line: int
    fault: str = ""
    text: str = ""

    def get(self, name: str) -> str:
        """The field; empty when the file lacks the column."""
        return self.values.get(name, "")


class Table:
    """An open file of a known kind. ``headers`` maps column names to those of the file."""

    def __init__(self, file: BinaryIO, kind: FileKind, header: Record) -> None:
        self._file = file
        self.kind = kind
        self.size = os.fstat(file.fileno()).st_size
        self.names = [column_name(field) for field in header.fields]
        self.headers = dict(zip(self.names, (f.strip() for f in header.fields), strict=True))
        self.start = header.end
        self.start_line = header.next_line

    def __contains__(self, name: object) -> bool:
        return name in self.headers

    def rows(self, *, offset: int = 0, line: int = 0) -> Iterator[Row]:
        """Rows from there on (default: the first one)."""
        lines = Lines(self._file, offset=offset or self.start, number=line or self.start_line)
        for record in records(lines, width=len(self.names)):
            yield self._row(record)

    def _row(self, record: Record) -> Row:
        fields, fault = record.fields, record.fault
        names = self.names
        if self.kind.unnamed and self.kind.unnamed not in self.headers:
            names = [*names, self.kind.unnamed]
            fields = [*fields, ""] if len(fields) == len(self.names) else fields
        if len(fields) > len(names) and not any(field.strip() for field in fields[len(names) :]):
            fields = fields[: len(names)]
        if not fault and len(fields) != len(names):
            fault = f"the row has {len(fields)} fields, the header {len(self.names)}"
        values = {} if fault else dict(zip(names, map(str.strip, fields), strict=True))
        return Row(values, record.line, record.end, record.next_line, fault, record.text)


def column_name(header: str) -> str:
    """``Date Added``, ``Date.Added`` and ``date_added`` alike."""
    name = re.sub(r"[^0-9a-z]+", "_", header.casefold()).strip("_")
    return ALIASES.get(name, name)


@contextmanager
def open_table(path: Path, *kinds: FileKind, name: str) -> Iterator[Table]:
    """The file as one of these kinds, or :class:`JobError` saying what it is instead.

    ``name`` is what people call the file: an upload is stored under another.
    """
    with open_file(path, name) as file:
        header = _header(file, name)
        names = [column_name(field) for field in header.fields]
        kind = next((kind for kind in kinds if kind.fits(set(names))), None)
        if kind is None:
            raise JobError(_wrong_columns(name, header.fields, names, kinds[0]))
        twice = sorted({column for column in names if column and names.count(column) > 1})
        if twice:
            raise JobError(f"{name} names the column {twice[0]} twice; remove one of them.")
        yield Table(file, kind, header)


@contextmanager
def open_file(path: Path, name: str) -> Iterator[BinaryIO]:
    """The file for reading, or :class:`JobError` saying why not."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise JobError(f"There is no file {path}. Check the path and try again.") from None
    except IsADirectoryError:
        raise JobError(f"{path} is a folder. Name the file inside it.") from None
    except PermissionError:
        raise JobError(f"{path} may not be read by this process. Change its rights.") from None
    with file:
        if not os.fstat(file.fileno()).st_size:
            raise JobError(f"{name} is empty (0 bytes). Export it again from Discogs.")
        yield file


def _header(file: BinaryIO, name: str) -> Record:
    head = file.read(SNIFFED)
    for signature, what in SIGNATURES.items():
        if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(signature):
            raise JobError(f"{name} is {what}.")
    skip = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    header = next(records(Lines(file, offset=skip), width=None), None)
    if header is None:
        raise JobError(f"{name} holds only blank lines. Export it again from Discogs.")
    if "\r" in header.text.rstrip("\r\n"):
        raise JobError(f"{name} ends its lines with CR alone. Save it with CRLF or LF.")
    if header.fault:
        raise JobError(f"The header of {name}: {header.fault}. Is it a CSV export of Discogs?")
    return header


def _wrong_columns(name: str, fields: list[str], names: list[str], wanted: FileKind) -> str:
    """What the file looks like, and the next step."""
    given = set(names)
    line = ",".join(fields)
    for sign, word in ((";", "semicolons"), ("\t", "tabs")):
        if line.count(sign) >= 2 and line.count(sign) > len(fields) - 1:
            return (
                f"{name} separates its columns with {word}. Save it with commas "
                "(CSV UTF-8, comma separated) and import it again."
            )
    for kind in KINDS:
        if kind.fits(given) and kind.command != wanted.command:
            return f"{name} looks like a {kind.name}; use {kind.command} for it."
    if given == {"listing_id"} or given >= {"release_id", "price", "media_condition"}:
        return (
            f"{name} looks like a file for uploading to Discogs, which lacks "
            "listing ids or prices; export the inventory from Discogs and import that."
        )
    missing = ", ".join(sorted(wanted.required - given))
    return (
        f"{name} is no {wanted.name}: the columns {missing} are missing from its first "
        "line. Export it again from Discogs, header included."
    )
