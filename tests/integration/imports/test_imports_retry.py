"""A retry does over what failed and nothing else, and comes out as if it had not failed."""

from __future__ import annotations

from typing import Any

import pytest

import import_chunk
import settle_failed_import
from core.errors import NotFoundError, WrongStateError
from shell.imports.completion import MERGED_NAMES_FROM
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.support import (
    CALLER,
    SIX,
    STRANGER,
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
from tests.support.world import World, call, request_messages


@pytest.mark.parametrize("chunk_no", [1, 2, 5])
def test_after_a_retry_that_works_the_database_is_as_if_nothing_had_failed(
    world: World, chunk_rows: Chunks, chunk_no: int
) -> None:
    chunk_rows(1)
    import_id = half_failed(world, chunk_no)
    assert state(import_id).chunks_failed == 1
    before = world.query("SELECT control_number, id FROM exhibits")
    retried = retry(import_id)
    assert (retried.status, retried.generation, retried.rows_processed, retried.chunks_failed) == ("running", 2, 5, 0)
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
    assert (retried.status, retried.rows_processed, retried.finished_at) == ("running", 2, None)
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
        ("completed_with_rejections", None, "correct the rejected-rows file"),
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
    assert request_messages() == [{"import_id": import_id, "generation": 2}]


def kept(world: World) -> list[Any]:
    """What the chunks say of themselves."""
    return list(world.query("SELECT chunk_no, status, redrives, rejected, finished_at IS NULL FROM import_chunks"))


def test_a_chunk_to_be_retried_is_as_if_it_had_never_been_tried(world: World, chunk_rows: Chunks) -> None:
    chunk_rows(1)
    import_id = half_failed(world, 2)
    assert kept(world)[1] == (2, "failed", 1, 1, 0)
    retry(import_id)
    assert kept(world)[1] == (2, "pending", 0, 0, 1)
    assert [row[1] for row in kept(world)] == ["done", "pending", "done", "done", "done", "done"]
