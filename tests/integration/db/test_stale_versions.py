"""A writer whose row was changed since it read it reads again in a new transaction, a few times and soon."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError

from core.errors import TransactionConflictError
from shell.db.session import engine, session
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database.counted_database import Database

ID = 1


@pytest.fixture
def exhibit(database: Database) -> Database:
    """One exhibit of the title Memo, at version 1."""
    columns = "id, case_id, control_number, title, import_id, line_no"
    database.query(f"INSERT INTO exhibits ({columns}) VALUES (:id, 1, 'A-1', 'Memo', 1, 2)", id=ID)
    return database


class Others:
    """A second connection that changes the exhibit so many times, each time after it was read."""

    def __init__(self, database: Database, times: int) -> None:
        self._database, self._left = database, times

    def change(self) -> None:
        """Add to the title and raise the version, committed."""
        if self._left:
            self._left -= 1
            changed = "title = CONCAT(title, ' theirs'), version = version + 1"
            self._database.query(f"UPDATE exhibits SET {changed} WHERE id = :id", id=ID)


def stored(database: Database) -> tuple[str, int]:
    row = database.query("SELECT title, version FROM exhibits")[0]
    return row.title, row.version


def add_ours(read: Callable[[], object], transactions: list[Session]) -> None:
    """The unit: what it writes depends on what it read."""
    with session() as transaction:
        transactions.append(transaction)
        exhibit = transaction.get_one(Exhibits, ID)
        transaction.execute(text("INSERT INTO toy_payments (reference) VALUES (1)"))
        read()
        exhibit.title = f"{exhibit.title} ours"


@pytest.mark.parametrize("times", [1, 2])
def test_a_writer_reads_again_and_keeps_what_others_wrote(exhibit: Database, times: int) -> None:
    transactions: list[Session] = []
    retry_on_db_conflict(add_ours)(Others(exhibit, times).change, transactions)
    assert stored(exhibit) == (f"Memo{' theirs' * times} ours", times + 2)
    assert len({id(each) for each in transactions}) == times + 1, "each attempt has a transaction of its own"
    assert exhibit.scalar("SELECT COUNT(*) FROM toy_payments") == 1, "what a stale attempt wrote besides is undone"


def test_one_who_always_comes_too_late_leaves_nothing(exhibit: Database) -> None:
    transactions: list[Session] = []
    with pytest.raises(TransactionConflictError) as given_up:
        retry_on_db_conflict(add_ours)(Others(exhibit, 9).change, transactions)
    assert isinstance(given_up.value.__cause__, StaleDataError)
    assert len(transactions) == 3
    assert stored(exhibit) == ("Memo theirs theirs theirs", 4)


def test_a_flush_of_the_same_value_again_loses_what_others_wrote(exhibit: Database) -> None:
    others = Others(exhibit, 1)
    with Session(engine()) as naive:
        row = naive.get_one(Exhibits, ID)
        title = f"{row.title} ours"
        others.change()
        for _attempt in range(3):
            row.title = title
            try:
                naive.commit()
                break
            except StaleDataError:
                naive.rollback()
    assert stored(exhibit) == ("Memo ours", 3), "theirs is gone, and the version says that all is well"
