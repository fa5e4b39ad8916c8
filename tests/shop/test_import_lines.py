"""Records of a CSV file, against whatever can be written into one."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from apps.shop.importers.lines import Lines, Record, records

WIDTH = 3
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
ROWS = st.lists(st.lists(TEXT, min_size=WIDTH, max_size=WIDTH), max_size=6)
GOOD = 'good,"a ""7"" single, b",{}\r\n'


def read(data: bytes) -> list[Record]:
    return list(records(Lines(BytesIO(data)), width=WIDTH))


@given(ROWS, st.sampled_from([("\r\n", csv.QUOTE_MINIMAL), ("\n", csv.QUOTE_ALL)]))
@settings(max_examples=300, deadline=None)
def test_what_a_csv_writer_writes_is_read_back(
    rows: list[list[str]], way: tuple[str, Literal[0, 1]]
) -> None:
    out = StringIO(newline="")
    csv.writer(out, lineterminator=way[0], quoting=way[1]).writerows(rows)
    found = read(out.getvalue().encode())
    assert [record.fields for record in found] == rows
    assert not any(record.fault for record in found)


@given(st.binary(max_size=60).map(lambda data: data.replace(b"\n", b"")))
@settings(max_examples=300, deadline=None)
def test_one_line_of_anything_leaves_its_neighbours_whole(junk: bytes) -> None:
    before, after = (GOOD.format(name).encode() for name in ("before", "after"))
    found = [record.fields for record in read(before + junk + b"\n" + after)]
    assert found[0] == ["good", 'a "7" single, b', "before"]
    assert found[-1] == ["good", 'a "7" single, b', "after"]


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_bytes_of_any_kind_raise_nothing_and_end(data: bytes) -> None:
    ends = [record.end for record in read(data)]
    assert ends == sorted(ends)
    assert all(0 < end <= len(data) for end in ends)


@given(ROWS, st.integers(0, 5))
@settings(max_examples=200, deadline=None)
def test_reading_goes_on_at_the_end_of_any_record(rows: list[list[str]], stop: int) -> None:
    out = StringIO(newline="")
    csv.writer(out).writerows(rows)
    data = out.getvalue().encode()
    found = read(data)
    for record in found[stop : stop + 1]:
        rest = Lines(BytesIO(data), offset=record.end, number=record.next_line)
        later = [(r.fields, r.line) for r in records(rest, width=WIDTH)]
        assert later == [(r.fields, r.line) for r in found[stop + 1 :]]


def test_inches_in_bare_fields_join_no_rows() -> None:
    found = read(b'1,7" Single,x\n2,12" Single,y\n3,plain,z\n')
    assert [record.fields[0] for record in found] == ["1", "2", "3"]
    assert found[0].fields[1] == '7" Single'
