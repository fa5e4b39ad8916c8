"""Records of a CSV file, one at a time, whatever the file holds.

Memory is bounded by one record. A line that is too long, not UTF-8 or holds a NUL byte, and
a quotation mark that nobody closes, cost their own row only.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

LONGEST_RECORD = 1024 * 1024
NOT_CLOSED = "a quotation mark is opened here and not closed; double it or remove it"
NO_CSV = "the row is no valid CSV; look for a lone carriage return or quotation mark"

csv.field_size_limit(LONGEST_RECORD)


@dataclass(frozen=True, slots=True)
class Line:
    """One physical line: its number from 1, the offset after it, and what is wrong with it."""

    text: str
    number: int
    end: int
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """Fields of one record, or a fault in words. ``end`` and ``next_line`` are where to go on."""

    fields: list[str]
    line: int
    end: int
    next_line: int
    fault: str = ""
    text: str = ""


class Lines:
    """Physical lines of an open file, with push-back."""

    def __init__(self, file: BinaryIO, *, offset: int = 0, number: int = 1) -> None:
        self._file = file
        self._number = number
        self._offset = offset
        self._waiting: deque[Line] = deque()
        file.seek(offset)

    def take(self) -> Line | None:
        """The next line; None at the end of the file."""
        if self._waiting:
            return self._waiting.popleft()
        raw = self._file.readline(LONGEST_RECORD + 1)
        if not raw:
            return None
        self._offset += len(raw)
        if len(raw) > LONGEST_RECORD and not raw.endswith(b"\n"):
            self._offset += self._drop_rest()
            return self._line("", "longer than 1 MiB; the line was left out")
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            why = f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
            return self._line(raw.decode(errors="replace"), why)
        return self._line(text, "holds a NUL byte" if "\0" in text else "")

    def put_back(self, lines: list[Line]) -> None:
        self._waiting.extendleft(reversed(lines))

    def _line(self, text: str, fault: str) -> Line:
        line = Line(text, self._number, self._offset, fault)
        self._number += 1
        return line

    def _drop_rest(self) -> int:
        dropped = 0
        while chunk := self._file.readline(LONGEST_RECORD):
            dropped += len(chunk)
            if chunk.endswith(b"\n"):
                break
        return dropped


def records(lines: Lines, *, width: int | None) -> Iterator[Record]:
    """Records in order; blank lines are passed over. ``width`` is the header's, if known.

    A record over several lines whose fields do not fit is a stray quotation mark: its first
    line is told, and reading goes on with the second.
    """
    while first := lines.take():
        if not first.text.strip() and not first.fault:
            continue
        gathered = _gather(lines, first)
        record = _parse(gathered, width)
        if record is None and len(gathered) > 1:
            lines.put_back(gathered[1:])
            record = _parse([first], width)
        yield record or _bad(first, NOT_CLOSED)


def _gather(lines: Lines, first: Line) -> list[Line]:
    """The line, and those after it while a quotation mark stays open."""
    gathered, is_open, size = [first], first.text.count('"') % 2 == 1, len(first.text)
    while is_open and size <= LONGEST_RECORD and (line := lines.take()):
        gathered.append(line)
        size += len(line.text)
        is_open ^= line.text.count('"') % 2 == 1
    return gathered


def _parse(gathered: list[Line], width: int | None) -> Record | None:
    """The record of these lines; None when they make none together."""
    first, last = gathered[0], gathered[-1]
    fault = next((line.fault for line in gathered if line.fault), "")
    if fault and len(gathered) == 1:
        return _bad(first, fault)
    texts = [line.text for line in gathered]
    text = texts[0] if len(texts) == 1 else "".join(texts)
    reader = csv.reader(texts, strict=len(texts) > 1)
    try:
        fields = next(reader, [])
    except csv.Error:
        return None if len(texts) > 1 else _bad(first, NO_CSV)
    is_odd = width is not None and not width <= len(fields) <= width + 1
    if is_odd and (len(texts) > 1 or text.count('"') % 2):
        return None
    # A quotation mark inside a bare field (7" Single) opens nothing: the record ended before.
    if reader.line_num != len(texts):
        return None
    return Record(fields, first.number, last.end, last.number + 1, fault, text)


def _bad(line: Line, fault: str) -> Record:
    return Record([], line.number, line.end, line.number + 1, fault, line.text)
