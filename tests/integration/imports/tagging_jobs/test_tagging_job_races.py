"""Two workers with one message of a tagging job; without the lock on the job's row, both tag the same window."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from sqlalchemy.orm import Session

from core.statuses import ACTIVE_TAGGING_JOBS
from shell.tables.links import TaggingJobs
from shell.tagging_jobs import run
from shell.tagging_jobs.state import lock_turn
from shell.work.messages import TaggingMessage
from tests.support.application.driver import World
from tests.support.database.counted_database import PATIENCE_S
from tests.support.exhibits.stored_cases import Cases
from tests.support.exhibits.tagging_job_runs import finish_job, numbered, request_job

Lock = Callable[[Session, TaggingMessage], TaggingJobs | None]


def read_turn(transaction: Session, message: TaggingMessage) -> TaggingJobs | None:
    """The job, without a lock."""
    job = transaction.get(TaggingJobs, message.job_id)
    return job if job is not None and job.turn == message.turn and job.status in ACTIVE_TAGGING_JOBS else None


def versions_after_two_workers(
    world: World, patch: pytest.MonkeyPatch, lock: Lock, meanwhile: Callable[[Future[None]], object]
) -> set[int]:
    """Let a second worker begin when the first one has the job's row; return the versions that documents have."""
    world.run(numbered(1, 7))
    job_id = request_job({}, add=("New",))
    (body,) = world.chunk_messages()
    message = TaggingMessage.read(body)
    # The import before which there is nothing: the next step has documents.
    run.take_step(message, is_last=False)
    others: list[Future[None]] = []
    with ThreadPoolExecutor(max_workers=1) as pool:

        def lock_and_begin_another(transaction: Session, of: TaggingMessage) -> TaggingJobs | None:
            job = lock(transaction, of)
            if not others:
                others.append(pool.submit(run.work_on_job, of))
                meanwhile(others[0])
            return job

        patch.setattr(run, "lock_turn", lock_and_begin_another)
        run.work_on_job(message)
        others[0].result(timeout=PATIENCE_S)
    patch.setattr(run, "lock_turn", lock_turn)
    finish_job(world, job_id)
    return {row[0] for row in world.query("SELECT version FROM exhibits")}


def test_two_workers_tag_each_document_once(world: World, cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = cases.database.until_waiting
    assert versions_after_two_workers(world, monkeypatch, lock_turn, lambda _other: waiting(1)) == {2}


def test_without_the_lock_they_tag_it_twice(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    found = versions_after_two_workers(world, monkeypatch, read_turn, lambda other: other.result(timeout=PATIENCE_S))
    assert found == {3}
