"""Rows that come packed in one value are all there, or it is an error."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import ProgrammingError

from core.errors import DatabaseUnavailableError
from shell.db import group_concat as module
from shell.db.group_concat import select_packed_rows
from shell.db.session import engine, session

ROWS = "FROM (SELECT 1 AS a, 'x' AS b UNION ALL SELECT 22, 'yy' UNION ALL SELECT 333, '') AS each_row"
WHOLE = [["1", "x"], ["22", "yy"], ["333", ""]]


@pytest.mark.usefixtures("database")
def test_rows_come_as_they_are() -> None:
    with session() as reading:
        assert sorted(select_packed_rows(reading, "a, b", ROWS)) == WHOLE
        assert list(select_packed_rows(reading, "a, b", f"{ROWS} WHERE a > 999")) == []


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("most", range(4, 20))
def test_a_value_that_the_server_cuts_is_an_error_wherever_it_is_cut(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", most)
    engine().dispose()
    whole = len("1:x;22:yy;333:;")
    with session() as reading:
        if most < whole:
            with pytest.raises(DatabaseUnavailableError, match="rows"):
                list(select_packed_rows(reading, "a, b", ROWS))
        else:
            assert sorted(select_packed_rows(reading, "a, b", ROWS)) == WHOLE
    engine().dispose()


@pytest.mark.usefixtures("database")
def test_an_error_does_not_show_the_values() -> None:
    with pytest.raises(ProgrammingError) as refused, session() as reading:
        list(select_packed_rows(reading, "a", "FROM nowhere WHERE a IN ('SECRET')"))
    assert "SECRET" not in str(refused.value)
