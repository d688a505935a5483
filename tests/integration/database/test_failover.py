"""A server that can only be read any more: the connection is given up, so that the next one may find the writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import URL, Engine, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from core.errors import CommitOutcomeUnknownError
from local.database import temporary_server
from shell.utils import db_session
from shell.utils.db_errors import error_number
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support import servers
from tests.support.database import Database, connection_id, pay

Switch = Callable[[bool], None]


def writes(engine: Engine, times: int) -> list[tuple[int, int | None]]:
    """The connection and the error's number of so many tries to write."""
    return [one_write(engine) for _ in range(times)]


def one_write(engine: Engine) -> tuple[int, int | None]:
    with Session(engine) as caller:
        used = connection_id(caller)
        try:
            pay(caller, 1, 1)
            caller.commit()
        except OperationalError as error:
            return used, error_number(error)
        return used, None


def test_a_session_that_may_only_read_is_not_used_again(database: Database) -> None:
    database.accounts(0)
    with database.environments(1) as (ours,):
        make_read_only(ours)
        first, second = writes(ours, 2)
    assert [first[1], second[1]] == [1792, None]
    assert first[0] != second[0]


def test_a_plain_pool_hands_it_out_again_and_again(database: Database) -> None:
    database.accounts(0)
    plain = create_engine(database.url, pool_size=1, pool_pre_ping=True)
    make_read_only(plain)
    tried = writes(plain, 3)
    plain.dispose()
    assert [number for _, number in tried] == [1792] * 3
    assert len({used for used, _ in tried}) == 1


def make_read_only(engine: Engine) -> None:
    """The pool's one connection, as after a failover."""
    with engine.connect() as connection:
        connection.execute(text("SET SESSION TRANSACTION READ ONLY"))


@pytest.fixture(scope="module")
def demoted_server() -> Iterator[tuple[URL, Engine]]:
    """A server of its own that can be made read-only, seen by somebody without special rights and by its root."""
    with temporary_server() as address:
        url = servers.fresh_schema(address, "failover")
        root = create_engine(url, isolation_level="AUTOCOMMIT")
        with root.connect() as connection:
            connection.execute(text("CREATE TABLE toy_accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)"))
            connection.execute(text("INSERT INTO toy_accounts VALUES (1, 0)"))
            connection.execute(text("CREATE USER plain IDENTIFIED BY ''"))
            connection.execute(text("GRANT ALL ON failover.* TO plain"))
        yield url.set(username="plain"), root
        root.dispose()


@pytest.fixture
def read_only(demoted_server: tuple[URL, Engine]) -> Iterator[Switch]:
    """Set the server read-only or not; it can be written again after the test."""
    root = demoted_server[1]

    def switch(on: bool) -> None:
        with root.connect() as connection:
            connection.execute(text(f"SET GLOBAL read_only = {int(on)}"))

    yield switch
    switch(False)


def test_a_server_that_turned_read_only_is_met_on_a_new_connection_each_time(
    demoted_server: tuple[URL, Engine], read_only: Switch
) -> None:
    ours = db_session.engine.__wrapped__(demoted_server[0])
    plain = create_engine(demoted_server[0], pool_size=1, pool_pre_ping=True)
    read_only(True)
    tried, naive = writes(ours, 3), writes(plain, 3)
    for each in (ours, plain):
        each.dispose()
    assert [number for _, number in tried + naive] == [1290] * 6
    assert len({used for used, _ in tried}) == 3
    assert len({used for used, _ in naive}) == 1, "the plain pool keeps the demoted connection"


def test_a_unit_outlives_a_failover(demoted_server: tuple[URL, Engine], read_only: Switch) -> None:
    ours = db_session.engine.__wrapped__(demoted_server[0])
    used: list[int] = []

    @retry_on_db_conflict
    def unit() -> None:
        with Session(ours) as caller:
            used.append(connection_id(caller))
            read_only(len(used) < 3)
            pay(caller, 1, 1)
            caller.commit()

    unit()
    ours.dispose()
    assert len(set(used)) == 3


def test_a_server_that_turns_read_only_before_the_commit_leaves_the_outcome_open(
    demoted_server: tuple[URL, Engine], read_only: Switch
) -> None:
    ours = db_session.engine.__wrapped__(demoted_server[0])
    with Session(ours) as caller:
        pay(caller, 1, 1)
        read_only(True)
        with pytest.raises(CommitOutcomeUnknownError):
            db_session._commit(caller)
    ours.dispose()
