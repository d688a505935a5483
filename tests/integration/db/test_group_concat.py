"""Rows that come packed in one value are all there, or it is an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import ProgrammingError

from core.errors import DatabaseUnavailableError
from shell.db import group_concat as module
from shell.db.group_concat import select_json_rows, select_packed_rows
from shell.db.session import engine, session
from shell.db.sql_literals import format_in_list, format_row_literals
from tests.integration.db.test_sql_literals import SETTINGS, TEXT

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
@SETTINGS
@given(st.lists(st.tuples(TEXT, st.none() | TEXT, st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=9))
def test_values_in_json_come_as_they_are(rows: list[tuple[str, str | None, int]]) -> None:
    numbered = [(number, *row) for number, row in enumerate(rows)]
    _, *others = format_row_literals(numbered)
    named = ",".join(f"{part} AS {name}" for part, name in zip(format_parts(numbered[0]), "nabc", strict=True))
    union = " UNION ALL SELECT ".join((named, *others))
    with session() as reading:
        found = select_json_rows(reading, "n, a, b, c", f"FROM (SELECT {union}) AS each_row")
    assert sorted(map(tuple, found)) == numbered


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("most", [*range(4, 30), 41])
def test_json_that_the_server_cuts_is_an_error_wherever_it_is_cut(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", most)
    engine().dispose()
    with session() as reading:
        if most < len('[1, "x"],[22, "yy"],[333, ""]'):
            with pytest.raises(DatabaseUnavailableError, match="rows"):
                select_json_rows(reading, "a, b", ROWS)
        else:
            assert len(select_json_rows(reading, "a, b", ROWS)) == len(WHOLE)
    engine().dispose()


def format_parts(row: Sequence[Any]) -> list[str]:
    """Each value as a literal."""
    return [format_in_list([value]) for value in row]


@pytest.mark.usefixtures("database")
def test_an_error_does_not_show_the_values() -> None:
    with pytest.raises(ProgrammingError) as refused, session() as reading:
        list(select_packed_rows(reading, "a", "FROM nowhere WHERE a IN ('SECRET')"))
    assert "SECRET" not in str(refused.value)
