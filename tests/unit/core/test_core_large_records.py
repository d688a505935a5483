"""A record that is too large costs itself: it is passed over in little memory, and the next one is read."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Iterator

import pytest

from core.load_file.dialect import read_opening
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.options import ImportOptions
from core.load_file.splitter import Chunk, Splitter

HEADER = b"Control Number,Title,Note\n"
BLOCK = 1_000_000
# What is held of a record, as bytes, as text and as lines, before it is given up.
MEMORY = 12 * MAX_RECORD_BYTES


def split(blocks: Iterator[bytes]) -> tuple[list[Chunk], Splitter, int]:
    """The chunks of a file that never is in memory as a whole, and the most memory that splitting took."""
    splitter = Splitter(read_opening(HEADER, ImportOptions(), whole=True), 1000)
    tracemalloc.start()
    chunks = [*splitter.feed(HEADER)]
    for block in blocks:
        chunks += splitter.feed(block)
    chunks += splitter.finish()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return chunks, splitter, peak


def test_a_line_over_16_mb_is_passed_over_and_its_neighbours_are_read() -> None:
    before, middle, behind = b"1,a,b\n2,c,", b"x" * BLOCK, b"\n3,d,e\n"
    chunks, splitter, peak = split(iter([before, *[middle] * 40, behind]))
    assert [(chunk.row_count, chunk.first_line, chunk.last_line) for chunk in chunks] == [
        (1, 2, 2),
        (1, 3, 3),
        (1, 4, 4),
    ]
    large = chunks[1]
    assert large.byte_start == len(HEADER) + 6
    assert large.byte_end - large.byte_start == 4 + 40 * BLOCK + 1
    assert large.sha256 == hashlib.sha256(b"2,c," + middle * 40 + b"\n").digest()
    assert splitter.sha256 == hashlib.sha256(HEADER + before + middle * 40 + behind).digest()
    assert splitter.ids == [("1", 2), ("3", 4)]
    assert peak < MEMORY


def test_a_long_line_behind_one_over_16_mb_is_a_record_of_its_own() -> None:
    """The end of the large one is the end of a block, and the next block ends no line."""
    middle, long = b"x" * BLOCK, b"y" * BLOCK
    chunks, splitter, _ = split(iter([b"1,a,b\n2,c,", *[middle] * 17, b"\n", b"3,d," + long, long + b"\n4,e,f\n"]))
    assert [(chunk.first_line, chunk.last_line, chunk.row_count) for chunk in chunks] == [
        (2, 2, 1),
        (3, 3, 1),
        (4, 5, 2),
    ]
    assert splitter.ids == [("1", 2), ("3", 4), ("4", 5)]


def test_two_lines_over_16_mb_one_behind_the_other_are_two_records() -> None:
    middle = [b"x" * BLOCK] * 17
    chunks, splitter, _ = split(iter([b"1,a,b\n2,c,", *middle, b"\n", b"3,d,", *middle, b"\n", b"4,e,f\n"]))
    assert [(chunk.first_line, chunk.last_line, chunk.row_count) for chunk in chunks] == [
        (2, 2, 1),
        (3, 3, 1),
        (4, 4, 1),
        (5, 5, 1),
    ]
    assert splitter.ids == [("1", 2), ("4", 5)]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_over_16_mb_of_blank_lines_are_passed_over_in_the_memory_of_a_block(line_end: bytes) -> None:
    """As lines they take sixty times their bytes, which no function has."""
    part, parts = line_end * (BLOCK // 4 // len(line_end)), 80
    chunks, splitter, peak = split(iter([b"1,a,b\n", *[part] * parts, b"2,c,d\n"]))
    assert splitter.ids == [("1", 2), ("2", 3 + parts * part.count(b"\n"))]
    assert [chunk.row_count for chunk in chunks] == [1, 1]
    assert peak < 16 * BLOCK


WORDS = b"a line that is nothing but words" * 1000 + b"\n"
PROSE = WORDS * (BLOCK // len(WORDS))


def test_a_cell_of_over_16_mb_costs_one_record_and_none_of_its_lines_becomes_one() -> None:
    chunks, splitter, peak = split(iter([b'1,a,b\n2,c,"open\n', *[PROSE] * 24, b'closed"\n3,d,e\n', b"4,f,g\n"]))
    assert [chunk.row_count for chunk in chunks] == [1, 1, 2]
    record = b'2,c,"open\n' + PROSE * 24 + b'closed"\n'
    assert chunks[1].byte_end - chunks[1].byte_start == len(record)
    assert chunks[1].sha256 == hashlib.sha256(record).digest()
    assert splitter.ids == [("1", 2), *[(str(n), chunks[2].first_line + n - 3) for n in (3, 4)]]
    assert chunks[2].first_line == 5 + 24 * (BLOCK // len(WORDS))
    assert peak < MEMORY


def test_a_quote_in_front_of_over_16_mb_of_prose_that_nothing_closes_takes_the_rest_of_the_file() -> None:
    """What stands behind it cannot be told from the cell; it is all rejected, and none of it is imported as rows."""
    chunks, splitter, _ = split(iter([b'1,a,b\n2,c,"open\n', *[PROSE] * 24, b"3,d,e\n"]))
    assert [chunk.row_count for chunk in chunks] == [1, 1]
    assert chunks[1].byte_end - chunks[1].byte_start == len(b'2,c,"open\n' + PROSE * 24 + b"3,d,e\n")
    assert splitter.ids == [("1", 2)]
