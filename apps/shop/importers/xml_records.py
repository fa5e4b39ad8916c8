"""The records of a Discogs dump, one at a time, each parsed alone by a hardened parser.

A dump is cut at its records before XML is parsed, so that a broken record costs itself only
and a killed import can go on at an offset; a pull parser stops at the first fault. Memory is
bounded by one record, and a document type is refused, so no entity is ever expanded.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from lxml import etree

from apps.jobs.errors import JobError
from apps.shop.importers.table import open_file

CHUNK = 256 * 1024
LONGEST_RECORD = 16 * 1024 * 1024
LONGEST_PROLOG = 64 * 1024
GZIP = b"\x1f\x8b"

_ROOT = re.compile(rb"<([A-Za-z_][\w.-]*)(?=[\s>/])")
_START = re.compile(rb"<release(?=[\s>])")
_END = re.compile(rb"</release\s*>")
_ENCODING = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([^"']+)""")
_BAD_BYTES = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_BAD_REFERENCE = re.compile(
    rb"&#(?:x0*(?:[0-8bcBCefEF]|1[0-9a-fA-F])|0*(?:[0-8]|1[124-9]|2\d|3[01]));"
)
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()


@dataclass(frozen=True, slots=True)
class XmlRecord:
    """One record's bytes. ``end`` and ``next_line`` are where a later run goes on."""

    raw: bytes
    line: int
    end: int
    next_line: int
    fault: str = ""


class Dump:
    """An open dump of releases, plain or gzip; offsets are of the unpacked text."""

    def __init__(self, name: str, packed: BinaryIO) -> None:
        self._name = name
        is_gzip = packed.read(2) == GZIP
        packed.seek(0)
        self._packed = packed
        unpacked = gzip.GzipFile(fileobj=packed) if is_gzip else packed
        self._file = cast(BufferedReader, unpacked)
        self.size = os.fstat(packed.fileno()).st_size
        self._buffer = b""
        self._offset = 0
        self._line = 1
        self._check_prolog()

    @property
    def done(self) -> int:
        """Bytes of the packed file read so far."""
        return self._packed.tell()

    def records(self, *, offset: int = 0, line: int = 0) -> Iterator[XmlRecord]:
        """Records from there on (default: the first one)."""
        self._advance_to(offset, line)
        while True:
            try:
                record = self._next()
            except (EOFError, zlib.error, gzip.BadGzipFile):
                why = "the gzip file is cut off or damaged here; fetch it again"
                yield XmlRecord(b"", self._line, self._offset, self._line, why)
                return
            if record is None:
                return
            yield record

    def _next(self) -> XmlRecord | None:
        start = self._find(_START, keep=16)
        if start is None:
            return None
        self._drop(start.start())
        line = self._line
        end = self._find(_END)
        if end is None:
            is_long = len(self._buffer) > LONGEST_RECORD
            why = "longer than 16 MiB" if is_long else "the file ends in the middle of this release"
            self._drop(len(_START.pattern) if is_long else len(self._buffer))
            return XmlRecord(b"", line, self._offset, self._line, why)
        raw = self._buffer[: end.end()]
        following = _START.search(raw, 1)
        self._drop(following.start() if following else len(raw))
        why = "the release is not closed before the next one" if following else ""
        return XmlRecord(raw, line, self._offset, self._line, why)

    def _find(self, pattern: re.Pattern[bytes], keep: int = 0) -> re.Match[bytes] | None:
        """The next match, reading on for it. With ``keep``, text passed over is dropped."""
        searched = 0
        while True:
            match = pattern.search(self._buffer, max(0, searched - 32))
            if match:
                return match
            if keep and len(self._buffer) > keep:
                self._drop(len(self._buffer) - keep)
            searched = len(self._buffer)
            if searched > LONGEST_RECORD or not self._fill():
                return None

    def _fill(self) -> bool:
        # read1 gives what a damaged gzip file holds before the damage; read would lose it.
        chunk = self._file.read1(CHUNK)
        self._buffer += chunk
        return bool(chunk)

    def _drop(self, count: int) -> None:
        self._line += self._buffer.count(b"\n", 0, count)
        self._offset += count
        self._buffer = self._buffer[count:]

    def _advance_to(self, offset: int, line: int) -> None:
        while offset > self._offset:
            if not self._buffer and not self._fill():
                return
            self._drop(min(len(self._buffer), offset - self._offset))
        self._line = line or self._line

    def _check_prolog(self) -> None:
        """Refuse what is no dump of releases in UTF-8, before a record is read."""
        root = self._root()
        prolog = self._buffer[: root.start() if root else LONGEST_PROLOG]
        encoding = _ENCODING.search(prolog)
        name = self._name
        if b"<!DOCTYPE" in prolog or b"<!ENTITY" in prolog:
            raise JobError(f"{name} carries a document type, which no dump has; it was refused.")
        if encoding and encoding[1].lower() not in (b"utf-8", b"utf8", b"us-ascii"):
            raise JobError(f"{name} is not in UTF-8. Convert it, or fetch the dump again.")
        if root is None:
            raise JobError(f"{name} is no XML dump of releases. Name releases.xml or .xml.gz.")
        if root[1] not in (b"releases", b"release"):
            what = root[1].decode(errors="replace")[:40]
            raise JobError(f"{name} holds <{what}>, not <releases>. Name the dump of releases.")

    def _root(self) -> re.Match[bytes] | None:
        try:
            while len(self._buffer) < LONGEST_PROLOG and self._fill():
                if root := _ROOT.search(self._buffer, 0, LONGEST_PROLOG):
                    starts = self._buffer.removeprefix(b"\xef\xbb\xbf").lstrip()
                    return root if starts.startswith(b"<") else None
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise JobError(f"{self._name} is a damaged gzip file. Fetch it again.") from None
        return None


@contextmanager
def open_dump(path: Path, *, name: str) -> Iterator[Dump]:
    """The dump, or :class:`JobError` saying what the file is instead."""
    with open_file(path, name) as packed:
        yield Dump(name, packed)


def parse_record(raw: bytes) -> tuple[etree._Element | None, str]:
    """The record's element, and what was wrong with its bytes; None when it is no XML."""
    element, _ = _parse(raw)
    if element is not None:
        return element, ""
    clean, what = _clean(raw)
    element, why = _parse(clean)
    return element, what if element is not None else why


def _parse(raw: bytes) -> tuple[etree._Element | None, str]:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        encoding="utf-8",
    )
    try:
        return etree.fromstring(raw, parser), ""
    except etree.XMLSyntaxError as error:
        return None, f"no valid XML: {str(error.msg)[:120]}"


def _clean(raw: bytes) -> tuple[bytes, str]:
    """The record without bytes that XML forbids, and which ones those were."""
    bad = _BAD_BYTES.search(raw)
    text = _BAD_REFERENCE.sub(_REPLACEMENT, _BAD_BYTES.sub(_REPLACEMENT, raw))
    clean = text.decode(errors="replace").encode()
    if bad:
        return clean, f"byte 0x{bad[0][0]:02x} is not allowed in XML; replaced"
    return clean, "bytes that are not UTF-8, or not allowed in XML; replaced"
