"""A split that is overtaken, cancelled, retried or changed: chunks of two splits never mix."""

from __future__ import annotations

from functools import partial

import pytest
from sqlalchemy import text

from core.errors import ImportBusyError
from shell.aws import clients
from shell.imports import start as start_module
from shell.imports.splitting import checkpoint_store
from shell.work.messages import UploadMessage
from tests.integration.imports.checkpointed_splits import (
    FILE,
    count_steps,
    found,
    kill_after_a_checkpoint,
    kill_at_checkpoint,
    split_in_one_pass,
    stop,
)
from tests.integration.imports.conftest import Chunks, Setting
from tests.integration.imports.import_requests import announce, cancel, put, retry, start, state
from tests.support.application.driver import World, request_messages
from tests.support.faults.step_hooks import KilledError, at, at_every_step, nothing

pytestmark = pytest.mark.usefixtures("small_checkpoints")


def overtake(world: World, setting: Setting) -> tuple[int, BaseException | None]:
    """A worker is overtaken, after its first checkpoint, by one that splits the file into larger chunks."""
    pending = announce()
    request = put(pending, FILE)
    late: list[BaseException] = []

    def split_otherwise(_number: int) -> None:
        if not late and world.query("SELECT split_checkpoint IS NULL FROM imports") == [(0,)]:
            late.append(KilledError())
            setting("CHUNK_ROWS", "100")
            start_module.start_imports(UploadMessage.read(request))
            setting("CHUNK_ROWS", "2")

    with at_every_step(world, nothing, split_otherwise):
        try:
            start_module.start_imports(UploadMessage.read(request))
        except Exception as error:
            late.append(error)
    return pending.id, late[1] if len(late) > 1 else None


COUNTED = "SELECT i.chunk_count, COUNT(*) FROM imports i JOIN import_chunks c ON c.import_id = i.id GROUP BY i.id"


@pytest.mark.usefixtures("unlocked")
def test_a_worker_that_was_overtaken_writes_nothing(world: World, setting: Setting) -> None:
    _, error = overtake(world, setting)
    assert isinstance(error, ImportBusyError)
    assert world.query(COUNTED) == [(2, 2)]


@pytest.mark.usefixtures("unlocked")
def test_without_the_check_of_the_checkpoint_the_chunks_of_two_workers_mix(
    world: World, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    without = text(str(checkpoint_store._ADVANCE).partition(" AND status")[0])
    monkeypatch.setattr(checkpoint_store, "_ADVANCE", without)
    overtake(world, setting)
    ((counted, chunks),) = world.query(COUNTED)
    assert chunks > counted


@pytest.mark.usefixtures("unlocked")
@pytest.mark.slow
def test_two_workers_have_the_result_of_one_wherever_the_second_comes_in(world: World, setting: Setting) -> None:
    expected = split_in_one_pass(world, setting)
    for number in count_steps(world)[1]:
        pending = announce(case=f"Two {number}")
        request = put(pending, FILE)
        with at_every_step(
            world, nothing, at(number, partial(start_module.start_imports, UploadMessage.read(request)))
        ):
            acknowledged = start(request)
        assert acknowledged or start(request)
        assert found(world, pending.id) == expected, number
        world.chunk_messages()


def test_an_import_that_is_cancelled_while_it_is_split_has_no_counts_and_starts_over(
    world: World, setting: Setting, chunk_rows: Chunks
) -> None:
    expected = split_in_one_pass(world, setting)
    import_id, request = kill_after_a_checkpoint(world)
    splitting = state(import_id)
    assert (splitting.status, splitting.chunks, splitting.rows_processed, splitting.chunks_failed) == (
        *("splitting", 0, 0, 0),
    )
    cancelled = cancel(import_id)
    assert (cancelled.status, cancelled.rows_processed, cancelled.reports_prefix) == ("cancelled", 0, None)
    assert start(request)
    assert world.chunk_messages() == []
    chunk_rows(3)
    assert retry(import_id).status == "splitting"
    chunk_rows(2)
    (again,) = request_messages()
    assert start(again)
    assert found(world, import_id) == expected
    assert len(world.chunk_messages()) == len(expected[1])


def test_a_worker_of_a_generation_before_a_retry_writes_nothing(world: World) -> None:
    """It may read the file as its options were, and finds the last checkpoint unchanged."""
    import_id, _ = kill_after_a_checkpoint(world)
    ((checkpoint,),) = world.query("SELECT split_checkpoint FROM imports")
    cancel(import_id)
    retry(import_id)
    place = checkpoint_store.Place(import_id, 1, checkpoint)
    with pytest.raises(ImportBusyError):
        checkpoint_store.write_checkpoint(place, "later", [], checkpoint_store.StoredSplit(b"", 1, None, {}))


def test_other_options_start_the_split_over(world: World) -> None:
    """The options object of a file that was not announced may be replaced between two invocations."""
    request = world.upload(FILE, date_order="DMY")
    key = request["Records"][0]["s3"]["object"]["key"].replace("imports/", "options/", 1)
    (options,) = [
        listed["Key"]
        for listed in clients.s3().list_objects_v2(Bucket=world.bucket, Prefix="options/")["Contents"]
        if key.split("/")[3] in listed["Key"]
    ]
    stop(nothing, request, kill_at_checkpoint(world), world=world)
    clients.s3().put_object(Bucket=world.bucket, Key=options, Body=b'{"date_order": "MDY"}')
    assert start(request)
    ((layout, counted),) = world.query("SELECT layout, chunk_count FROM imports")
    assert '"date_order": "MDY"' in layout
    assert world.query("SELECT COUNT(*) FROM import_chunks") == [(counted,)]


def test_ids_that_expired_start_the_split_over(world: World, setting: Setting) -> None:
    expected = split_in_one_pass(world, setting)
    import_id, request = kill_after_a_checkpoint(world)
    (part, *_) = clients.s3().list_objects_v2(Bucket=world.bucket, Prefix=f"splits/{import_id}/")["Contents"]
    clients.s3().delete_object(Bucket=world.bucket, Key=part["Key"])
    assert start(request)
    assert state(import_id).status == "splitting"
    (again,) = request_messages()
    assert start(again)
    assert found(world, import_id) == expected
