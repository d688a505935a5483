"""What is written as a literal is read as the value, whatever it is; the driver's own way of writing is the twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from core.statuses import ChunkStatus
from shell.db.session import session
from shell.db.sql_literals import format_in_list, format_row_literals

HOSTILE = (
    *(
        "'",
        "''",
        "\\",
        "\\'",
        "'\\",
        "\\\\'",
        "a\\",
        "%s",
        "%",
        "%(x)s",
        ":name",
        "?",
        "\x00",
        "\n",
        "\r",
        "\x1a",
        "\x1f",
    ),
    *("');DROP TABLE exhibits;--", "' OR ''='", "/*", "--", "#", ";", '"', "`", "\u02bc", "\uff07", "\xbf'", "\xbf\\'"),
    *("\U0001f600'", "ü\\'", "a\x1fb'", "\x1f\x1f"),
)
TEXT = st.sampled_from((*HOSTILE, *(200 * text for text in HOSTILE))) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=20
)
VALUES = st.none() | TEXT | st.integers(-(2**63), 2**63 - 1) | st.binary(max_size=40)
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def connection(database: object) -> Iterator[Connection]:
    """As the application has it."""
    with session() as opened:
        yield opened.connection()


def read_back(connection: Connection, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """What the server makes of each value."""
    statement = " UNION ALL ".join(f"SELECT {place}, {row}" for place, row in enumerate(format_row_literals(rows)))
    found = connection.exec_driver_sql(statement, execution_options={"no_parameters": True}).all()
    return [list(row[1:]) for row in sorted(found)]


def one_by_one(connection: Connection, values: Sequence[Any]) -> list[Any]:
    """What the server makes of values that the driver escapes."""
    return [connection.exec_driver_sql("SELECT %s", (value,)).scalar() for value in values]


@SETTINGS
@given(st.lists(st.lists(TEXT, min_size=2, max_size=2), min_size=1, max_size=8))
def test_rows_of_any_text_are_read_as_they_are(connection: Connection, rows: list[list[str]]) -> None:
    assert read_back(connection, rows) == rows


@SETTINGS
@given(st.lists(VALUES, min_size=1, max_size=6))
def test_a_value_is_read_as_when_the_driver_writes_it(connection: Connection, values: list[Any]) -> None:
    [row] = read_back(connection, [values])
    assert row == one_by_one(connection, values)


OF_A_KIND: tuple[list[Any], ...] = (
    *(["a", ""], [0, -5], [b"\x00'\\\xff", b"x"], [None, None], [True, False], [0.5, -1e30]),
    *([datetime(2001, 2, 3, tzinfo=timezone(timedelta(hours=2))), datetime(2001, 2, 3)],),
    *([datetime(2001, 2, 3), datetime(1000, 1, 1, 23, 59, 59, 999999)], [ChunkStatus.DONE, ChunkStatus.PENDING]),
)


@pytest.mark.parametrize("values", OF_A_KIND, ids=lambda values: type(values[0]).__name__)
def test_a_column_of_any_kind_with_and_without_nulls(connection: Connection, values: list[Any]) -> None:
    for column in (values, [*values, None]):
        found = [row[0] for row in read_back(connection, [[value] for value in column])]
        assert [None if each is None else str(each) for each in found] == [
            None if each is None else str(each) for each in one_by_one(connection, column)
        ]


@pytest.mark.parametrize("text", ["\ud800", "a\udc80'"])
def test_what_no_encoding_has_is_not_sent(text: str) -> None:
    with pytest.raises(UnicodeEncodeError):
        format_row_literals([["ok"], [text]])


def test_a_list_is_that_of_its_values(connection: Connection) -> None:
    for text in HOSTILE:
        statement = f"SELECT {format_row_literals([[text]])[0]} IN ({format_in_list(HOSTILE)})"
        assert connection.exec_driver_sql(statement, execution_options={"no_parameters": True}).scalar() == 1


def test_a_statement_without_the_escape_of_the_backslash_is_read_as_something_else(connection: Connection) -> None:
    naive = "'" + "a\\".replace("'", "''") + "x'"
    assert connection.exec_driver_sql(f"SELECT {naive}").scalar() != "a\\x"
