"""A value that the server refuses although it was thought to fit costs its row alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.imports.conftest import Chunks
from tests.support.application.driver import World
from tests.support.imports.row_outcomes import accounts

TOO_LONG = 1406
LONG = "a title that is longer than the column became unknown to the application"
HEADER = "Control Number,Title,Custodian\r\n"


@pytest.fixture
def narrow(world: World) -> Iterator[None]:
    """A column that was narrowed after its limits were read."""
    world.run((HEADER + "Z-1,one,Smith\r\n").encode(), case="Before")
    world.query("DELETE FROM custodian_exhibits")
    world.query("ALTER TABLE exhibits MODIFY title VARCHAR(40)")
    yield
    world.query("ALTER TABLE exhibits MODIFY title VARCHAR(1024)")


@pytest.mark.usefixtures("narrow")
def test_the_refused_rows_alone_come_back(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(20)
    places = [0, 3, 11, 19]
    titles = [LONG if number in places else "short" for number in range(20)]
    rows = [f"A-{number},{title},Only {number}\r\n" for number, title in enumerate(titles)]
    import_id = world.run((HEADER + "".join(rows)).encode())
    got = accounts(world, import_id)
    assert {each.line: each.code for each in got.rejected} == {place + 2: "VALUE_REFUSED" for place in places}
    assert all(str(TOO_LONG) in each.message and LONG not in each.message for each in got.rejected)
    assert set(got.exhibits) == set(range(2, 22)) - {place + 2 for place in places}
    assert got.counts["imported"] + got.counts["rejected"] == got.counts["rows_seen"] == 20
    names = {row[0] for row in world.query("SELECT name FROM custodians WHERE import_id = :id", id=import_id)}
    assert names == {f"Only {number}" for number in range(20) if number not in places}
    assert got.counts["custodians_created"] == len(names)
