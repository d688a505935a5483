"""A retry does over what failed and nothing else, and comes out as if it had not failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, text

import import_chunk
import settle_failed_import
import write_import_report
from core.errors import NotFoundError, QueueUnavailableError, WrongStateError
from shell.completion_ops import MERGED_NAMES_FROM
from shell.import_control_ops import cancel_import, retry_import
from shell.settings import settings
from shell.utils import aws
from shell.utils.db_session import session
from tests.integration.imports.conftest import Chunks
from tests.integration.imports_api.support import (
    CALLER,
    STRANGER,
    THREE,
    announce,
    cancel,
    events,
    finish,
    put,
    request_messages,
    retry,
    run_chunks,
    start,
    state,
)
from tests.support.watching import someone_waits, wait_until
from tests.support.workers import start_alone
from tests.support.world import Message, World, call

# A name of four spellings that the database holds equal, a row without an id, and an id that comes twice.
SIX = (
    b"Control Number,Title,Custodian\r\nA-1,one,SMITH\r\nA-2,two,Smith\r\n,three,smith\r\nA-4,four,smith\r\n"
    b"A-5,five,sMith\r\nA-4,six,Brown\r\n"
)


def half_failed(world: World, chunk_no: int, case: str = "Case") -> int:
    """An import of one row a chunk, all of which came in but one that was given up."""
    pending = announce(case=case)
    assert start(put(pending, SIX))
    for message in world.chunk_messages():
        if message["chunk_no"] == chunk_no:
            world.give_up(message)
        else:
            assert call(import_chunk.lambda_handler, message)
    return pending.id


def whole(world: World) -> int:
    """The same import where nothing failed."""
    pending = announce(case="Whole")
    assert start(put(pending, SIX))
    run_chunks(world)
    return pending.id


def reports(world: World, import_id: int, generation: int) -> set[str]:
    """Deliver the message of a completion; the names of the report files of that generation."""
    assert call(write_import_report.lambda_handler, {"importId": import_id, "generation": generation})
    prefix = f"reports/{import_id}/{generation}/"
    listed = aws.s3().list_objects_v2(Bucket=world.bucket, Prefix=prefix).get("Contents", [])
    return {each["Key"].removeprefix(prefix) for each in listed}


@pytest.mark.parametrize("chunk_no", [1, 2, 5])
def test_after_a_retry_that_works_the_database_is_as_if_nothing_had_failed(
    world: World, chunk_rows: Chunks, chunk_no: int
) -> None:
    chunk_rows(1)
    import_id = half_failed(world, chunk_no)
    assert state(import_id).chunks_failed == 1
    before = world.query("SELECT control_number, id FROM exhibits")
    retried = retry(import_id)
    assert (retried.status, retried.generation, retried.rows_settled, retried.chunks_failed) == ("running", 2, 5, 0)
    finish(world)
    assert world.dump(import_id) == world.dump(whole(world))
    after = state(import_id)
    assert after.imported + after.unchanged + after.updated + after.rejected == after.rows_seen == 6
    assert set(before) < set(world.query("SELECT control_number, id FROM exhibits"))


def test_without_the_first_chunk_the_spelling_was_another(world: World, chunk_rows: Chunks) -> None:
    """What the test before this one rests on: a completion alone would leave old warnings beside the new."""
    chunk_rows(1)
    import_id = half_failed(world, 1)
    merged = "SELECT line_no FROM import_warnings WHERE import_id = :id AND seq >= :seq ORDER BY line_no"
    assert world.query(merged, id=import_id, seq=MERGED_NAMES_FROM) == [(5,), (6,)]
    assert world.query("SELECT CAST(name AS CHAR) FROM custodians") == [("Smith",)]
    retry(import_id)
    finish(world)
    assert world.query(merged, id=import_id, seq=MERGED_NAMES_FROM) == [(3,), (5,), (6,)]
    assert world.query("SELECT CAST(name AS CHAR) FROM custodians") == [("SMITH",)]


def test_the_rejection_of_a_failed_part_goes_and_those_of_rows_stay(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 2)
    codes = "SELECT line_no, code FROM import_rejections ORDER BY line_no"
    assert world.query(codes) == [(3, "CHUNK_FAILED"), (4, "MISSING_ID"), (7, "DUPLICATE_ID")]
    retry(import_id)
    assert world.query(codes) == [(4, "MISSING_ID"), (7, "DUPLICATE_ID")]
    finish(world)
    assert world.query(codes) == [(4, "MISSING_ID"), (7, "DUPLICATE_ID")]


def test_every_generation_has_reports_of_its_own(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    first = reports(world, import_id, 1)
    assert state(import_id).reports_prefix == f"reports/{import_id}/1/"
    retry(import_id)
    finish(world)
    assert [event["generation"] for event in events(world, "import.completed")] == [1, 2]
    assert reports(world, import_id, 2) == first != set()
    assert (state(import_id).reports_generation, state(import_id).reports_prefix) == (2, f"reports/{import_id}/2/")


def test_a_report_that_comes_after_the_retry_is_not_written(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    retry(import_id)
    assert reports(world, import_id, 1) == set()
    assert state(import_id).reports_generation == 0


def test_what_fails_again_can_be_retried_again(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 2)
    retry(import_id)
    assert [start(message) for message in request_messages()] == [True]
    (message,) = world.chunk_messages()
    world.give_up(message)
    assert (state(import_id).status, state(import_id).rejected) == ("completed_with_rejections", 3)
    assert retry(import_id).generation == 3
    finish(world)
    assert world.dump(import_id) == world.dump(whole(world))


def test_a_cancelled_import_goes_on_where_it_stood(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, SIX))
    first, *rest = world.chunk_messages()
    for message in (first, rest[2]):
        assert call(import_chunk.lambda_handler, message)
    cancel(pending.id)
    retried = retry(pending.id)
    assert (retried.status, retried.rows_settled, retried.finished_at) == ("running", 2, None)
    assert events(world, "import.retried") == [
        {"importId": pending.id, "tenantId": "tenant", "generation": 2, "chunks": 4}
    ]
    finish(world)
    assert world.dump(pending.id) == world.dump(whole(world))


def test_a_failed_part_of_a_cancelled_import_is_retried_with_the_rest(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, SIX))
    world.give_up(world.chunk_messages()[0])
    cancel(pending.id)
    retry(pending.id)
    assert world.query("SELECT chunks_left FROM imports") == [(6,)]
    finish(world)
    assert world.dump(pending.id) == world.dump(whole(world))


def test_an_import_that_was_cancelled_before_it_was_split_is_split(world: World) -> None:
    pending = announce()
    cancel(pending.id)
    assert start(put(pending, SIX))
    assert retry(pending.id).status == "splitting"
    finish(world)
    assert world.dump(pending.id) == world.dump(whole(world))


def test_a_file_that_could_not_be_read_is_read_again(world: World) -> None:
    pending = announce()
    message = put(pending, SIX)
    assert call(settle_failed_import.lambda_handler, {**message, "redrive": 1})
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


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        ("awaiting_upload", None, "wait until it has ended"),
        ("splitting", None, "wait until it has ended"),
        ("running", None, "wait until it has ended"),
        ("completed", None, "nothing to retry"),
        ("completed_with_rejections", None, "mend the rejected-rows file"),
        ("cancelled", None, "announce it again"),
        ("failed", "NO_ID_COLUMN", "NO_ID_COLUMN: no column is an id"),
        ("failed", "NOT_UPLOADED", "NOT_UPLOADED"),
    ],
)
def test_what_a_retry_cannot_mend_is_refused_with_what_to_do(
    world: World, status: str, code: str | None, said: str
) -> None:
    pending = announce()
    change = "UPDATE imports SET status = :status, failure_code = :code, failure_message = 'no column is an id'"
    world.query(change, status=status, code=code)
    with pytest.raises(WrongStateError, match=said):
        retry(pending.id)
    assert (state(pending.id).status, state(pending.id).generation) == (status, 1)
    assert (request_messages(), events(world, "import.retried")) == ([], [])


def test_an_import_of_another_tenant_is_as_missing_as_one_that_is_not(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    told = []
    for caller, asked_for in ((STRANGER, import_id), (CALLER, import_id + 1)):
        with pytest.raises(NotFoundError) as refused:
            retry(asked_for, caller)
        told.append(str(refused.value))
    assert told[0] == told[1]
    assert (state(import_id).generation, request_messages()) == (1, [])


def test_a_retry_cannot_be_retried_while_it_runs(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    retry(import_id)
    with pytest.raises(WrongStateError, match="is running"):
        retry(import_id)
    assert request_messages() == [{"import_id": import_id}]


@pytest.fixture
def no_queue(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """There is no queue of import requests."""
    monkeypatch.setenv("IMPORT_REQUESTS_QUEUE_URL", f"{settings().import_requests_queue_url}-gone")
    settings.cache_clear()
    yield
    monkeypatch.undo()
    settings.cache_clear()


@pytest.mark.usefixtures("no_queue")
def test_a_queue_that_does_not_take_the_message_undoes_the_retry(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    before = (state(import_id), world.dump(import_id))
    with pytest.raises(QueueUnavailableError):
        retry(import_id)
    after = (state(import_id), world.dump(import_id))
    assert after == before
    assert events(world, "import.retried") == []


@pytest.mark.parametrize("commits", [True, False])
def test_the_message_of_a_retry_waits_until_the_retry_has_committed(
    world: World, chunk_rows: Chunks, other: Connection, commits: bool
) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    with session() as transaction:
        retry_import(transaction, CALLER, import_id)
        (message,) = request_messages()
        worker = start_alone(world.environment, "start_import", message)
        wait_until(lambda: someone_waits(other), "the wait for the import's row")
        assert world.chunk_messages() == []
        if not commits:
            transaction.rollback()
    worker.join(timeout=20)
    assert worker.exitcode == 0
    assert world.chunk_messages() == [{"import_id": import_id, "chunk_no": 1, "redrive": 0}][: 1 if commits else 0]
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


def test_a_retry_that_died_before_its_commit_leaves_a_message_that_is_harmless(
    world: World, chunk_rows: Chunks
) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 1)
    before = (state(import_id), world.dump(import_id))
    with session() as transaction:
        retry_import(transaction, CALLER, import_id)
        transaction.rollback()
    finish(world)
    after = (state(import_id), world.dump(import_id))
    assert after == before


@pytest.mark.parametrize("message", [{"import_id": 2**40}, {"import_id": 2**40, "redrive": 1}])
def test_a_message_about_an_import_that_nobody_knows_is_acknowledged(world: World, message: Message) -> None:
    assert start(message)
    assert call(settle_failed_import.lambda_handler, {**message, "redrive": 1})


def test_the_message_of_a_retry_that_failed_in_every_attempt_comes_back_once(
    world: World, chunk_rows: Chunks, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk_rows(1)
    monkeypatch.setenv("REDRIVE_DELAY_SECONDS", "0")
    settings.cache_clear()
    import_id = half_failed(world, 1)
    world.chunk_messages()
    retry(import_id)
    (message,) = request_messages()
    assert call(settle_failed_import.lambda_handler, message)
    (again,) = request_messages()
    assert again == {"import_id": import_id, "redrive": 1}
    assert call(settle_failed_import.lambda_handler, again)
    run_chunks(world)
    assert state(import_id).chunks_failed == 0


def test_a_file_that_cannot_be_read_in_its_retry_either_fails_again(world: World) -> None:
    pending = announce()
    cancel(pending.id)
    assert start(put(pending, SIX))
    retry(pending.id)
    assert call(settle_failed_import.lambda_handler, {"import_id": pending.id, "redrive": 1})
    assert (state(pending.id).status, state(pending.id).failure_code) == ("failed", "NOT_READ")
    assert retry(pending.id).generation == 3


def test_a_chunk_that_is_written_while_its_import_is_cancelled_and_retried_counts(
    world: World, chunk_rows: Chunks, other: Connection
) -> None:
    """It holds its row all the while; to the retry it is one of those that are still to come."""
    chunk_rows(1)
    pending = announce()
    assert start(put(pending, SIX))
    messages = world.chunk_messages()
    with session() as transaction:
        transaction.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": pending.id})
        worker = start_alone(world.environment, "import_chunk", messages[0])
        wait_until(lambda: someone_waits(other), "the chunk's wait for the import's row")
        cancel_import(transaction, CALLER, pending.id)
        retry_import(transaction, CALLER, pending.id)
    worker.join(timeout=20)
    assert world.query("SELECT chunks_left FROM imports") == [(5,)]
    finish(world)
    assert world.dump(pending.id) == world.dump(whole(world))


def kept(world: World) -> list[Any]:
    """What the chunks say of themselves."""
    return list(world.query("SELECT chunk_no, status, redrives, rejected, settled_at IS NULL FROM import_chunks"))


def test_a_chunk_to_be_retried_is_as_if_it_had_never_been_tried(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 2)
    assert kept(world)[1] == (2, "failed", 1, 1, 0)
    retry(import_id)
    assert kept(world)[1] == (2, "pending", 0, 0, 1)
    assert [row[1] for row in kept(world)] == ["done", "pending", "done", "done", "done", "done"]
