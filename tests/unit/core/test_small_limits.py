"""With limits of a few bytes, where every file has records over them: no record is lost, made up, or counted twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.load_file.chunk_reader import read_chunk
from core.load_file.dialect import Dialect, Opening
from core.load_file.encoding import BYTEWISE, get_byte_order_mark
from core.load_file.grammar import Grammar
from core.load_file.options import ImportOptions
from core.load_file.record_reader import SourceRecord
from core.load_file.split_state import Chunk
from core.load_file.splitter import Splitter
from tests.unit.core.file_reading import blocks_between, every, feed_all

NO_LIMIT = 10**6
LIMITS = (24, 60, NO_LIMIT)
STEPS = (1, 3, 7, 50, 1000)
# The byte order mark, which is three characters of cp1252; without it and line ends, a blank line is empty.
MARK = "\ufeff"
BLANK = "\r\n" + MARK + get_byte_order_mark(BYTEWISE)
PIECES = (
    *('"', '"', '"', '""', ",", ",", "a", "b ", "\n", "\n", "\r\n", "\r", " ", "é"),
    *("1,2\n", '"x","y"\n', '"x\ny",z\n', "\n\n\n", MARK, MARK + "\n"),
)
VIEWS = ("utf-8", BYTEWISE, "utf-16-le", "utf-16-be", "cp1252")


@dataclass(frozen=True)
class Split:
    """A text without a header, and what the splitter made of it."""

    raw: bytes
    view: str
    limit: int
    splitter: Splitter
    chunks: Sequence[Chunk]

    def text(self, start: int, end: int | None = None) -> str:
        """The text at these bytes."""
        return self.raw[start:end].decode(self.view)

    def records(self, chunk: Chunk) -> list[SourceRecord]:
        """The records of a chunk that is read on its own."""
        layout = replace(self.splitter.build_layout(ImportOptions()), encoding=self.view)
        raw = self.raw[chunk.byte_start : chunk.byte_end]
        return list(read_chunk(raw, layout, chunk.first_line, chunk.byte_start))

    def count_lines(self, text: str) -> int:
        """How many lines end in the text."""
        return len(re.findall("\r\n?|\n" if self.splitter.opening.grammar.cr_ends else "\n", text))

    @property
    def tail(self) -> str:
        """What stands after the last chunk."""
        return self.text(self.chunks[-1].byte_end if self.chunks else 0)


def split(
    text: str,
    limit: int,
    step: int,
    *,
    grammar: Grammar | None = None,
    view: str = "utf-8",
    chunk_rows: int = 2,
    stops: bool = False,
) -> Split:
    """Split a text, in blocks of `step` characters, with records of up to `limit` bytes, as `feed_all` does."""
    grammar = grammar or Grammar(",", '"', 2)
    dialect = Dialect(None if view == BYTEWISE else view, view, 0, ",", grammar.qualifier, None)
    fields = ("control_number", *[None] * (grammar.cells - 1))
    opening = Opening(dialect, grammar, tuple("abc"[: grammar.cells]), fields, 0, 1)
    raw = text.replace(MARK, get_byte_order_mark(view)).encode(view)
    blocks = blocks_between(raw, every(step * len("a".encode(view)), raw))

    def make() -> Splitter:
        return Splitter(opening, chunk_rows, max_record_bytes=limit, max_chunk_bytes=max(20, limit // 3))

    return Split(raw, view, limit, *feed_all(make, raw, blocks, stops))


@st.composite
def arguments(draw: st.DrawFn) -> tuple[str, int, dict[str, Any]]:
    """A text of pieces that get in each other's way, the size of the blocks, and how to split it."""
    text = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=80)))
    qualifier = draw(st.sampled_from(['"', '"', None]))
    quoted_start = qualifier is not None and draw(st.booleans())
    grammar = Grammar(",", qualifier, draw(st.integers(1, 3)), draw(st.booleans()), quoted_start, draw(st.booleans()))
    text = text.replace("\n", draw(st.sampled_from(("\r", "\n", "\r\n")))) if grammar.cr_ends else text
    step, rows = draw(st.sampled_from(STEPS)), draw(st.sampled_from((1, 2, 5)))
    return text, step, {"grammar": grammar, "view": draw(st.sampled_from(VIEWS)), "chunk_rows": rows}


def splits(limit: int) -> st.SearchStrategy[Split]:
    """What the splitter makes of such a text."""
    return arguments().map(lambda given: split(given[0], limit, given[1], **given[2]))


@pytest.mark.parametrize("limit", LIMITS)
@given(data=st.data())
def test_chunks_ascend_with_blank_lines_alone_between_them_and_hold_the_records_that_were_counted(
    limit: int, data: st.DataObject
) -> None:
    made, at, line = data.draw(splits(limit)), 0, 1
    for number, chunk in enumerate(made.chunks, start=1):
        assert at <= chunk.byte_start < chunk.byte_end
        gap, body = made.text(at, chunk.byte_start), made.text(chunk.byte_start, chunk.byte_end)
        assert gap.strip(BLANK) == ""
        assert (chunk.chunk_no, chunk.first_line) == (number, line + made.count_lines(gap))
        assert chunk.last_line == chunk.first_line + made.count_lines(body) - made.count_lines(body[-1])
        assert chunk.sha256 == hashlib.sha256(made.raw[chunk.byte_start : chunk.byte_end]).digest()
        over_the_limit = chunk.byte_end - chunk.byte_start > made.limit
        assert chunk.row_count == (1 if over_the_limit else len(made.records(chunk)))
        at, line = chunk.byte_end, chunk.last_line + 1
    assert made.tail.strip(BLANK) == ""
    assert sum(chunk.row_count for chunk in made.chunks) == made.splitter.rows_seen


def spans(made: Split) -> list[tuple[int, int, int]]:
    """First line, last line and number of records of every chunk."""
    return [(chunk.first_line, chunk.last_line, chunk.row_count) for chunk in made.chunks]


WORDS = "words alone\n" * 20
PROSE = "words of prose\nand more of it\nas it goes on\nuntil a comma, here\n"


@pytest.mark.parametrize("limit", LIMITS)
def test_a_quote_that_stays_open_to_the_end_of_the_file_is_one_record(limit: int) -> None:
    for step in STEPS:
        made = split('1,a\n2,"open\n' + WORDS, limit, step, chunk_rows=1)
        assert (spans(made), made.tail, made.splitter.ids) == ([(1, 1, 1), (2, 22, 1)], "", [("1", 1)])


@pytest.mark.parametrize("line", ["\n", "\r\n", MARK + "\n", MARK + MARK + "\r\n"])
@pytest.mark.parametrize("blank", [1, 3, 200])
def test_blank_lines_before_a_record_over_the_limit_are_no_record(blank: int, line: str) -> None:
    """Parts of files that were put together may begin with a byte order mark and an empty line."""
    for step, view in product(STEPS, VIEWS):
        made = split("1,a\n" + line * blank + '2,"open\n' + WORDS, 60, step, view=view, chunk_rows=1)
        assert [chunk.row_count for chunk in made.chunks] == [1, 1]
        assert made.text(made.chunks[1].byte_start, made.chunks[1].byte_end).lstrip(BLANK).startswith('2,"open\n')
        assert (made.chunks[1].last_line, made.splitter.rows_seen) == (1 + blank + 21, 2)


@pytest.mark.parametrize("limit", [60, 200, NO_LIMIT])
def test_lines_of_a_closed_cell_over_the_limit_are_no_records(limit: int) -> None:
    for step in STEPS:
        made = split('1,a\n2,"' + PROSE * 10 + 'the end"\n3,c\n4,d\n', limit, step, chunk_rows=1)
        assert spans(made) == [(1, 1, 1), (2, 42, 1), (43, 43, 1), (44, 44, 1)]
        assert {("1", 1), ("3", 43), ("4", 44)} <= set(made.splitter.ids)
        assert made.splitter.rows_seen == 4


@pytest.mark.parametrize("limit", LIMITS)
def test_a_long_run_of_blank_lines_is_no_record(limit: int) -> None:
    for step, end in product(STEPS, ("\n", "\r\n")):
        made = split(f"1,a{end}" + end * 300 + f"2,b{end}" + end * 300, limit, step, chunk_rows=1)
        assert [(chunk.last_line, chunk.row_count) for chunk in made.chunks] == [(1, 1), (302, 1)]
        assert made.splitter.ids == [("1", 1), ("2", 302)]


FOUR = [(1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 4, 1)]


@pytest.mark.parametrize("view", ["utf-16-le", "utf-16-be"])
def test_a_block_may_end_in_the_middle_of_a_character(view: str) -> None:
    """Half of a code unit that went with a record over the limit would hide every line end after it."""
    made = split("1,a\n2," + "x" * 100 + "\n3,b\n4,c\n", 60, 1, view=view, chunk_rows=1)
    assert spans(made) == FOUR
    for block in (1, 3, 5, 7):
        splitter = Splitter(made.splitter.opening, 1, max_record_bytes=60, max_chunk_bytes=20)
        chunks = [chunk for part in blocks_between(made.raw, every(block, made.raw)) for chunk in splitter.feed(part)]
        assert [*chunks, *splitter.finish()] == made.chunks


@pytest.mark.parametrize("size", [30, 100])
def test_the_line_behind_a_line_over_the_limit_is_waited_for_and_may_be_over_it_too(size: int) -> None:
    for step in STEPS:
        made = split("1,a\n2," + "x" * 100 + "\n3," + "b" * size + "\n4,c\n", 60, step, chunk_rows=1)
        assert spans(made) == FOUR
