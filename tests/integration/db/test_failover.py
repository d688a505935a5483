"""A server that can only be read any more: the connection is given up, so that the next one may find the writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import URL, Engine, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from core.errors import CommitOutcomeUnknownError
from local.services.mysql import temporary_server
from shell.db import session
from shell.db.errors import DbErrorClass, classify, error_number
from shell.utils import advisory_lock
from shell.utils.advisory_lock import exclusive_connection
from tests.support.database.counted_database import connection_id, pay
from tests.support.servers import provisioned_servers

Switch = Callable[[bool], None]


def one_write(engine: Engine) -> tuple[int, int | None]:
    """The connection of a try to write, and the error's number."""
    with Session(engine) as caller:
        used = connection_id(caller)
        try:
            pay(caller, 1, 1)
            caller.commit()
        except OperationalError as error:
            return used, error_number(error)
        return used, None


@pytest.fixture(scope="module")
def demoted_server(environment: dict[str, str]) -> Iterator[tuple[URL, Engine]]:
    """A server of its own that can be made read-only, seen by a user without special rights and by its root."""
    with temporary_server() as address:
        url = provisioned_servers.fresh_schema(address, "failover")
        root = create_engine(url, isolation_level="AUTOCOMMIT")
        with root.connect() as connection:
            connection.execute(text("CREATE TABLE toy_accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)"))
            connection.execute(text("INSERT INTO toy_accounts VALUES (1, 0)"))
            connection.execute(text("CREATE USER plain IDENTIFIED BY ''"))
            connection.execute(text("GRANT ALL ON failover.* TO plain"))
        yield url.set(username="plain", password=""), root
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


def test_1290_on_a_live_connection_has_the_next_unit_run_on_a_new_one(
    demoted_server: tuple[URL, Engine], read_only: Switch
) -> None:
    ours = session.engine.__wrapped__(demoted_server[0])
    plain = create_engine(demoted_server[0], pool_size=1, pool_pre_ping=True)
    before = [one_write(each) for each in (ours, plain)]
    read_only(True)
    refused = [one_write(each) for each in (ours, plain)]
    read_only(False)
    after = [one_write(each) for each in (ours, plain)]
    for each in (ours, plain):
        each.dispose()
    assert [number for _, number in before + refused + after] == [None, None, 1290, 1290, None, None]
    assert before[0][0] == refused[0][0] != after[0][0]
    assert before[1][0] == refused[1][0] == after[1][0], "the plain pool keeps the demoted connection"


@pytest.mark.parametrize("account", ["plain", "root"])
def test_a_read_only_server_is_refused_to_every_caller(
    demoted_server: tuple[URL, Engine], read_only: Switch, account: str
) -> None:
    """An administrator of the server could write to it, and what he wrote would be on the old writer alone."""
    user, root = demoted_server
    url = user if account == "plain" else root.url
    ours, plain = session.engine.__wrapped__(url), create_engine(url)
    read_only(True)
    with pytest.raises(OperationalError) as refused:
        ours.connect()
    naive = one_write(plain)
    plain.dispose()
    assert classify(refused.value) is DbErrorClass.FAILOVER
    assert naive[1] == {"plain": 1290, "root": None}[account], "a plain engine finds out late, or never"


def test_a_lock_is_not_taken_on_a_server_that_can_only_be_read(
    demoted_server: tuple[URL, Engine], read_only: Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advisory_lock, "lock_database_url", lambda: demoted_server[0])
    with exclusive_connection("migrations", 0):
        pass
    read_only(True)
    with pytest.raises(OperationalError, match="1836"), exclusive_connection("migrations", 0):
        pass


def test_a_server_that_turns_read_only_before_the_commit_leaves_the_outcome_open(
    demoted_server: tuple[URL, Engine], read_only: Switch
) -> None:
    ours = session.engine.__wrapped__(demoted_server[0])
    with Session(ours) as caller:
        pay(caller, 1, 1)
        read_only(True)
        with pytest.raises(CommitOutcomeUnknownError):
            session._commit(caller)
    ours.dispose()
