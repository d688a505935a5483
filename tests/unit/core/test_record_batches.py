"""Records read in batches are the records read one by one, for every file and every division into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import core.load_file.record_stream as record_stream
from core.load_file import encoding as enc
from core.load_file import split_state
from core.load_file.dialect import read_opening
from core.load_file.grammar import SURPLUS_CELLS, Grammar, LineCursor
from core.load_file.options import ImportOptions, parse_options
from core.load_file.record_batches import LocatedBatch, RecordBatch, read_batch
from core.load_file.record_reader import read_records, read_single_line_records
from core.load_file.record_stream import RecordStream
from core.load_file.splitter import Splitter
from tests.unit.core.file_reading import blocks_between, clear_files, every

CONTROL = b"Control Number,Title,Document Date\n"
GRAMMAR = Grammar(",", '"', 3)
# What blocks, records and csv.reader are sensitive to, in any order.
PIECES = st.sampled_from(
    [
        *(
            b"1,a,1/2/2020\n",
            b"2,b,13/2/2020\r\n",
            b" 2\t,c, 2/14/2020\n",
            b',"",\n',
            b"3,d\n",
            b"4,e,f,g\n",
            b"5,f,\xff\n",
        ),
        *(b'6,"two\nlines",x\n', b'7,"a\r\r\nb",y\r\n', b'8,"open,z\n', b'9,"x"y,z\n', b"10,a\rb,c\n", b"11,a,b\r\r\n"),
        *(
            b"\n",
            b"\r\n",
            b"\r\r\n",
            b'"',
            b",",
            b"\r",
            b"\xc3\xa9",
            b'12,"' + b"a\n" * 30 + b'",c\n',
            b"," * 40 + b"\n",
        ),
        b'13,"a\nb"' + b",x" * 40 + b"\n",
        *(CONTROL, b"\xef\xbb\xbf" + CONTROL, b'\xef\xbb\xbf"14",m,n\n', b"Control Number,a,b\n", b"\xef\xbb\xbf\n"),
    ]
)
DAMAGED = st.lists(PIECES, max_size=25).map(lambda pieces: CONTROL + b"".join(pieces))
Outcome = dict[str, Any]


def outcome(data: bytes, options: dict[str, Any] | None, cuts: range, limits: tuple[int, int, int]) -> Outcome:
    """Everything that a pass over a file finds."""
    given_options = parse_options(options or {})
    opening = read_opening(data, given_options, whole=True)
    splitter = Splitter(opening, *limits)
    chunks = [chunk for block in blocks_between(data, cuts) for chunk in splitter.feed(block)]
    chunks += splitter.finish()
    found = {"chunks": chunks, "ids": splitter.ids, "rows": splitter.rows_seen, "sha256": splitter.sha256}
    return {
        **found,
        "layout": splitter.build_layout(ImportOptions()),
        "order": splitter.date_orders,
        "dates": splitter.dates.export(),
    }


def assert_same(data: bytes, options: dict[str, Any] | None, step: int, limits: tuple[int, int, int]) -> None:
    cuts = every(step, data)
    batched = outcome(data, options, cuts, limits)
    with patch.object(record_stream, "read_batch", return_value=RecordBatch([0], [], [], [])):
        assert batched == outcome(data, options, cuts, limits)


LIMITS = st.tuples(st.integers(1, 9), st.sampled_from([30, 200, 16_000_000]), st.sampled_from([1, 40, 300, 4_000_000]))
STEPS = st.sampled_from([1, 2, 7, 64, 300, 1_000_000])


@given(DAMAGED, STEPS, LIMITS)
@example(CONTROL + b"1,a,b\r\r\n2,c,d\n", 1_000, (9, 16_000_000, 4_000_000))
@example(CONTROL + b"1,a,b\n\n\n2,c,d\n", 1_000, (1, 16_000_000, 4_000_000))
def test_damaged_files_come_to_the_same(data: bytes, step: int, limits: tuple[int, int, int]) -> None:
    assert_same(data, {}, step, limits)


@given(clear_files(), STEPS, LIMITS)
def test_generated_files_come_to_the_same(generated: Any, step: int, limits: tuple[int, int, int]) -> None:
    assert_same(generated.data, generated.options, step, limits)


@pytest.mark.parametrize("known", [3, 5, 7, 100])
def test_dates_are_kept_up_to_the_same_one(known: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_state, "MAX_DATE_PREFIXES", known)
    data = CONTROL + b"".join(b"%d,a,%d/2/2020\n" % (row, row * 7 % 12) for row in range(60))
    assert_same(data, {}, 100, (1_000, 16_000_000, 4_000_000))


def ends(text: bytes) -> Iterator[int]:
    """Return the line after each record of a batch."""
    return iter(read_batch(enc.split_lines(text, "utf-8"), GRAMMAR, (0, 2)).bounds[1:])


def test_sound_lines_are_all_in_a_batch() -> None:
    batch = read_batch(enc.split_lines(b'1,a,b\n2,"c\r\nd",e\r\n3,f,g\n', "utf-8"), GRAMMAR, (0, 2))
    assert (batch.bounds, batch.first_lines) == ([0, 1, 3, 4], [0, 1, 3])
    assert (batch.ids, batch.dates) == ([*"123"], [*"beg"])


@pytest.mark.parametrize(
    "second",
    [b"\n", b"\r\n", b'2,"open,x\n', b'2,"a"b,c\n', b'2,"a\nb"' + b",x" * (SURPLUS_CELLS + 2) + b"\n"],
    ids=["blank", "blank CRLF", "not closed", "damaged", "over several lines with surplus cells"],
)
def test_a_batch_ends_before_a_record_that_is_not_sound(second: bytes) -> None:
    assert list(ends(b"1,a,b\n" + second + b"3,c,d\n")) == [1]


def test_lines_with_a_bare_cr_are_not_read() -> None:
    assert list(ends(b"1,a,b\n2,c\rd,e\n")) == list(ends(b"1,a,b\r\r\n")) == []


def test_a_row_with_another_number_of_cells_is_a_record_without_an_id() -> None:
    batch = read_batch(enc.split_lines(b"1,a\n2,b,c\n3,d,e,f\n", "utf-8"), GRAMMAR, (0, 2))
    assert (batch.bounds, batch.first_lines, batch.ids) == ([0, 1, 2, 3], [1], ["2"])


def test_a_chunk_may_be_exactly_as_large_as_chunks_may() -> None:
    for most in range(19, 31):
        assert_same(CONTROL + b"1,a,b\n2,cc,d\n" * 9, {}, 1_000, (1_000, 16_000_000, most))


def test_a_batch_after_many_blank_lines_starts_a_chunk() -> None:
    assert_same(CONTROL + b"1,a,b\n" + b"\n" * 100 + b"2,c,d\n3,e,f\n", {}, 10, (9, 30, 4_000_000))


@given(st.lists(PIECES, max_size=6).map(b"".join))
def test_a_batch_has_the_first_records_and_the_path_for_single_lines_all_or_none(raw: bytes) -> None:
    lines = enc.split_lines(raw, "utf-8")
    records = list(read_records(lines, GRAMMAR, at_end=True, cursor=LineCursor()))
    bounds = read_batch(lines, GRAMMAR, (0, 2)).bounds
    found = [(record.first, record.first + record.lines) for record in records[: len(bounds) - 1]]
    assert found == list(pairwise(bounds))
    single = read_single_line_records(lines, GRAMMAR)
    alone = [record.cells for record in records if record.lines == 1 and record.cells is not None]
    assert single == (alone if len(alone) == len(lines.texts) and not (lines.bare_cr or lines.mark) else None)


def test_sound_records_are_one_batch() -> None:
    stream = RecordStream(GRAMMAR, "utf-8", 0, 1, (0, 2))
    found = list(stream.feed(b'1,a,b\n2,c,d\n3,"e\nf",g\n', at_end=True))
    assert [type(each) for each in found] == [LocatedBatch]
