"""The completion of an import is requested once, never lost, and can be killed, repeated, cancelled and given up."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
from sqlalchemy import Connection, text

import complete_import
import handle_failed_import
import import_chunk
from core.errors import UnavailableError
from core.statuses import ChunkStatus
from shell.db.session import session
from shell.imports.completing import completion as finish_module
from shell.imports.completing import spellings
from shell.imports.state import completion_lock
from shell.imports.state.progress import ChunkOutcome, Counts, complete_chunk
from shell.settings import settings
from shell.tables.imports import Imports
from tests.integration.imports.conftest import Chunks, Setting
from tests.integration.imports.import_requests import (
    SIX,
    announce,
    cancel,
    completed,
    events,
    finish,
    put,
    retry,
    start,
    start_blocked,
    state,
    whole,
)
from tests.support.application.driver import World, call, complete_imports, completion_messages, request_messages
from tests.support.application.handler_processes import Workers, ended_well
from tests.support.database.dump import Dump
from tests.support.faults.step_hooks import KilledError, Step, Steps, at, at_every_step, kill, nothing

NAMED_BY_NO_ROW = "INSERT INTO custodians (case_id, name, import_id, line_no) SELECT case_id, :name, id, 9 FROM imports"


@pytest.fixture
def small(chunk_rows: Chunks, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row for each chunk, and the least of everything for each transaction of a completion."""
    chunk_rows(1)
    monkeypatch.setattr(spellings, "OCCURRENCES_PER_PAGE", 2)
    monkeypatch.setattr(spellings, "SPELLINGS_PER_BATCH", 1)
    monkeypatch.setattr(spellings, "WARNINGS_PER_BATCH", 1)
    monkeypatch.setattr(finish_module, "NAMES_PER_WINDOW", 1)


@pytest.fixture
def expected(world: World, small: None) -> Dump:
    """What is left of SIX when nothing happens."""
    return world.dump(whole(world))


def completing(world: World, case: str) -> int:
    """An import that has no chunk left, and two names that no row has; later chunks were written first."""
    pending = announce(case=case)
    assert start(put(pending, SIX))
    for message in reversed(world.chunk_messages()):
        assert call(import_chunk.lambda_handler, message)
    for name in ("Nobody", "Noone"):
        world.query(f"{NAMED_BY_NO_ROW} WHERE id = :id", name=name, id=pending.id)
    assert (state(pending.id).status, state(pending.id).rows_processed) == ("running", 6)
    return pending.id


def count_steps(world: World) -> Steps:
    """The steps of a completion that nothing happens to."""
    import_id = completing(world, "Counted")
    with at_every_step(world) as steps:
        finish_module.complete_import(import_id, 1)
    completion_messages()
    return steps


def test_the_last_chunk_requests_the_completion_and_changes_nothing_itself(world: World, small: None) -> None:
    import_id = completing(world, "Case")
    assert events(world, "import.completed") == []
    assert completion_messages() == [{"import_id": import_id, "generation": 1, "task": "complete", "redrive": 0}]
    assert (state(import_id).rows_seen, state(import_id).seconds_left, state(import_id).finished_at) == (6, 0, None)


@pytest.mark.parametrize("commits", [True, False])
def test_the_request_waits_until_the_last_chunk_has_committed(world: World, commits: bool) -> None:
    import_id = world.start(SIX)
    world.chunk_messages()
    with session() as transaction:
        done = ChunkOutcome(ChunkStatus.DONE, Counts(6, 0, 0, 0, 0))
        complete_chunk(transaction, transaction.get_one(Imports, import_id), 1, done)
        (message,) = completion_messages()
        worker = start_blocked(world, "complete_import", message)
        assert state(import_id).status == "running"
        if not commits:
            transaction.rollback()
    assert ended_well(worker)
    assert state(import_id).status == ("completed" if commits else "running")


def test_naive_reading_without_a_lock_drops_the_request(world: World, other: Connection) -> None:
    """The message is taken before the commit, nothing is found to do, and no request follows."""
    import_id = world.start(SIX)
    world.chunk_messages()
    with session() as transaction:
        done = ChunkOutcome(ChunkStatus.DONE, Counts(6, 0, 0, 0, 0))
        complete_chunk(transaction, transaction.get_one(Imports, import_id), 1, done)
        assert completion_messages()
        due = other.execute(text("SELECT chunks_left = 0 FROM imports WHERE id = :id"), {"id": import_id}).scalar()
    assert not due
    assert state(import_id).status == "running"


def test_a_queue_that_does_not_take_the_request_undoes_the_chunk(world: World, setting: Setting) -> None:
    queue = settings().import_completions_queue_url
    import_id = world.start(SIX)
    (message,) = world.chunk_messages()
    setting("IMPORT_COMPLETIONS_QUEUE_URL", f"{queue}-gone")
    assert not call(import_chunk.lambda_handler, message)
    assert world.query("SELECT status FROM import_chunks") == [("pending",)]
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]
    setting("IMPORT_COMPLETIONS_QUEUE_URL", queue)
    assert world.import_chunk(message)
    assert state(import_id).status == "completed_with_rejections"


def test_naive_sending_after_the_commit_is_lost_with_its_worker(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chunk is done; its message, delivered again, finds nothing to do."""
    import_id = world.start(SIX)
    (message,) = world.chunk_messages()
    monkeypatch.setattr("shell.imports.state.progress.send_messages", lambda *_, **__: 0)
    assert call(import_chunk.lambda_handler, message)
    monkeypatch.undo()
    assert world.import_chunk(message)
    assert (state(import_id).status, state(import_id).rows_processed) == ("running", 6)


def test_an_event_of_a_known_upload_requests_the_completion_again(world: World, small: None) -> None:
    pending = announce()
    notification = put(pending, SIX)
    assert start(notification)
    for message in world.chunk_messages():
        assert call(import_chunk.lambda_handler, message)
    lost = completion_messages()
    assert start(notification)
    assert completion_messages() == lost
    assert call(complete_import.lambda_handler, lost[0])
    assert start(notification)
    assert completion_messages() == []


@pytest.mark.slow
def test_a_completion_that_is_killed_at_any_step_is_repeated_with_the_same_result(world: World, expected: Dump) -> None:
    steps = count_steps(world)
    kills: list[tuple[Step, Step]] = [(at(number, kill), nothing) for number in range(1, steps.count + 1)]
    kills += [(nothing, at(number, kill)) for number in steps.commits]
    assert len(kills) > 40
    for number, (before, after) in enumerate(kills):
        import_id = completing(world, f"Killed {number}")
        with pytest.raises(KilledError), at_every_step(world, before, after):
            finish_module.complete_import(import_id, 1)
        assert (state(import_id).status == "running") is (completed(world, import_id) == [])
        complete_imports()
        assert world.dump(import_id) == expected, number
        assert completed(world, import_id) == [1]


@pytest.mark.slow
def test_two_deliveries_at_once_have_the_result_of_one_wherever_the_second_comes_in(
    world: World, expected: Dump
) -> None:
    for number in count_steps(world).commits:
        import_id = completing(world, f"Twice {number}")
        second = partial(finish_module.complete_import, import_id, 1)
        with at_every_step(world, after=at(number, second)):
            finish_module.complete_import(import_id, 1)
        assert world.dump(import_id) == expected, number
        assert completed(world, import_id) == [1]


def test_several_processes_that_complete_one_import_at_once(world: World, expected: Dump, workers: Workers) -> None:
    for attempt in range(3):
        import_id = completing(world, f"At once {attempt}")
        (message,) = completion_messages()
        assert workers.at_once("complete_import", [message] * workers.count) == [True] * workers.count
        assert world.dump(import_id) == expected
        assert completed(world, import_id) == [1]


@pytest.mark.slow
@pytest.mark.parametrize("is_retried_at_once", [False, True])
def test_a_cancellation_stops_the_completion_wherever_it_is_and_a_retry_ends_it(
    world: World, expected: Dump, is_retried_at_once: bool
) -> None:
    # With the last COMMIT the import has ended.
    for number in count_steps(world).commits[:-1]:
        import_id = completing(world, f"Cancelled {number}")
        left: list[Dump] = []

        def meanwhile(import_id: int = import_id, left: list[Dump] = left) -> None:
            cancel(import_id)
            if is_retried_at_once:
                retry(import_id)
            left.append(world.dump(import_id))

        with at_every_step(world, after=at(number, meanwhile)):
            finish_module.complete_import(import_id, 1)
        assert [world.dump(import_id)] == left, "something was written after the cancellation"
        assert completed(world, import_id) == []
        if not is_retried_at_once:
            assert retry(import_id).generation == 2
        finish(world)
        assert world.dump(import_id) == expected, number
        assert completed(world, import_id) == [2]


def test_naive_completion_that_does_not_look_again_ends_a_cancelled_import(
    world: World, expected: Dump, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = completing(world, "Case")
    for module in (completion_lock, finish_module):
        monkeypatch.setattr(module, "check_completing", lambda *_: None)
    # The first COMMIT is that of the locking read.
    with at_every_step(world, after=at(2, partial(cancel, import_id))):
        finish_module.complete_import(import_id, 1)
    assert (state(import_id).status, len(events(world, "import.cancelled"))) == ("completed_with_rejections", 1)


def test_a_request_of_an_earlier_generation_completes_nothing(world: World, small: None) -> None:
    import_id = completing(world, "Case")
    (late,) = completion_messages()
    cancel(import_id)
    retry(import_id)
    assert call(complete_import.lambda_handler, late)
    assert (state(import_id).status, events(world, "import.completed")) == ("running", [])
    finish(world)
    assert [each["generation"] for each in events(world, "import.completed")] == [2]


@pytest.fixture
def dead_letter(world: World, setting: Setting, expected: Dump) -> dict[str, Any]:
    """The request of a completion that failed in every attempt."""
    setting("REDRIVE_DELAY_SECONDS", "0")
    completing(world, "Given up")
    (message,) = completion_messages()
    return message


def test_a_completion_that_failed_in_every_attempt_comes_back_once(
    world: World, expected: Dump, dead_letter: dict[str, Any]
) -> None:
    assert call(handle_failed_import.lambda_handler, dead_letter)
    assert request_messages() == []
    (again,) = completion_messages()
    assert again == {**dead_letter, "redrive": 1}
    assert call(complete_import.lambda_handler, again)
    assert world.dump(int(again["import_id"])) == expected
    assert call(handle_failed_import.lambda_handler, again)
    assert state(int(again["import_id"])).status == "completed_with_rejections"


def test_a_completion_that_failed_again_ends_visibly_and_a_retry_completes(
    world: World, expected: Dump, dead_letter: dict[str, Any]
) -> None:
    import_id = int(dead_letter["import_id"])
    for _ in range(2):
        assert call(handle_failed_import.lambda_handler, {**dead_letter, "redrive": 1})
    failed = state(import_id)
    assert (failed.status, failed.failure_code, failed.rows_processed) == ("failed", "NOT_COMPLETED", 6)
    assert [each["code"] for each in events(world, "import.failed")] == ["NOT_COMPLETED"]
    assert call(complete_import.lambda_handler, dead_letter)
    assert state(import_id) == failed
    retried = retry(import_id)
    assert (retried.status, retried.generation, retried.failure_code) == ("running", 2, None)
    finish(world)
    assert world.dump(import_id) == expected


def test_a_request_that_an_operator_sends_to_the_queue_of_requests_leads_to_the_completion(
    world: World, expected: Dump, dead_letter: dict[str, Any]
) -> None:
    """Both kinds of requests end in one queue, which is sent back as a whole."""
    assert start({**dead_letter, "redrive": 1})
    assert completion_messages() == [dead_letter]
    finish_module.complete_import(int(dead_letter["import_id"]), 1)
    assert world.dump(int(dead_letter["import_id"])) == expected


def test_while_the_database_refuses_nothing_is_acknowledged(world: World, small: None) -> None:
    import_id = completing(world, "Case")
    (message,) = completion_messages()
    with at_every_step(world, Mock(side_effect=UnavailableError)):
        assert not call(complete_import.lambda_handler, message)
    assert state(import_id).status == "running"
