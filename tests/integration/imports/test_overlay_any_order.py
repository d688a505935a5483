"""An overlay leaves the same data behind, in whatever order, however often and by however many workers it is done."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, text

from shell.settings import settings
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import deliver_all, start_blocked
from tests.support.application.driver import World, empty_queues
from tests.support.application.handler_processes import Workers
from tests.support.database.dump import Dump
from tests.support.database.empty_tables import empty_tables
from tests.support.database.server_status import wait_until
from tests.support.exhibits.history import find_gaps, read_history

HEADER = "Control Number,Bates Begin,Title,Date Sent,Custodian,Tags,Author,Pages"
CELLS: tuple[tuple[str, ...], ...] = (
    *(("", "one", "uno", "Uno", "  "), ("", "2001-01-31", "2001-02-30", "2002-02-28 10:00")),
    *(("", "Smith", "SMITH;Jones", "Jones", "Brown"), ("", "hot", "cold;Hot", "warm")),
    *(("", "Ann", "ann", "<nil>", "x" * 300), ("", "1", "2")),
)
ROWS_A_CHUNK = 7
MERGED: dict[str, Any] = {"mode": "overlay"}
REPLACED: dict[str, Any] = {"mode": "append_overlay", "blanks": "clear", "multi_values": "replace"}
_PLACE = """
    SELECT e.id FROM imports AS i JOIN exhibits AS e ON e.case_id = i.case_id WHERE i.id = :id AND e.control_number = :n
"""


def write_file(numbers: list[str], version: int) -> bytes:
    """A load file of these ids, with cells that id and version decide; some ids have the same cells in all versions."""
    rows = (f"{number},N-{number},{','.join(_choose_cells(number, version))}" for number in numbers)
    return "\r\n".join([HEADER, *rows, ""]).encode()


def _choose_cells(number: str, version: int) -> list[str]:
    choose = random.Random(f"{number} {0 if number.endswith('8') else version}").choice
    return [choose(values) for values in CELLS]


BASE = write_file([f"A-{number:03}" for number in range(40)], version=1)
# In another order, with ids that the case lacks, an id twice and a row without one.
NUMBERS = [f"A-{number:03}" for number in range(60)]
random.Random(2).shuffle(NUMBERS)
CHANGES = write_file([*NUMBERS, NUMBERS[3], ""], version=2)


def dump(world: World, import_id: int) -> Dump:
    """What is left, with the history."""
    assert find_gaps(world) == []
    dates = "SELECT control_number, version, date_sent, date_precision, document_date_source FROM exhibits ORDER BY 1"
    return {**world.dump(import_id), "history": read_history(world), "dates": list(map(tuple, world.query(dates)))}


@pytest.fixture(scope="module", params=[MERGED, REPLACED], ids=["merged", "replaced"])
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the overlay does with blank cells, names and unknown ids."""
    found: dict[str, Any] = request.param
    return found


@pytest.fixture(scope="module")
def in_order(migrated: dict[str, str], options: dict[str, Any]) -> Dump:
    """What one worker leaves behind, chunk after chunk."""
    made = World(migrated["BUCKET"], migrated)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHUNK_ROWS", str(ROWS_A_CHUNK))
        settings.cache_clear()
        empty_tables(made.engine)
        empty_queues()
        made.run(BASE)
        left = dump(made, made.run(CHANGES, **options))
    settings.cache_clear()
    return left


@pytest.fixture(autouse=True)
def _base(in_order: Dump, world: World, chunk_rows: Chunks) -> None:
    """The exhibits to be changed."""
    chunk_rows(ROWS_A_CHUNK)
    world.run(BASE)


def test_every_kind_of_row_is_in_the_file(in_order: Dump, options: dict[str, Any]) -> None:
    [(status, seen, imported, unchanged, updated, rejected, *_)] = in_order["imports"]
    assert (status, seen) == ("completed_with_rejections", 62)
    assert (imported, rejected) == ((0, 22) if options is MERGED else (20, 2))
    assert unchanged > 0
    assert updated > 20
    assert updated == len(in_order["history"])


def test_three_deliveries_in_random_order(world: World, in_order: Dump, options: dict[str, Any]) -> None:
    assert dump(world, world.run(CHANGES, shuffle=0, times=3, **options)) == in_order


def test_four_workers_at_once(world: World, in_order: Dump, options: dict[str, Any], workers: Workers) -> None:
    import_id = world.start(CHANGES, **options)
    deliver_all(workers, world.chunk_messages())
    assert dump(world, import_id) == in_order


def _block_an_exhibit(other: Connection, import_id: int) -> None:
    """The lock on an exhibit of the chunk: its transaction waits with some locks."""
    held = other.execute(text(_PLACE), {"id": import_id, "n": _first_known(chunk_no=5)}).scalar_one()
    other.execute(text("SELECT id FROM exhibits WHERE id = :id FOR UPDATE"), {"id": held})


def _block_the_import(other: Connection, import_id: int) -> None:
    """The lock on the row that a chunk counts down last: everything else is written by then."""
    other.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": import_id})


def _first_known(chunk_no: int) -> str:
    rows = NUMBERS[(chunk_no - 1) * ROWS_A_CHUNK : chunk_no * ROWS_A_CHUNK]
    return next(number for number in rows if number < "A-040")


@pytest.mark.parametrize("block", [_block_an_exhibit, _block_the_import], ids=["at its locks", "at its end"])
def test_a_worker_that_is_killed_in_its_transaction(
    world: World, in_order: Dump, options: dict[str, Any], other: Connection, block: Callable[[Connection, int], None]
) -> None:
    import_id = world.start(CHANGES, **options)
    messages = world.chunk_messages()
    victim = messages[4]
    block(other, import_id)
    worker = start_blocked(world, "import_chunk", victim)
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join(timeout=60)
    assert worker.exitcode == -signal.SIGKILL
    other.rollback()
    # Until the server has noticed that the connection is gone the chunk is busy, and its message comes again.
    for message in [*messages[5:], victim, *messages[:4]]:
        wait_until(lambda message=message: world.import_chunk(message), "the chunk's import")  # type: ignore[misc]
    assert dump(world, import_id) == in_order
