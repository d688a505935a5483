"""Cells that once held a worker for minutes are imported in about the time of a plain file; `-s` prints both."""

from __future__ import annotations

import time

import pytest

from tests.support.application.driver import World

ROWS, SPACES = 200, 16_000
# Of a slow machine; a single cell of the version before took 17 s.
MOST_S = 60


def build(cell: str) -> bytes:
    rows = "".join(f'A-{number},"{cell}",title\r\n' for number in range(ROWS))
    return f"Control Number,Date Sent,Title\r\n{rows}".encode()


def measure(world: World, data: bytes) -> float:
    began = time.perf_counter()
    import_id = world.run(data, case=f"Case of {len(data)} bytes")
    [row] = world.query("SELECT imported, rejected FROM imports WHERE id = :i", i=import_id)
    assert tuple(row) == (ROWS, 0)
    return time.perf_counter() - began


@pytest.mark.parametrize(
    "cell",
    ["1/1/2020 10:00" + " " * SPACES + "x", "10:00" + " " * SPACES + "x", "Monday," + " " * SPACES + "1 May 2020x"],
    ids=["date", "time", "weekday"],
)
def test_a_file_of_hostile_date_cells_is_imported_at_once(world: World, cell: str) -> None:
    plain, hostile = measure(world, build("1/1/2020 10:00")), measure(world, build(cell))
    print(f"{ROWS} rows: plain {plain:.2f} s, with {SPACES} spaces in each date {hostile:.2f} s")
    assert hostile < MOST_S
    warned = world.query("SELECT COUNT(*) FROM import_warnings WHERE code = 'INVALID_DATE'")[0][0]
    assert warned == ROWS
