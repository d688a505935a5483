"""The message that carries a retry on is never lost and never too early, if a worker dies or a queue refuses."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text

import handle_failed_import
from core.errors import QueueUnavailableError
from shell.db.session import session
from shell.imports.commands import cancel_import, retry_import
from shell.settings import settings
from tests.integration.imports.conftest import Chunks, Setting
from tests.integration.imports.import_requests import (
    CALLER,
    SIX,
    announce,
    events,
    finish,
    half_failed,
    put,
    retry,
    run_chunks,
    start,
    start_blocked,
    state,
    whole,
)
from tests.support.application.driver import World, call, request_messages
from tests.support.application.handler_processes import ended_well


def test_a_queue_that_does_not_take_the_message_undoes_the_retry(
    world: World, chunk_rows: Chunks, setting: Setting
) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    before = (state(import_id), world.dump(import_id))
    setting("IMPORT_REQUESTS_QUEUE_URL", f"{settings().import_requests_queue_url}-gone")
    with pytest.raises(QueueUnavailableError):
        retry(import_id)
    after = (state(import_id), world.dump(import_id))
    assert after == before
    assert events(world, "import.retried") == []


@pytest.mark.parametrize("commits", [True, False])
def test_the_message_of_a_retry_waits_until_the_retry_has_committed(
    world: World, chunk_rows: Chunks, commits: bool
) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    with session() as transaction:
        retry_import(transaction, CALLER, import_id)
        (message,) = request_messages()
        worker = start_blocked(world, "start_import", message)
        assert world.chunk_messages() == []
        if not commits:
            transaction.rollback()
    assert ended_well(worker)
    sent = [{"import_id": import_id, "chunk_no": 1, "generation": 2, "redrive": 0}]
    assert world.chunk_messages() == (sent if commits else [])
    assert state(import_id).status == ("running" if commits else "completed_with_rejections")


def test_naive_reading_without_a_lock_drops_the_message_of_a_retry(
    world: World, chunk_rows: Chunks, other: Connection
) -> None:
    """The message is taken before the commit, nothing is found to do, and the import runs without messages."""
    chunk_rows(1)
    import_id = half_failed(world, 1)
    with session() as transaction:
        retry_import(transaction, CALLER, import_id)
        found = other.execute(text("SELECT status FROM imports WHERE id = :id"), {"id": import_id}).scalar()
    assert found == "completed_with_rejections"
    assert state(import_id).status == "running"


def test_the_message_of_a_retry_that_failed_in_every_attempt_comes_back_once(
    world: World, chunk_rows: Chunks, setting: Setting
) -> None:
    chunk_rows(1)
    setting("REDRIVE_DELAY_SECONDS", "0")
    import_id = half_failed(world, 1)
    world.chunk_messages()
    retry(import_id)
    (message,) = request_messages()
    assert call(handle_failed_import.lambda_handler, message)
    (again,) = request_messages()
    assert again == {"import_id": import_id, "generation": 2, "redrive": 1}
    assert call(handle_failed_import.lambda_handler, again)
    run_chunks(world)
    assert state(import_id).chunks_failed == 0


def test_a_chunk_that_was_read_before_its_import_was_cancelled_and_retried_is_read_again(
    world: World, chunk_rows: Chunks
) -> None:
    """It holds its row all the while; the case may have changed since it was read, and its message comes again."""
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, SIX))
    messages = world.chunk_messages()
    with session() as transaction:
        transaction.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": pending.id})
        worker = start_blocked(world, "import_chunk", messages[0])
        cancel_import(transaction, CALLER, pending.id)
        retry_import(transaction, CALLER, pending.id)
    assert ended_well(worker)
    assert world.query("SELECT chunks_left FROM imports") == [(6,)]
    finish(world)
    assert world.dump(pending.id) == world.dump(whole(world))
