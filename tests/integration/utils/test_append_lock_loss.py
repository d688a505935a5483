"""How a destination's lock ends: given back or lost, it is logged and hides no error; its connection is closed."""

from __future__ import annotations

from sqlalchemy import text

from shell.db.session import engine, session
from shell.utils.advisory_lock import NAME_IN_DATABASE, allocate_positions, get_lock, table_insert_lock
from tests.support.application.captured_log import Log
from tests.support.database.counted_database import Database, outcome, until
from tests.support.utils.destination_appends import append, executed, holder, kill_holder


def test_the_bodys_error_is_raised_also_when_the_lock_was_lost(database: Database, log: Log) -> None:
    def failing() -> None:
        with table_insert_lock("volume") as lock:
            kill_holder(database, lock)
            raise ZeroDivisionError

    assert isinstance(outcome(failing)(), ZeroDivisionError)
    lost = next(line for line in log.lines() if line["message"] == "insert lock lost before release")
    assert lost["reason"] in (1927, 2006, 2013, 4031)


def test_a_lock_that_was_lost_after_the_commit_is_logged_and_its_connection_is_not_made_again(
    database: Database, log: Log
) -> None:
    with executed() as seen, table_insert_lock("volume") as lock:
        own = next(each.connection for each in seen if "GET_LOCK" in each.statement)
        with session() as transaction:
            assert allocate_positions(transaction, lock, 1) == 0
        kill_holder(database, lock)
        seen.clear()
    assert [each.statement.partition("(")[0] for each in seen] == ["SELECT RELEASE_LOCK"]
    assert own.closed
    assert "insert lock lost before release" in log.messages()


def test_a_release_that_the_server_denies_is_logged(database: Database, log: Log) -> None:
    with executed() as seen, table_insert_lock("volume") as lock:
        own = next(each.connection for each in seen if "GET_LOCK" in each.statement)
        own.execute(text("DO RELEASE_ALL_LOCKS()"))
        assert holder(database, lock) is None
    assert [line["reason"] for line in log.lines() if "reason" in line] == ["not held"]


def test_its_connection_is_closed_and_a_pooled_one_would_keep_the_lock(database: Database) -> None:
    with table_insert_lock("volume") as lock:
        own = holder(database, lock)
    assert holder(database, lock) is None
    until(lambda: not database.query("SELECT id FROM information_schema.processlist WHERE id = :own", own=own))
    with engine().connect() as connection:
        get_lock(connection, "pooled", 0, "it")
    assert database.scalar(f"SELECT IS_FREE_LOCK({NAME_IN_DATABASE})", name="pooled") == 0
    engine().dispose()


def test_what_is_logged_are_ids_and_milliseconds(database: Database, log: Log) -> None:
    lock = append("tenant/case/volume", 1)
    (line,) = log.lines()
    assert line["message"] == "insert lock"
    assert (line["destination_id"], line["fencing_token"]) == (lock.destination_id, lock.fencing_token)
    assert 0 <= line["waited_ms"] < 60_000
    assert 0 <= line["held_ms"] < 60_000
    assert "tenant" not in log.stream.getvalue()
