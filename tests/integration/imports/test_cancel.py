"""After a cancellation nothing more comes in, and what is in is counted."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text

import write_import_report
from core.errors import WrongStateError
from shell.db.session import session
from shell.imports.commands import cancel_import
from shell.imports.queries import get_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import (
    CALLER,
    THREE,
    announce,
    cancel,
    events,
    put,
    start,
    start_blocked,
    state,
    until_waiting,
)
from tests.support.application.driver import World, call
from tests.support.application.handler_processes import ended_well
from tests.support.database.counted_database import together


def running_import(data: bytes = THREE) -> int:
    """An import whose chunks have messages."""
    pending = announce()
    assert start(put(pending, data))
    return pending.id


def test_a_running_import_is_cancelled_with_the_counts_of_what_is_in(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = running_import()
    first, *rest = world.chunk_messages()
    assert world.import_chunk(first)
    cancelled = cancel(import_id)
    assert (cancelled.status, cancelled.imported, cancelled.rows_processed, cancelled.rows_seen) == (
        "cancelled",
        1,
        1,
        3,
    )
    assert (cancelled.rows_per_second, cancelled.seconds_left) == (None, None)
    assert events(world, "import.cancelled")[0]["counts"] == {
        "imported": 1,
        "unchanged": 0,
        "updated": 0,
        "rejected": 0,
    }
    assert all(world.import_chunk(message) for message in rest)
    assert call(write_import_report.lambda_handler, events(world, "import.cancelled")[0])
    assert get_import(CALLER, import_id).reports is not None
    world.give_up(rest[0])
    assert world.query("SELECT control_number FROM exhibits") == [("A-1",)]
    assert world.query("SELECT status, chunks_left FROM imports") == [("cancelled", 2)]
    assert events(world, "import.completed") == []


def test_an_import_that_awaits_its_file_is_cancelled_and_announced_once(world: World) -> None:
    pending = announce()
    cancelled = cancel(pending.id)
    assert (cancelled.status, cancelled.rows_processed) == ("cancelled", 0)
    assert cancelled.finished_at is not None
    assert cancel(pending.id) == cancelled
    assert [event["importId"] for event in events(world, "import.cancelled")] == [pending.id]


def test_an_import_that_has_ended_cannot_be_cancelled(world: World) -> None:
    pending = announce()
    for status in ("completed", "completed_with_rejections", "failed"):
        world.query("UPDATE imports SET status = :status", status=status)
        with pytest.raises(WrongStateError, match=f"the status {status};"):
            cancel(pending.id)
        assert state(pending.id).status == status


def test_a_file_that_is_cancelled_while_it_is_split_gets_no_chunks(world: World) -> None:
    """The splitter waits at the import's row with its chunks at hand; then the row says that they are cancelled."""
    pending = announce()
    message = put(pending, THREE)
    world.query("UPDATE imports SET status = 'splitting' WHERE id = :id", id=pending.id)
    with session() as transaction:
        cancel_import(transaction, CALLER, pending.id)
        worker = start_blocked(world, "start_import", message)
    assert ended_well(worker)
    assert (state(pending.id).status, world.chunk_messages()) == ("cancelled", [])
    assert world.query("SELECT COUNT(*) FROM import_chunks") == [(0,)]


def test_a_chunk_that_is_written_while_the_import_is_cancelled_does_not_commit(world: World) -> None:
    """It waits at the import's row with everything written; then it reads that the import does not run any more."""
    import_id = running_import()
    (message,) = world.chunk_messages()
    with session() as transaction:
        assert cancel_import(transaction, CALLER, import_id).imported == 0
        worker = start_blocked(world, "import_chunk", message)
    assert ended_well(worker)
    for table in ("exhibits", "custodian_exhibits", "import_rejections"):
        assert world.query(f"SELECT COUNT(*) FROM {table}") == [(0,)]
    assert world.query("SELECT status FROM import_chunks") == [("pending",)]


def test_a_cancellation_waits_for_a_chunk_that_has_counted_and_counts_it(world: World, other: Connection) -> None:
    import_id = running_import()
    complete = "UPDATE import_chunks SET status = 'done', imported = 3 WHERE import_id = :id"
    other.execute(text(complete), {"id": import_id})
    other.execute(text("UPDATE imports SET chunks_left = 0 WHERE id = :id AND status = 'running'"), {"id": import_id})

    def commit_once_it_is_waited_for() -> None:
        until_waiting(world)
        other.commit()

    cancelled, _ = together(lambda: cancel(import_id).imported, commit_once_it_is_waited_for)
    assert cancelled == 3


def test_naive_cancellation_by_a_flag_that_chunks_read_at_their_beginning_lets_rows_in(
    world: World, other: Connection
) -> None:
    """The chunk looks, the cancellation commits, and the chunk commits after it."""
    import_id = running_import()
    flag = text("SELECT status FROM imports WHERE id = :id")
    assert other.execute(flag, {"id": import_id}).scalar() == "running"
    row = "INSERT INTO exhibits (case_id, control_number, import_id, line_no) VALUES (1, 'A-1', :id, 2)"
    other.execute(text(row), {"id": import_id})
    assert cancel(import_id).imported == 0
    other.commit()
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(1,)]
