"""A retry repeats what failed and nothing else, comes out as if it had not failed, and waits for no other chunk."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

import handle_failed_import
from core.errors import WrongStateError
from shell.aws import clients
from shell.db.session import session
from shell.imports.commands import retry_import
from shell.imports.completing.spellings import MERGED_NAMES_FROM
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import (
    CALLER,
    SIX,
    THREE,
    announce,
    cancel,
    events,
    finish,
    half_failed,
    put,
    reports,
    retry,
    start,
    state,
    whole,
)
from tests.support.application.driver import World, call, request_messages

MERGED = "SELECT line_no FROM import_warnings WHERE import_id = :id AND seq >= :seq ORDER BY line_no"
CODES = "SELECT line_no, code FROM import_rejections ORDER BY line_no"
CHUNK = "SELECT status, redrives, rejected, finished_at IS NULL FROM import_chunks WHERE chunk_no = 1"


def test_after_a_retry_that_fails_and_one_that_works_the_database_is_as_if_nothing_had_failed(
    world: World, chunk_rows: Chunks
) -> None:
    """Without the first chunk the spelling was another; a completion alone would leave old warnings beside the new."""
    chunk_rows(1)
    import_id = half_failed(world, 1)
    assert state(import_id).chunks_failed == 1
    assert world.query(MERGED, id=import_id, seq=MERGED_NAMES_FROM) == [(5,), (6,)]
    assert world.query("SELECT CAST(name AS CHAR) FROM custodians") == [("Smith",)]
    assert world.query(CODES) == [(2, "CHUNK_FAILED"), (4, "MISSING_ID"), (7, "DUPLICATE_ID")]
    assert world.query(CHUNK) == [("failed", 1, 1, 0)]
    before = world.query("SELECT control_number, id FROM exhibits")
    retried = retry(import_id)
    assert world.query(CODES) == [(4, "MISSING_ID"), (7, "DUPLICATE_ID")]
    assert world.query(CHUNK) == [("pending", 0, 0, 1)]
    assert world.query("SELECT COUNT(*) FROM import_chunks WHERE status = 'done'") == [(5,)]
    assert (retried.status, retried.generation, retried.rows_processed, retried.chunks_failed) == ("running", 2, 5, 0)
    with pytest.raises(WrongStateError, match="the status running"):
        retry(import_id)
    assert [start(message) for message in request_messages()] == [True]
    (message,) = world.chunk_messages()
    world.give_up(message)
    assert (state(import_id).status, state(import_id).rejected) == ("completed_with_rejections", 3)
    assert retry(import_id).generation == 3
    finish(world)
    assert world.query(MERGED, id=import_id, seq=MERGED_NAMES_FROM) == [(3,), (5,), (6,)]
    assert world.query("SELECT CAST(name AS CHAR) FROM custodians") == [("SMITH",)]
    assert world.dump(import_id) == world.dump(whole(world))
    after = state(import_id)
    assert after.imported + after.unchanged + after.updated + after.rejected == after.rows_seen == 6
    assert set(before) < set(world.query("SELECT control_number, id FROM exhibits"))


def test_every_generation_has_reports_of_its_own_and_none_is_written_late(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    first = reports(world, import_id, 1)
    assert state(import_id).reports_prefix == f"reports/{import_id}/1/"
    retry(import_id)
    finish(world)
    assert [event["generation"] for event in events(world, "import.completed")] == [1, 2]
    world.query("UPDATE imports SET reports_generation = 0")
    clients.s3().delete_object(Bucket=world.bucket, Key=f"reports/{import_id}/1/report.csv")
    assert reports(world, import_id, 1) == first - {"report.csv"}
    assert state(import_id).reports_generation == 0
    assert reports(world, import_id, 2) == first != set()
    assert (state(import_id).reports_generation, state(import_id).reports_prefix) == (2, f"reports/{import_id}/2/")


def test_a_cancelled_import_goes_on_where_it_stood_and_with_its_failed_chunk(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, SIX))
    first, *rest = world.chunk_messages()
    world.give_up(first)
    assert world.import_chunk(rest[2])
    cancel(pending.id)
    retried = retry(pending.id)
    assert (retried.status, retried.rows_processed, retried.finished_at) == ("running", 1, None)
    assert events(world, "import.retried") == [
        {"importId": pending.id, "tenantId": "tenant", "generation": 2, "chunks": 5}
    ]
    assert world.query("SELECT chunks_left FROM imports") == [(5,)]
    finish(world)
    assert world.dump(pending.id) == world.dump(whole(world))


@pytest.mark.parametrize("ended", ["cancelled", "not read"])
def test_an_import_that_ended_before_it_was_split_is_split(world: World, ended: str) -> None:
    pending = announce()
    if ended == "cancelled":
        cancel(pending.id)
        assert start(put(pending, SIX))
    else:
        assert call(handle_failed_import.lambda_handler, {**put(pending, SIX), "redrive": 1})
        assert state(pending.id).failure_code == "NOT_READ"
    retried = retry(pending.id)
    assert (retried.status, retried.failure_code, retried.failure_message) == ("splitting", None, None)
    finish(world)
    assert world.dump(pending.id) == world.dump(whole(world))


def test_a_header_without_rows_is_completed_in_the_generation_it_is_in(world: World) -> None:
    pending = announce()
    cancel(pending.id)
    assert start(put(pending, THREE.partition(b"A-1")[0]))
    retry(pending.id)
    finish(world)
    assert [event["generation"] for event in events(world, "import.completed")] == [2]


REFUSED = [
    ("awaiting_upload", None, "wait until it has ended"),
    ("splitting", None, "wait until it has ended"),
    ("running", None, "wait until it has ended"),
    ("completed", None, "nothing to retry"),
    ("completed_with_rejections", None, "correct the rejected-rows file"),
    ("cancelled", None, "announce it again"),
    ("failed", "NO_ID_COLUMN", "NO_ID_COLUMN: no column is an id"),
    ("failed", "NOT_UPLOADED", "NOT_UPLOADED"),
]


def test_what_a_retry_cannot_correct_is_refused_with_what_to_do(world: World) -> None:
    pending = announce()
    change = "UPDATE imports SET status = :status, failure_code = :code, failure_message = 'no column is an id'"
    for status, code, message in REFUSED:
        world.query(change, status=status, code=code)
        with pytest.raises(WrongStateError, match=message):
            retry(pending.id)
        assert (state(pending.id).status, state(pending.id).generation) == (status, 1)
    assert (request_messages(), events(world, "import.retried")) == ([], [])


ROWS = 40
WRITTEN_NOW = 20
FAILED = [chunk for chunk in range(1, ROWS + 1) if chunk != WRITTEN_NOW]
_REJECTION = (
    "INSERT INTO import_rejections (import_id, line_no, seq, chunk_no, code, message, byte_start, byte_len) "
    "SELECT import_id, first_line, 0, chunk_no, 'CHUNK_FAILED', '', 0, 1 FROM import_chunks "
    "WHERE import_id = :id AND chunk_no IN :chunks"
)


def reject(at: Connection | Session, import_id: int, chunks: list[int]) -> None:
    listed = ", ".join(map(str, chunks))
    at.execute(text(_REJECTION.replace(":chunks", f"({listed})")), {"id": import_id})


@pytest.fixture
def cancelled(world: World, chunk_rows: Chunks, other: Connection) -> int:
    """An import of many failed chunks that was cancelled while one more is being written, with a rejection in it."""
    chunk_rows(1)
    pending = announce()
    rows = b"".join(b"A-%d,t\r\n" % number for number in range(ROWS))
    assert start(put(pending, b"Control Number,Title\r\n" + rows))
    cancel(pending.id)
    with session() as transaction:
        reject(transaction, pending.id, FAILED)
    world.query("UPDATE import_chunks SET status = 'failed' WHERE chunk_no <> :now", now=WRITTEN_NOW)
    reject(other, pending.id, [WRITTEN_NOW])
    return pending.id


def impatient(transaction: Session) -> None:
    transaction.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))


def test_a_retry_waits_for_no_row_of_a_chunk_that_is_being_written(cancelled: int) -> None:
    with session() as transaction:
        impatient(transaction)
        retry_import(transaction, CALLER, cancelled)
    assert (state(cancelled).status, state(cancelled).chunks_failed) == ("running", 0)


def test_rejections_that_are_removed_by_their_chunk_are_waited_for(cancelled: int) -> None:
    """The negative control: without the whole primary key the server reads, and locks, what others write."""
    naive = text("DELETE FROM import_rejections WHERE import_id = :id AND code = 'CHUNK_FAILED'")
    with session() as transaction:
        impatient(transaction)
        with pytest.raises(OperationalError, match="Lock wait timeout"):
            transaction.execute(naive, {"id": cancelled})
