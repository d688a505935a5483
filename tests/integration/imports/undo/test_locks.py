"""What a part of an undo locks: its own documents, however large a share of the tables they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from core.contracts.taggings import TaggingRequest
from shell.db.session import session
from shell.db.sql_literals import format_match
from shell.exhibits.commands import add_taggings
from shell.exhibits.updates import lock_exhibits
from shell.imports.undo.store import delete_rows
from tests.integration.imports.import_requests import CALLER
from tests.support.application.driver import World

ROWS = 1_000
Statement = Callable[[Session, Sequence[int]], object]


@pytest.fixture
def ids(world: World) -> list[int]:
    """The ids of many exhibits of one import, and of one of another case."""
    rows = "".join(f"A-{n:05},hot;cold,Smith\r\n" for n in range(ROWS))
    world.run(f"Control Number,Tags,Custodian\r\n{rows}".encode())
    world.run(b"Control Number,Tags,Custodian\r\nZ-1,hot,Smith\r\n", case="Other")
    return [row[0] for row in world.query("SELECT id FROM exhibits ORDER BY id")]


def waits(ids: Sequence[int], statement: Statement, size: int) -> bool:
    """Whether a statement for the first documents waits for a user who is tagging the last one."""
    tagging = TaggingRequest.model_validate({"exhibitIds": [ids[-1]], "tags": ["new"]})
    with session() as user, session() as undoing:
        add_taggings(user, CALLER, tagging)
        undoing.execute(text("SET innodb_lock_wait_timeout = 1"))
        try:
            statement(undoing, ids[:size])
        except OperationalError:
            return True
        finally:
            undoing.rollback()
            user.rollback()
    return False


def test_removing_documents_does_not_wait_for_writers_of_others(ids: list[int]) -> None:
    tables = {"exhibit_changes": "exhibit_id", "custodian_exhibits": "exhibit_id", "taggings": "exhibit_id"}
    deletes = [partial(delete_rows, table=table, column=column) for table, column in tables.items()]
    statements: list[Statement] = [lock_exhibits, *(lambda s, i, each=each: each(s, ids=i) for each in deletes)]
    assert [waits(ids, each, size) for each in statements for size in (ROWS // 3, ROWS)] == [False] * 8


def test_a_delete_that_reads_the_whole_table_waits_for_them(ids: list[int]) -> None:
    """The negative control, as the server does it for a list of most of the table, by its statistics."""

    def naive(transaction: Session, some: Sequence[int]) -> object:
        rows = f"taggings AS gone USE INDEX () WHERE {format_match('exhibit_id', some)}"
        return transaction.execute(text(f"DELETE gone FROM {rows}"))

    assert waits(ids, naive, ROWS)
