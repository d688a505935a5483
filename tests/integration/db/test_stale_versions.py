"""A writer whose row was changed since it read it reads again in a new transaction, a few times and soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError
from tenacity import RetryCallState

from core.errors import TransactionConflictError
from shell.db.retry import build_retrying
from shell.db.session import engine, session
from shell.settings import settings
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database import Database

ID = 1


@pytest.fixture
def exhibit(database: Database) -> Database:
    """One exhibit of the title Memo, at version 1."""
    columns = "id, case_id, control_number, title, import_id, line_no"
    database.query(f"INSERT INTO exhibits ({columns}) VALUES (:id, 1, 'A-1', 'Memo', 1, 2)", id=ID)
    return database


class Others:
    """Somebody on a second connection who changes the exhibit so many times, each time he is told that it was read."""

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
        read()
        exhibit.title = f"{exhibit.title} ours"


@pytest.mark.parametrize("times", [1, 2])
def test_a_writer_reads_again_and_keeps_what_others_wrote(exhibit: Database, times: int) -> None:
    transactions: list[Session] = []
    retry_on_db_conflict(add_ours)(Others(exhibit, times).change, transactions)
    assert stored(exhibit) == (f"Memo{' theirs' * times} ours", times + 2)
    assert len({id(each) for each in transactions}) == times + 1, "each attempt has a transaction of its own"


def test_after_three_attempts_it_is_a_conflict(exhibit: Database) -> None:
    transactions: list[Session] = []
    message = r"add_ours failed in 3 attempts; each time another transaction had changed the row"
    with pytest.raises(TransactionConflictError, match=message) as given_up:
        retry_on_db_conflict(add_ours)(Others(exhibit, 9).change, transactions)
    assert isinstance(given_up.value.__cause__, StaleDataError)
    assert len(transactions) == 3
    assert stored(exhibit) == ("Memo theirs theirs theirs", 4)


def test_fewer_attempts_of_the_settings_hold_for_it_too(exhibit: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_DEADLOCK_RETRY_ATTEMPTS", "2")
    settings.cache_clear()
    transactions: list[Session] = []
    with pytest.raises(TransactionConflictError, match="2 attempts"):
        retry_on_db_conflict(add_ours)(Others(exhibit, 9).change, transactions)
    assert len(transactions) == 2


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


def test_what_else_the_unit_wrote_is_not_left_by_a_stale_attempt(exhibit: Database) -> None:
    others = Others(exhibit, 1)

    @retry_on_db_conflict
    def unit() -> None:
        with session() as transaction:
            row = transaction.get_one(Exhibits, ID)
            transaction.execute(text("INSERT INTO toy_payments (reference) VALUES (1)"))
            others.change()
            row.title = "ours"

    unit()
    assert exhibit.scalar("SELECT COUNT(*) FROM toy_payments") == 1


@pytest.mark.parametrize("model", [Custodians, Tags])
def test_names_have_versions_too(database: Database, model: Any) -> None:
    table = model.__tablename__
    database.query(f"INSERT INTO {table} (id, case_id, name) VALUES (1, 1, 'Ann')")
    with Session(engine()) as opened:
        row = opened.get_one(model, 1)
        database.query(f"UPDATE {table} SET name = 'ANN', version = version + 1")
        row.name = "ann"
        with pytest.raises(StaleDataError):
            opened.commit()
    assert tuple(database.query(f"SELECT name, version FROM {table}")[0]) == ("ANN", 2)


def pauses() -> list[float]:
    """The seconds between the attempts of a unit whose row is always changed."""
    slept: list[float] = []

    def unit() -> None:
        raise StaleDataError()

    replaying = build_retrying(5, 100.0, lambda _last, _tried: TransactionConflictError())
    with pytest.raises(TransactionConflictError):
        replaying.copy(sleep=slept.append)(unit)
    return slept


def test_pauses_start_at_a_tenth_of_a_second_and_double_with_jitter() -> None:
    runs = [pauses() for _ in range(300)]
    assert {len(run) for run in runs} == {2}
    for number, most in enumerate((0.1, 0.2)):
        slept = sorted(run[number] for run in runs)
        assert 0 <= slept[0] < most / 8
        assert most * 7 / 8 < slept[-1] <= most


def test_no_pause_is_longer_than_a_second() -> None:
    replaying = build_retrying(5, 100.0, lambda _last, _tried: TransactionConflictError())
    state = RetryCallState(replaying, None, (), {})
    state.attempt_number = 10
    stale = StaleDataError()
    state.set_exception((type(stale), stale, None))
    assert replaying.wait is not None
    slept = [replaying.wait(state) for _ in range(300)]
    assert 7 / 8 < max(slept) <= 1
