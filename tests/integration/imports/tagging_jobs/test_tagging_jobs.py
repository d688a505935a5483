"""Every document that matches is tagged once, whatever happens to the messages, the workers and the imports beside."""

from __future__ import annotations

import pytest

import handle_failed_chunk
from core.contracts.tagging_jobs import NewTaggingJob, TaggingJob
from core.contracts.taggings import TaggingRequest
from core.errors import InvalidInputError, NotFoundError, WrongStateError
from core.statuses import TaggingJobStatus
from shell.db.session import session
from shell.exhibits.commands import remove_taggings
from shell.tagging_jobs import run, windows
from shell.tagging_jobs.commands import cancel_job, create_job
from shell.tagging_jobs.queries import get_job
from shell.tenants import starts
from shell.work.messages import TaggingMessage
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import STRANGER
from tests.support.application.driver import World, call, complete_imports
from tests.support.exhibits.history import find_gaps
from tests.support.exhibits.tagging_job_runs import (
    changes_of,
    finish_job,
    load_file,
    numbered,
    request_job,
    tagged_with,
)
from tests.support.faults.step_hooks import KilledError, at, at_every_step, kill
from tests.support.undo.runs import CALLER, undo

TEN = [f"A-{number:02}" for number in range(1, 11)]


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "WINDOW", 3)
    monkeypatch.setattr(windows, "SCANNED", 4)
    monkeypatch.setattr(run, "STEPS_PER_MESSAGE", 2)


def counts(job: TaggingJob) -> tuple[str, int, int, int, int | None]:
    """Status, documents, taggings created and removed, and documents that remain."""
    return job.status.value, job.tagged, job.created, job.removed, job.remaining


@pytest.mark.parametrize("times", [1, 3])
def test_each_match_of_all_imports_is_tagged_once(world: World, times: int) -> None:
    world.run(numbered(1, 7))
    world.run(load_file("A-08,one,hot", "A-09,two,hot", "A-10,one,"))
    world.run(numbered(1, 4), case="Another case")
    job_id = request_job({}, add=("HOT", "New"))
    assert get_job(CALLER, job_id).expected == 10
    done = finish_job(world, job_id, times=times)
    assert counts(done) == ("completed", 10, 18, 0, 0)
    assert tagged_with(world, "New") == tagged_with(world, "hot") == TEN
    assert changes_of(world, job_id) == [(number, 2) for number in TEN]
    assert not find_gaps(world)
    actions = world.query("SELECT action, user_id FROM activities WHERE object_type = 'tagging_job' ORDER BY id")
    assert [tuple(row) for row in actions] == [
        ("tagging_job.created", CALLER.user_id),
        ("tagging_job.completed", None),
    ]


@pytest.mark.parametrize("query", [{"withoutTag": "New"}, {"tag": ["hot"]}, {"tag": ["hot"], "withoutTag": "New"}])
def test_a_filter_on_the_tags_that_the_job_adds_and_removes(world: World, query: dict[str, object]) -> None:
    world.run(load_file(*(f"{number},one,hot" for number in TEN)))
    job_id = request_job(query, add=("New",), remove=("HOT", "Unknown"))
    assert counts(finish_job(world, job_id, times=2)) == ("completed", 10, 10, 10, 0)
    assert (tagged_with(world, "New"), tagged_with(world, "hot")) == (TEN, [])
    assert changes_of(world, job_id) == [(number, 2) for number in TEN]


def test_what_has_none_of_the_tags_to_remove_keeps_its_version(world: World) -> None:
    import_id = world.run(load_file("A-01,one,hot", "A-02,one,", "A-03,two,hot"))
    job_id = request_job({"importId": import_id, "controlNumber": "A-01"}, remove=("hot",))
    assert counts(finish_job(world, job_id)) == ("completed", 1, 0, 1, 0)
    again = request_job({}, remove=("hot",))
    assert counts(finish_job(world, again)) == ("completed", 3, 0, 1, 0)
    assert (changes_of(world, job_id), changes_of(world, again)) == ([("A-01", 2)], [("A-03", 2)])


@pytest.mark.slow
def test_a_worker_is_killed_at_each_statement(world: World) -> None:
    world.run(numbered(1, 5))
    number, was_killed = 0, True
    while was_killed:
        number += 1
        tag = f"T{number}"
        job_id = request_job({"withoutTag": tag}, add=(tag,))
        (message,) = world.chunk_messages()
        read = TaggingMessage.read(message)
        with at_every_step(world, at(number, kill), at(number, kill)):
            try:
                run.work_on_job(read)
                was_killed = False
            except KilledError:
                pass
        assert world.import_chunk(message)
        assert counts(finish_job(world, job_id)) == ("completed", 5, 5, 0, 0), number
        assert tagged_with(world, tag) == TEN[:5]
        assert [name for name, _ in changes_of(world, job_id)] == TEN[:5]
    assert number > 20
    assert world.query("SELECT DISTINCT version FROM exhibits") == [(number + 1,)]
    assert not find_gaps(world)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_what_an_import_writes_beside_the_job_is_tagged_or_reported(
    world: World, chunk_rows: Chunks, steps: int
) -> None:
    world.run(numbered(1, 4))
    chunk_rows(2)
    running = world.start(numbered(5, 10))
    *chunks, last = world.chunk_messages()
    # The second chunk is written first: ids and lines are in different orders.
    assert world.import_chunk(chunks[1])
    job_id = request_job({"withoutTag": "other"}, add=("New",))
    (message,) = world.chunk_messages()
    for _ in range(steps):
        run.take_step(TaggingMessage.read(message), is_last=False)
    assert world.import_chunk(chunks[0])
    assert world.import_chunk(message)
    done = finish_job(world, job_id)
    assert done.tagged + (done.remaining or 0) == 8
    assert len(tagged_with(world, "New")) == done.tagged == 6
    assert done.imports_beside == [running]
    assert world.import_chunk(last)
    again = finish_job(world, request_job({"withoutTag": "New"}, add=("New",)))
    assert (counts(again), again.imports_beside) == (("completed", 4, 4, 0, 0), [])
    assert tagged_with(world, "New") == TEN


def test_the_job_keeps_its_tag_when_the_import_that_added_it_completes(world: World) -> None:
    world.run(numbered(1, 7))
    import_id = world.start(load_file("B-1,one,hot"))
    (chunk,) = world.chunk_messages()
    world.query(
        "INSERT INTO tags (case_id, name, import_id, line_no) SELECT case_id, 'hot', id, 2 FROM imports WHERE id = :id",
        id=import_id,
    )
    job_id = request_job({}, add=("HOT",))
    (message,) = world.chunk_messages()
    world.give_up(chunk)
    complete_imports()
    assert world.query("SELECT name, import_id, line_no, version FROM tags") == [("hot", None, None, 2)]
    assert world.import_chunk(message)
    assert counts(finish_job(world, job_id)) == ("completed", 7, 7, 0, 0)


@pytest.mark.parametrize("when", ["before", "between", "after"])
def test_the_undo_of_an_import_keeps_what_the_job_states(world: World, when: str) -> None:
    world.run(numbered(1, 7))
    overlay = world.run(load_file("A-01,one,hot", "A-07,one,hot"), mode="overlay")
    job_id = request_job({}, add=("hot",))
    (message,) = world.chunk_messages()
    if when == "before":
        undo(world, overlay)
    run.take_step(TaggingMessage.read(message), is_last=False)
    run.take_step(TaggingMessage.read(message), is_last=False)
    if when == "between":
        undo(world, overlay)
    assert world.import_chunk(message)
    assert finish_job(world, job_id).remaining == 0
    if when == "after":
        undo(world, overlay)
    assert tagged_with(world, "hot") == TEN[:7]
    assert not find_gaps(world)


def test_a_document_that_an_undo_removed_is_left_out_and_a_tagged_one_stays(world: World) -> None:
    world.run(numbered(1, 4))
    second = world.run(numbered(5, 10))
    job_id = request_job({}, add=("New",))
    (message,) = world.chunk_messages()
    for _ in range(4):
        run.take_step(TaggingMessage.read(message), is_last=False)
    tagged = len(tagged_with(world, "New"))
    assert 4 < tagged < 10
    undo(world, second)
    assert world.import_chunk(message)
    assert counts(finish_job(world, job_id)) == ("completed", tagged, tagged, 0, 0)
    assert tagged_with(world, "New") == TEN[:tagged]


def test_an_undo_that_begins_and_ends_while_the_job_counts_is_reported(world: World) -> None:
    """Its import ended before; the document that it restores matches, and its place is passed."""
    world.run(numbered(1, 7))
    overlay = world.run(load_file("A-01,two,"), mode="overlay")
    job_id = request_job({"title": "one"}, add=("New",))
    (message,) = world.chunk_messages()
    while get_job(CALLER, job_id).status is not TaggingJobStatus.COUNTING:
        run.take_step(TaggingMessage.read(message), is_last=False)
    while not world.query("SELECT id FROM tagging_jobs WHERE line_no > 2"):
        run.take_step(TaggingMessage.read(message), is_last=False)
    undo(world, overlay)
    assert world.import_chunk(message)
    done = finish_job(world, job_id)
    assert (done.remaining, done.imports_beside) == (0, [overlay])
    assert "A-01" not in tagged_with(world, "New")


def test_what_a_user_takes_off_while_the_job_runs_stays_off_and_is_reported(world: World) -> None:
    world.run(numbered(1, 7))
    job_id = request_job({}, add=("New",))
    (message,) = world.chunk_messages()
    for _ in range(2):
        run.take_step(TaggingMessage.read(message), is_last=False)
    first = world.query("SELECT MIN(id) FROM exhibits")[0][0]
    with session() as transaction:
        remove_taggings(transaction, CALLER, TaggingRequest.model_validate({"exhibitIds": [first], "tags": ["New"]}))
    assert world.import_chunk(message)
    assert counts(finish_job(world, job_id)) == ("completed", 7, 7, 0, 1)
    assert tagged_with(world, "New") == TEN[1:7]


def test_a_cancelled_job_stops_and_one_that_fails_for_good_says_so(world: World) -> None:
    world.run(numbered(1, 7))
    cancelled, failed = request_job({}, add=("One",)), request_job({}, add=("Two",))
    messages = world.chunk_messages()
    for message in messages:
        run.take_step(TaggingMessage.read(message), is_last=False)
        run.take_step(TaggingMessage.read(message), is_last=False)
    for _ in range(2):
        with session() as transaction:
            assert cancel_job(transaction, CALLER, cancelled).status is TaggingJobStatus.CANCELLED
    for redrive in (0, 1):
        assert call(handle_failed_chunk.lambda_handler, {**messages[1], "redrive": redrive})
    for job_id, status in ((cancelled, "cancelled"), (failed, "failed")):
        assert counts(finish_job(world, job_id))[:2] == (status, 3)
    assert len(tagged_with(world, "One")) == len(tagged_with(world, "Two")) == 3
    with session() as transaction, pytest.raises(WrongStateError, match="failed"):
        cancel_job(transaction, CALLER, failed)
    with session() as transaction, pytest.raises(NotFoundError):
        cancel_job(transaction, STRANGER, failed)


def test_a_message_of_a_request_that_did_not_commit_has_no_effect(world: World) -> None:
    world.run(numbered(1, 2))
    body = NewTaggingJob.model_validate({"case": "Case", "query": {}, "add": ["New"]})
    with session() as transaction:
        create_job(transaction, CALLER, body)
        transaction.rollback()
    assert [world.import_chunk(message) for message in world.chunk_messages()] == [True]
    assert world.query("SELECT COUNT(*) FROM taggings") == [(0,)]


def test_a_tag_cannot_be_added_and_removed(world: World) -> None:
    world.run(numbered(1, 2))
    with pytest.raises(InvalidInputError, match="in add and in remove"):
        request_job({}, add=("hot",), remove=("HOT",))


def test_a_job_tags_more_than_one_search_counts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shell.exhibits.search.MAX_SEARCHED", 3)
    world.run(numbered(1, 7))
    done = finish_job(world, request_job({"title": "one"}, add=("New",)))
    assert (done.expected, *counts(done)) == (None, "completed", 7, 7, 0, 0)


def test_all_but_some_are_tagged_and_what_is_left_out_does_not_remain(world: World) -> None:
    world.run(numbered(1, 10))
    left_out = [row[0] for row in world.query("SELECT id FROM exhibits WHERE control_number IN ('A-02', 'A-09')")]
    job_id = request_job({"exceptIds": left_out}, add=("New",))
    assert get_job(CALLER, job_id).expected == 8
    assert counts(finish_job(world, job_id, times=2)) == ("completed", 8, 8, 0, 0)
    assert tagged_with(world, "New") == [number for number in TEN if number not in ("A-02", "A-09")]


def test_a_job_waits_between_two_turns_while_its_tenant_is_suspended(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starts, "POSTPONED_S", 0)
    world.run(numbered(1, 10))
    job_id = request_job({}, add=("New",))
    for message in world.chunk_messages():
        assert world.import_chunk(message)
    world.query("REPLACE INTO tenants (tenant_id, status) VALUES (:tenant, 'suspended')", tenant=CALLER.tenant_id)
    before = tagged_with(world, "New")
    for _ in range(10):
        (message,) = world.chunk_messages()
        assert world.import_chunk(message)
    assert 0 < len(before) == len(tagged_with(world, "New")) < 10
    world.query("UPDATE tenants SET status = 'active'")
    assert finish_job(world, job_id).tagged == 10
