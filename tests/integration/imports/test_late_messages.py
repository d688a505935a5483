"""Messages that come after their time: of an outage, of a generation that was retried, of a file that is being read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import handle_failed_chunk
import handle_failed_import
from shell.imports.chunks import row_reader
from shell.imports.splitting.split import split_file
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import (
    SIX,
    THREE,
    announce,
    cancel,
    finish,
    half_failed,
    put,
    retry,
    run_chunks,
    start,
    state,
)
from tests.support.application.cleared_caches import forget_caches
from tests.support.application.driver import World, call, request_messages

CHUNKS = "SELECT status FROM import_chunks ORDER BY chunk_no"


def test_a_dead_letter_gives_up_chunks_of_its_own_generation_alone(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    retry(import_id)
    late = {"import_id": import_id, "chunk_no": 1, "generation": 1, "redrive": 1}
    assert call(handle_failed_chunk.lambda_handler, late)
    assert world.query(CHUNKS)[0] == ("pending",)
    assert call(handle_failed_chunk.lambda_handler, {**late, "generation": 2})
    assert world.query(CHUNKS)[0] == ("failed",)


def test_a_request_that_failed_before_a_retry_does_not_end_it(world: World) -> None:
    pending = announce()
    request = put(pending, SIX)
    assert call(handle_failed_import.lambda_handler, {**request, "redrive": 1})
    assert state(pending.id).failure_code == "NOT_READ"
    retry(pending.id)
    assert call(handle_failed_import.lambda_handler, {**request, "redrive": 1})
    assert state(pending.id).status == "splitting"
    (again,) = request_messages()
    assert call(handle_failed_import.lambda_handler, {**again, "redrive": 1})
    assert state(pending.id).failure_code == "NOT_READ"


def test_a_file_that_a_worker_is_splitting_is_not_given_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = announce()
    request = put(pending, SIX)
    answers: list[bool] = []

    def meanwhile(*arguments: Any) -> Any:
        answers.append(call(handle_failed_import.lambda_handler, {**request, "redrive": 1}))
        return split_file(*arguments)

    monkeypatch.setattr("shell.imports.start.split_file", meanwhile)
    assert start(request)
    assert answers == [False]
    run_chunks(world)
    assert state(pending.id).status == "completed_with_rejections"


@pytest.fixture
def outage(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The database cannot be reached, until the patch is undone."""
    monkeypatch.setenv("REDRIVE_DELAY_SECONDS", "0")
    monkeypatch.setenv("DB_DEADLOCK_RETRY_ATTEMPTS", "1")
    monkeypatch.setenv("DB_DEADLOCK_RETRY_DELAY", "0.002")
    with monkeypatch.context() as patch:
        patch.setenv("DATABASE_URL", "mysql+pymysql://nobody@127.0.0.1:9/nothing")
        forget_caches()
        yield patch
    forget_caches()


def test_an_outage_gives_no_request_up(world: World, outage: pytest.MonkeyPatch) -> None:
    request = world.upload(THREE)
    assert not start(request)
    assert not call(handle_failed_import.lambda_handler, request)
    assert request_messages() == []
    outage.setenv("DATABASE_URL", world.environment["DATABASE_URL"])
    forget_caches()
    assert call(handle_failed_import.lambda_handler, request)
    finish(world)
    assert world.query("SELECT status FROM imports") == [("completed",)]


def test_nothing_is_named_for_rows_that_a_cancellation_kept_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pending = announce()
    assert start(put(pending, THREE))
    (message,) = world.chunk_messages()
    prepare = row_reader.read_rows

    def cancelled_behind(*arguments: Any) -> Any:
        prepared = prepare(*arguments)
        cancel(pending.id)
        return prepared

    monkeypatch.setattr(row_reader, "read_rows", cancelled_behind)
    assert world.import_chunk(message)
    assert world.query("SELECT name FROM custodians") == []
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]
