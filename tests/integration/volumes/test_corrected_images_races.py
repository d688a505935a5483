"""However ends and corrections meet, and wherever a worker dies, images of corrected documents are imported once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

import complete_import
import import_chunk
import start_import
from core.errors import ImportBusyError
from shell.imports.corrected_images import splitting, starting
from shell.imports.corrected_images.splitting import CorrectedImages
from shell.imports.splitting.registration import register_chunks
from shell.imports.state.claims import LockedClaims, lock_claims
from shell.imports.state.progress import CHUNKS
from shell.imports.state.records import load_current_import
from tests.integration.volumes.test_corrected_images import (
    TO_A2,
    begin_images,
    check_open,
    hold_images,
    import_volume,
    list_followed,
)
from tests.integration.volumes.volume_requests import finish_imports
from tests.support.application.driver import World, call, completion_messages, request_messages
from tests.support.database.counted_database import outcome, together
from tests.support.database.server_status import someone_waits, wait_until
from tests.support.faults.step_hooks import KilledError, at_every_step
from tests.support.imports.corrected_rows import (
    CLIENT,
    correct,
    deliver,
    get_state,
    list_rows,
    post,
)
from tests.support.imports.image_load_files import page_counts, results


def connect_alone(world: World) -> Connection:
    """A connection beside the two of the application's pool."""
    return create_engine(world.engine.url, poolclass=NullPool).connect()


@pytest.mark.parametrize("is_locked", [True, False])
def test_images_and_a_correction_that_end_at_once(
    world: World, is_locked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control does not lock the corrections: neither end sees the other."""
    rows, images, completion = hold_images(world)
    assert post(rows, {3: ["A-2", "two"]}).status == 201
    for request in request_messages():
        assert call(start_import.lambda_handler, request)
    (chunk,) = world.chunk_messages()
    assert call(import_chunk.lambda_handler, chunk)
    (of_correction,) = completion_messages()
    if not is_locked:
        unlocked = str(starting._CORRECTIONS).removesuffix("FOR UPDATE")
        monkeypatch.setattr(starting, "_CORRECTIONS", text(unlocked))
    decided, go_on = Barrier(2), Barrier(2)

    def pause(_transaction: object, import_id: int, _generation: int) -> None:
        if import_id == of_correction["import_id"]:
            decided.wait(60)
            go_on.wait(60)

    monkeypatch.setattr("shell.imports.completing.completion.reopen_images", pause)
    with ThreadPoolExecutor(2) as threads, connect_alone(world) as looking:
        corrected = threads.submit(call, complete_import.lambda_handler, of_correction)
        decided.wait(60)
        ended = threads.submit(call, complete_import.lambda_handler, completion)
        wait_until(lambda: ended.done() or someone_waits(looking), "the end of the images or its wait")
        assert ended.done() != is_locked
        go_on.wait(60)
        assert corrected.result(60)
        assert ended.result(60)
    assert len(list_followed(world, of_correction["import_id"])) == int(is_locked)
    assert get_state(images)["status"] == "completed_with_rejections"


@pytest.mark.parametrize("is_counted", [False, True])
def test_images_that_are_cancelled_while_their_chunk_is_written(
    world: World, is_counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row of a rejected document is corrected meanwhile.

    A chunk that is not counted is rolled back, and its images come with the retry. One that is has the cancellation
    wait: that finds the rejected document, whose images follow.
    """
    rows, images, chunk = begin_images(world)
    decided, go_on, complete = Barrier(2), Barrier(2), CHUNKS.complete

    def pause(transaction: Any, unit: Any, *given: Any) -> bool:
        if unit[0] != images or threading.current_thread() is threading.main_thread():
            return complete(transaction, unit, *given)
        was_last = is_counted and complete(transaction, unit, *given)
        decided.wait(60)
        go_on.wait(60)
        return was_last if is_counted else complete(transaction, unit, *given)

    monkeypatch.setattr(CHUNKS, "complete", pause)
    with ThreadPoolExecutor(2) as threads, connect_alone(world) as looking:
        written = threads.submit(call, import_chunk.lambda_handler, chunk)
        decided.wait(60)
        correction = correct(world, rows, TO_A2)
        cancelled = threads.submit(CLIENT.post, f"/imports/{images}/cancel")
        wait_until(lambda: cancelled.done() or someone_waits(looking), "the cancellation or its wait")
        assert cancelled.done() != is_counted
        go_on.wait(60)
        assert cancelled.result(60).status == 200
        assert written.result(60)
    assert (get_state(correction)["status"], get_state(images)["status"]) == ("completed", "cancelled")
    followed = list_followed(world, correction)
    assert len(followed) == int(is_counted)
    finish_imports(world)
    assert CLIENT.post(f"/imports/{images}/retry").status == 200
    finish_imports(world)
    assert list_followed(world, correction) == followed
    assert page_counts(world) == {"A-1": 1, "A-2": 2, "A-4": 1}
    check_open(world, images, 2)


def build_splits(world: World, rows: int) -> list[tuple[Any, CorrectedImages]]:
    """Two corrections of two lines that give one document, and their imports of images, split and not registered."""
    for line in (3, 4):
        assert post(rows, {line: ["A-2", "two"]}).status == 201
    deliver(world)
    found = []
    for message in request_messages():
        import_record = load_current_import(message["import_id"])
        assert import_record is not None
        found.append((import_record, splitting.read_split(import_record)))
    return found


def race(world: World, rows: int) -> tuple[list[Any], list[int]]:
    """The answers to both registrations at once, and the imports."""
    splits = build_splits(world, rows)
    work = [outcome(lambda at=at, split=split: register_chunks(at.id, split, "ann")) for at, split in splits]  # type: ignore[misc]
    answers = together(*work)
    for _, split in splits:
        split.__exit__(None, None, None)
    return answers, [at.id for at, _ in splits]


def test_of_two_corrections_of_one_document_one_has_its_line(world: World) -> None:
    rows, images = import_volume(world)
    answers, ids = race(world, rows)
    assert sorted(type(answer).__name__ for answer in answers) == [ImportBusyError.__name__, bool.__name__]
    for import_id in ids:
        assert call(start_import.lambda_handler, {"import_id": import_id, "generation": 1})
    for chunk in world.chunk_messages():
        assert world.import_chunk(chunk)
    finish_imports(world)
    assert sorted(results(world, import_id) for import_id in ids) == [
        ("completed", 0, 0, 0, 0, 0),
        ("completed", 1, 1, 0, 0, 0),
    ]
    assert page_counts(world) == {"A-1": 1, "A-2": 2, "A-4": 1}
    check_open(world, images, 2)


def test_without_the_look_at_claims_both_have_the_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control."""

    def overlook(*place: Any) -> LockedClaims:
        claims = lock_claims(*place)
        return LockedClaims({}, [*claims.taken, *claims.reopened])

    monkeypatch.setattr(splitting, "lock_claims", overlook)
    rows, _ = import_volume(world)
    answers, ids = race(world, rows)
    assert answers == [True, True]
    assert [results(world, import_id)[1] for import_id in ids] == [1, 1]


def deliver_killed(world: World, handler: Any, message: dict[str, Any]) -> int:
    """Deliver a message until a worker survives, the first one killed at its first step, each next one a step later."""
    for step in range(1, 400):

        def kill(number: int, last: int = step) -> None:
            if number >= last:
                raise KilledError

        with at_every_step(world, before=kill), suppress(KilledError):
            if call(handler, message):
                return step
        # A killed worker holds the semaphore of the file until that expires.
        world.query("DELETE FROM semaphore_holders")
    raise AssertionError("no worker survived")


@pytest.mark.slow
def test_killed_at_each_step_and_delivered_again(world: World) -> None:
    rows, images = import_volume(world)
    cells = {row["line"]: row["cells"] for row in list_rows(rows)}
    correction = post(rows, {3: ["A-2", *cells[3][1:]]}).json["id"]
    for request in request_messages():
        assert call(start_import.lambda_handler, request)
    (chunk,) = world.chunk_messages()
    assert call(import_chunk.lambda_handler, chunk)
    (completion,) = completion_messages()
    assert deliver_killed(world, complete_import.lambda_handler, completion) > 20
    (followed,) = list_followed(world, correction)
    # The others are of workers that died before they committed.
    requests = [each for each in request_messages() if each["import_id"] == followed]
    handlers = [start_import.lambda_handler, import_chunk.lambda_handler, complete_import.lambda_handler]
    for handler in handlers:
        messages = requests or world.chunk_messages() or completion_messages()
        requests = []
        assert deliver_killed(world, handler, messages[0]) > 5
        # What was sent before a worker died, and what is delivered twice.
        assert all(call(handler, message) for message in messages)
    assert call(complete_import.lambda_handler, completion)
    finish_imports(world)
    assert list_followed(world, correction) == [followed]
    assert results(world, followed) == ("completed", 1, 1, 0, 0, 0)
    assert page_counts(world) == {"A-1": 1, "A-2": 2, "A-4": 1}
    assert world.query("SELECT COUNT(*) FROM page_sets")[0][0] == 3
    check_open(world, images, 2)
