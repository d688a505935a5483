"""A session variable is set only where the server does not have its value: a SET pins a connection of RDS Proxy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, event, text

from local.stack.options import DEFAULT_TEMPLATE
from shell.db import bulk_insert, group_concat
from shell.db.session import engine
from shell.db.session_variables import set_session_variable
from tests.support.database.counted_database import Database

VARIABLE = "group_concat_max_len"


@pytest.fixture
def statements(database: Database) -> Iterator[tuple[Connection, list[str]]]:
    """A connection of its own, and what it executes."""
    with engine().connect() as connection:
        connection.detach()
        executed: list[str] = []
        event.listen(connection, "before_cursor_execute", lambda *given: executed.append(given[2]))
        yield connection, executed


@pytest.mark.parametrize(("has", "sets"), [(1_000, True), (16_000_000, False), (32_000_000, True)])
def test_a_variable_is_set_if_it_has_another_value(
    statements: tuple[Connection, list[str]], has: int, sets: bool
) -> None:
    connection, executed = statements
    connection.execute(text(f"SET SESSION {VARIABLE} = {has}"))
    del executed[:]
    assert set_session_variable(connection, VARIABLE, 16_000_000) == 16_000_000
    assert [each for each in executed if each.startswith("SET")] == (
        [f"SET SESSION {VARIABLE} = 16000000"] if sets else []
    )
    del executed[:]
    set_session_variable(connection, VARIABLE, 16_000_000)
    assert executed == []


def test_the_deployed_server_has_what_the_code_asks_for() -> None:
    parameters = DEFAULT_TEMPLATE.read_text("utf-8").partition("  DatabaseParameters:")[2].partition("\n\n")[0]
    assert f'max_error_count: "{bulk_insert.MAX_WARNINGS}"' in parameters
    assert f'group_concat_max_len: "{group_concat.MAX_BYTES}"' in parameters
