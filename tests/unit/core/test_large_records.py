"""A record that is too large costs itself: it is passed over in little memory, and the next one is read."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Iterator

import pytest

from core.load_file.dialect import read_opening
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.options import ImportOptions
from core.load_file.split_state import Chunk
from core.load_file.splitter import Splitter

HEADER = b"Control Number,Title,Note\n"
# In all tests but one the limit is a sixteenth of what it is elsewhere.
LIMIT, BLOCK = MAX_RECORD_BYTES // 16, 62_500


def split(blocks: Iterator[bytes], limit: int = LIMIT) -> tuple[list[Chunk], Splitter, int]:
    """The chunks of a file that never is in memory as a whole, and the most memory that splitting took."""
    splitter = Splitter(read_opening(HEADER, ImportOptions(), whole=True), 1000, limit, limit // 4)
    tracemalloc.start()
    chunks = [*splitter.feed(HEADER)]
    for block in blocks:
        chunks += splitter.feed(block)
    chunks += splitter.finish()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return chunks, splitter, peak


@pytest.mark.parametrize("limit", [LIMIT, MAX_RECORD_BYTES])
def test_a_line_over_the_limit_is_passed_over_and_its_neighbours_are_read(limit: int) -> None:
    before, middle, after = b"1,a,b\n2,c,", b"x" * (limit // 16), b"\n3,d,e\n"
    chunks, splitter, peak = split(iter([before, *[middle] * 40, after]), limit)
    spans = [(chunk.first_line, chunk.last_line, chunk.row_count) for chunk in chunks]
    assert spans == [(2, 2, 1), (3, 3, 1), (4, 4, 1)]
    large = chunks[1]
    assert large.byte_start == len(HEADER) + 6
    assert large.byte_end - large.byte_start == 4 + 40 * len(middle) + 1
    assert large.sha256 == hashlib.sha256(b"2,c," + middle * 40 + b"\n").digest()
    assert splitter.sha256 == hashlib.sha256(HEADER + before + middle * 40 + after).digest()
    assert splitter.ids == [("1", 2), ("3", 4)]
    # What is held of a record, as bytes, as text and as lines, before it is given up.
    assert peak < 12 * limit


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_blank_lines_over_the_limit_are_passed_over_in_little_memory(line_end: bytes) -> None:
    """As lines they take sixty times their bytes, which no function has."""
    part, parts = line_end * (4 * BLOCK // len(line_end)), 12
    chunks, splitter, peak = split(iter([b"1,a,b\n", *[part] * parts, b"2,c,d\n"]))
    assert splitter.ids == [("1", 2), ("2", 3 + parts * part.count(b"\n"))]
    assert [chunk.row_count for chunk in chunks] == [1, 1]
    assert peak < 8 * LIMIT


WORDS = b"a line that is nothing but words" * 60 + b"\n"
PROSE = WORDS * (BLOCK // len(WORDS))


def test_a_cell_over_the_limit_costs_one_record_and_none_of_its_lines_becomes_one() -> None:
    chunks, splitter, peak = split(iter([b'1,a,b\n2,c,"open\n', *[PROSE] * 24, b'closed"\n3,d,e\n', b"4,f,g\n"]))
    assert [chunk.row_count for chunk in chunks] == [1, 1, 2]
    record = b'2,c,"open\n' + PROSE * 24 + b'closed"\n'
    assert chunks[1].byte_end - chunks[1].byte_start == len(record)
    assert chunks[1].sha256 == hashlib.sha256(record).digest()
    assert splitter.ids == [("1", 2), *[(str(n), chunks[2].first_line + n - 3) for n in (3, 4)]]
    assert chunks[2].first_line == 5 + 24 * (BLOCK // len(WORDS))
    assert peak < 12 * LIMIT
