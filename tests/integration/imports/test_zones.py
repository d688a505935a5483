"""Each chunk stores where the exhibits are that it created, and nothing of those that the case had."""

from __future__ import annotations

from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import World

_STORED = (
    "SELECT first_number, last_number, first_exhibit, last_exhibit FROM import_chunks "
    "WHERE import_id = :i ORDER BY chunk_no"
)
_CREATED = (
    "SELECT MIN(e.control_number), MAX(e.control_number), MIN(e.id), MAX(e.id) FROM import_chunks AS k "
    "LEFT JOIN exhibits AS e ON e.import_id = k.import_id AND e.line_no BETWEEN k.first_line AND k.last_line "
    "WHERE k.import_id = :i GROUP BY k.chunk_no ORDER BY k.chunk_no"
)


def file_of(*numbers: str) -> bytes:
    """A CSV file of rows."""
    return ("Control Number,Title\r\n" + "".join(f"{number},one\r\n" for number in numbers)).encode()


def run(world: World, file: bytes) -> int:
    import_id = world.start(file)
    for message in world.chunk_messages():
        assert world.import_chunk(message)
    return import_id


def test_a_chunk_stores_the_zone_of_what_it_created(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(2)
    first = run(world, file_of("B-2", "A-9", "C-1", "B-1"))
    zones = world.query(_STORED, i=first)
    assert zones == world.query(_CREATED, i=first)
    assert [tuple(row)[:2] for row in zones] == [("A-9", "B-2"), ("B-1", "C-1")]


def test_a_chunk_that_creates_nothing_has_no_zone(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(2)
    run(world, file_of("A-1", "A-2"))
    again = run(world, file_of("A-1", "A-2", "A-3"))
    assert tuple(world.query(_STORED, i=again)[0]) == (None,) * 4
    assert world.query(_STORED, i=again)[1] == world.query(_CREATED, i=again)[1]
