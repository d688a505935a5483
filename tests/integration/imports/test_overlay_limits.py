"""What an overlay costs: statements a chunk, memory for large exhibits, and the rows that the server refuses."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator

import pytest

from shell.imports.chunks.write_or_check import finish_chunk
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import prepare_chunk
from tests.integration.imports.test_import_limits import statements_of
from tests.support.application.driver import World, complete_imports
from tests.support.exhibits.history import find_gaps, read_history

HEADER = "Control Number,Title,Custodian,Tags,Date Sent,Author\r\n"
MOST_STATEMENTS = 38
LARGE = 1_000
MOST_BYTES = 30_000_000
# A quotation mark takes two bytes where it is stored, and eight in a statement.
_LARGE = """
    INSERT INTO exhibits (case_id, control_number, import_id, line_no, document_properties)
    WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
    SELECT cases.id, CONCAT('L-', n), 0, n, CONCAT('{"Body": "', REPEAT('\\\\"', 32500), '"}') FROM cases, numbers
"""
TOO_LONG, LONG = 1406, "a title that is longer than the column became unknown to the application"


def write_rows(count: int, version: str) -> bytes:
    """A file whose values depend on the version; one row in three is the same in all of them."""
    versions = ["same" if number % 3 == 0 else version for number in range(count)]
    rows = (f"A-{n},{v} {n},Ann {v[0]},{v[0]},2001-01-31,{v}\r\n" for n, v in enumerate(versions))
    return (HEADER + "".join(rows)).encode()


def counted(world: World, data: bytes, **options: str) -> int:
    """The statements of the only chunk of an overlay."""
    import_id = world.start(data, mode="overlay", **options)
    [message] = world.chunk_messages()
    found = statements_of(world, message)
    complete_imports()
    assert world.query("SELECT rejected FROM imports WHERE id = :id", id=import_id) == [(0,)]
    return found


def count_twice(world: World, count: int) -> tuple[int, int]:
    """The statements of the overlay of so many exhibits of a new case, and of the same again."""
    world.run(write_rows(count, "one"), case=f"{count} rows")
    options = {"case": f"{count} rows", "multi_values": "replace", "blanks": "clear"}
    data = write_rows(count, "two")
    return counted(world, data, **options), counted(world, data, **options)


def test_statements_do_not_grow_with_the_rows(world: World) -> None:
    # What a process queries once in its life is queried.
    world.run(write_rows(3, "one"), case="Warm")
    world.run(write_rows(3, "two"), case="Warm", mode="overlay")
    found = {count: count_twice(world, count) for count in (30, 450)}
    print(f"statements of a chunk that changes rows, and again: {found}")
    assert found[30] == found[450]
    assert found[30][1] <= found[30][0] <= MOST_STATEMENTS


@pytest.fixture
def large(world: World) -> Iterator[None]:
    """A thousand exhibits of 64 KB each."""
    world.run(b"Control Number\r\nA-1\r\n")
    world.query(_LARGE, count=LARGE)
    yield
    world.query("DELETE FROM exhibit_changes")
    world.query("DELETE FROM exhibits")


def overlay_large(world: World, column: str, cell: str, **options: str) -> int:
    """Overlay all of the large exhibits in one chunk; returns the peak of memory."""
    rows = "".join(f"L-{number},{cell}\r\n" for number in range(1, LARGE + 1))
    import_id = world.start(f"Control Number,{column}\r\n{rows}".encode(), mode="overlay", **options)
    prepared = prepare_chunk(import_id, 1)
    tracemalloc.start()
    try:
        assert finish_chunk(prepared) == "done"
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        complete_imports()
        assert world.query("SELECT updated FROM imports WHERE id = :id", id=import_id) == [(LARGE,)]


@pytest.mark.slow
@pytest.mark.usefixtures("large")
def test_rows_of_twenty_bytes_change_exhibits_of_64_kilobytes_in_bounded_memory(world: World) -> None:
    adding = overlay_large(world, "Small", "x")
    [(stored,)] = world.query("SELECT document_properties FROM exhibits WHERE control_number = 'L-7'")
    assert json.loads(stored) == {"Body": '"' * 32_500, "Small": "x"}
    clearing = overlay_large(world, "Body", "", blanks="clear")
    print(f"bytes at the peak: {adding} adding a property, {clearing} clearing one")
    assert max(adding, clearing) < MOST_BYTES
    assert world.query("SELECT DISTINCT document_properties FROM exhibits WHERE line_no > 2") == [('{"Small": "x"}',)]
    assert find_gaps(world) == []


@pytest.mark.slow
@pytest.mark.usefixtures("large")
def test_without_slices_memory_grows_with_the_exhibits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control."""
    monkeypatch.setattr("shell.exhibits.updates.SLICE_BYTES", 10**9)
    monkeypatch.setattr("shell.exhibits.updates.SLICE_ROWS", 10**9)
    assert overlay_large(world, "Body", "", blanks="clear") > MOST_BYTES


@pytest.fixture
def narrow(world: World) -> Iterator[None]:
    """A column that was narrowed after its limits were read."""
    world.run(b"Control Number\r\nZ-1\r\n", case="Before")
    world.query("ALTER TABLE exhibits MODIFY title VARCHAR(40)")
    yield
    world.query("ALTER TABLE exhibits MODIFY title VARCHAR(1024)")


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("mode", ["overlay", "append_overlay"])
def test_a_refused_value_costs_its_row_alone(world: World, chunk_rows: Chunks, mode: str) -> None:
    chunk_rows(30)
    world.run(b"Control Number,Title,Tags\r\n" + b"".join(b"A-%d,old,hot\r\n" % n for n in range(20)))
    places = {0, 3, 11, 19, 21}
    rows = [f"A-{n},{LONG if n in places else 'short'},Only {n}\r\n" for n in range(20 if mode == "overlay" else 22)]
    import_id = world.run(("Control Number,Title,Tags\r\n" + "".join(rows)).encode(), mode=mode)
    refused = sorted(place for place in places if place < len(rows))
    found = world.query("SELECT line_no, code, message FROM import_rejections ORDER BY line_no")
    assert [row[:2] for row in found] == [(place + 2, "VALUE_REFUSED") for place in refused]
    assert all(str(TOO_LONG) in row[2] and LONG not in row[2] for row in found)
    counts = world.query("SELECT imported, updated, unchanged, rejected FROM imports WHERE id = :id", id=import_id)
    assert counts == [(len(rows) - 20 - (len(refused) == 5), 16, 0, len(refused))]
    # A refused row links no tag, and the tag that was added for it goes.
    names = {row[0] for row in world.query("SELECT name FROM tags")}
    assert names == {"hot", *(f"Only {n}" for n in range(len(rows)) if n not in places)}
    titles = "SELECT control_number FROM exhibits WHERE title = 'old' ORDER BY line_no"
    assert [row[0] for row in world.query(titles)] == [f"A-{n}" for n in (0, 3, 11, 19)]
    assert (len(read_history(world)), find_gaps(world)) == (16, [])
