"""A retry does not wait for chunks that are being written: they would wait for it, and one of the two would lose."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from shell.db.session import session
from shell.imports.commands import retry_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.support import CALLER, announce, cancel, put, start, state
from tests.support.world import World

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
