"""An undo that fails in part, or is given up, keeps what is done and is taken up again where it stopped."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, text

import complete_import
import handle_failed_chunk
import handle_failed_import
import import_chunk
import start_import
from core.contracts.exhibits import ExhibitChange
from core.contracts.imports.undos import Undo
from core.errors import QueueUnavailableError
from core.imports.report_files import build_kept_key
from shell.aws import clients
from shell.exhibits.commands import patch_exhibit
from shell.imports.undo import parts, report
from shell.imports.undo.queries import get_undo
from shell.work.messages import ImportUndoneMessage
from tests.integration.imports.conftest import Chunks, Setting
from tests.integration.imports.import_requests import CALLER, committed, events
from tests.support.application.driver import Message, World, call, completion_messages, request_messages
from tests.support.exhibits.history import find_gaps
from tests.support.undo.runs import CaseDump, begin_undo, counts, dump_documents, end_undo, request_undo, undo

BASE = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\nA-3,three\r\n"
SECOND = b"Control Number,Title\r\nA-1,uno\r\nA-2,dos\r\nA-3,tres\r\n"
PARTS = "SELECT status FROM import_undo_parts ORDER BY undo_no, chunk_no"
DAMAGE = "UPDATE exhibit_changes SET changes = REVERSE(changes) WHERE line_no = 3"


@pytest.fixture(autouse=True)
def _no_delay(setting: Setting, chunk_rows: Chunks) -> None:
    """Messages that are sent back come at once; every row is a chunk."""
    setting("REDRIVE_DELAY_SECONDS", "0")
    chunk_rows(1)


@pytest.fixture
def before(world: World) -> CaseDump:
    """What the case holds before the overlay."""
    world.run(BASE)
    return dump_documents(world)


@pytest.fixture
def overlaid(world: World, before: CaseDump) -> int:
    """An overlay of three rows, each a chunk."""
    assert before["exhibits"]
    return world.run(SECOND, mode="overlay")


def statuses(world: World) -> list[str]:
    return [row[0] for row in world.query(PARTS)]


def status_of(world: World, import_id: int) -> str:
    return str(world.query("SELECT status FROM imports WHERE id = :id", id=import_id)[0][0])


def fail_second(world: World, import_id: int) -> Undo:
    """Undo the import; the part of its second line fails in every attempt, for its history is damaged."""
    world.query(DAMAGE)
    for message in begin_undo(world, import_id):
        if message["chunk_no"] != 2:
            assert world.import_chunk(message)
            continue
        assert not world.import_chunk(message)
        world.give_up(message)
        (sent_back,) = world.chunk_messages()
        assert sent_back == {**message, "redrive": 1}
    end_undo()
    return get_undo(CALLER, import_id)


def deliver_dead_letter(message: Message, redrive: int = 1) -> bool:
    """Hand a request, or the end, of an undo to the function behind the dead-letter queue."""
    return call(handle_failed_import.lambda_handler, {**message, "redrive": redrive})


def test_a_part_that_fails_in_every_attempt_ends_the_undo_as_failed(world: World, overlaid: int) -> None:
    failed = fail_second(world, overlaid)
    assert counts(failed) == ("undo_failed", 2, 0, 0, 0)
    assert statuses(world) == ["done", "failed", "done"]
    assert status_of(world, overlaid) == "undo_failed"
    titles = [row[0] for row in world.query("SELECT title FROM exhibits ORDER BY id")]
    assert titles == ["one", "dos", "three"]
    assert [each["status"] for each in events(world, "import.undone")] == ["undo_failed"]


def test_undoing_again_does_only_the_part_that_failed(world: World, overlaid: int, before: CaseDump) -> None:
    fail_second(world, overlaid)
    world.query(DAMAGE)
    (message,) = begin_undo(world, overlaid)
    assert (message["chunk_no"], message["undo_no"], message["generation"]) == (2, 1, 2)
    assert get_undo(CALLER, overlaid).parts_left == 1
    assert world.import_chunk(message)
    end_undo()
    assert counts(get_undo(CALLER, overlaid)) == ("undone", 3, 0, 0, 0)
    assert dump_documents(world) == before
    assert find_gaps(world) == []
    versions = world.query("SELECT DISTINCT version FROM exhibits")
    assert versions == [(3,)]
    assert [each["status"] for each in events(world, "import.undone")] == ["undo_failed", "undone"]


def test_a_report_that_is_written_late_is_not_that_of_the_retry(
    world: World, overlaid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker is paused after it has written the file; the undo is retried, and keeps something, meanwhile."""
    [(exhibit, version)] = world.query("SELECT id, version FROM exhibits WHERE control_number = 'A-2'")
    committed(patch_exhibit, CALLER, exhibit, {version}, ExhibitChange(title="mine"))
    fail_second(world, overlaid)
    world.query(DAMAGE)
    mark = report._mark_written

    def retried_before(*place: int) -> None:
        assert all(map(world.import_chunk, begin_undo(world, overlaid)))
        end_undo()
        mark(*place)

    first, *_ = events(world, "import.undone")
    with monkeypatch.context() as patch:
        patch.setattr(report, "_mark_written", retried_before)
        report.write_undo_report(ImportUndoneMessage.read(first))
    assert get_undo(CALLER, overlaid).report is None
    report.write_undo_report(ImportUndoneMessage.read(events(world, "import.undone")[-1]))
    assert get_undo(CALLER, overlaid).report is not None
    key = build_kept_key(overlaid, 1, 2)
    assert b"A-2" in clients.s3().get_object(Bucket=world.bucket, Key=key)["Body"].read()


def test_a_part_that_came_back_from_the_dead_letters_is_done(world: World, overlaid: int, before: CaseDump) -> None:
    for message in begin_undo(world, overlaid):
        assert call(handle_failed_chunk.lambda_handler, message)
    assert statuses(world) == ["pending"] * 3
    for message in world.chunk_messages():
        assert world.import_chunk(message)
    end_undo()
    assert dump_documents(world) == before


def test_a_dead_letter_of_a_part_that_is_done_changes_nothing(world: World, overlaid: int, before: CaseDump) -> None:
    messages = begin_undo(world, overlaid)
    for message in messages:
        assert world.import_chunk(message)
        world.give_up(message)
    end_undo()
    assert statuses(world) == ["done"] * 3
    for message in messages:
        world.give_up(message)
    assert status_of(world, overlaid) == "undone"
    assert dump_documents(world) == before


def test_a_part_that_a_worker_holds_is_not_given_up(world: World, overlaid: int, other: Connection) -> None:
    message, *_ = begin_undo(world, overlaid)
    other.execute(text("SELECT status FROM import_undo_parts WHERE chunk_no = 1 FOR UPDATE"))
    assert not call(handle_failed_chunk.lambda_handler, {**message, "redrive": 1})
    other.rollback()
    assert statuses(world) == ["pending"] * 3


def test_a_dead_letter_from_before_a_retry_gives_no_part_up(world: World, overlaid: int) -> None:
    fail_second(world, overlaid)
    (message,) = begin_undo(world, overlaid)
    assert call(handle_failed_chunk.lambda_handler, {**message, "generation": 1, "redrive": 1})
    assert statuses(world)[1] == "pending"
    assert call(handle_failed_chunk.lambda_handler, {**message, "redrive": 1})
    assert statuses(world)[1] == "failed"
    end_undo()
    assert status_of(world, overlaid) == "undo_failed"


def test_a_request_that_fails_is_sent_back_once_and_then_given_up(
    world: World, overlaid: int, before: CaseDump
) -> None:
    request_undo(overlaid)
    (request,) = request_messages()
    assert deliver_dead_letter(request, 0)
    (again,) = request_messages()
    assert again == {**request, "redrive": 1}
    assert status_of(world, overlaid) == "undoing"
    assert deliver_dead_letter(again)
    assert status_of(world, overlaid) == "undo_failed"
    # The message may be delivered after all.
    assert call(start_import.lambda_handler, again)
    assert (statuses(world), world.chunk_messages()) == ([], [])
    assert undo(world, overlaid).status.value == "undone"
    assert dump_documents(world) == before


def test_a_dead_letter_of_the_request_resumes_an_undo_that_runs(world: World, overlaid: int, before: CaseDump) -> None:
    request_undo(overlaid)
    (request,) = request_messages()
    assert call(start_import.lambda_handler, request)
    done, *_ = world.chunk_messages()
    assert world.import_chunk(done)
    assert deliver_dead_letter(request)
    assert status_of(world, overlaid) == "undoing"
    (again,) = request_messages()
    assert call(start_import.lambda_handler, again)
    assert all(map(world.import_chunk, world.chunk_messages()))
    end_undo()
    assert dump_documents(world) == before


@pytest.mark.parametrize("which", ["request", "end"])
def test_a_dead_letter_from_before_a_retry_does_not_end_the_undo(
    world: World, overlaid: int, before: CaseDump, which: str
) -> None:
    request_undo(overlaid)
    (late,) = request_messages()
    if which == "end":
        assert call(start_import.lambda_handler, late)
        (late,) = completion_messages()
    assert deliver_dead_letter(late)
    assert status_of(world, overlaid) == "undo_failed"
    world.chunk_messages()
    messages = begin_undo(world, overlaid)
    assert deliver_dead_letter(late)
    assert status_of(world, overlaid) == "undoing"
    assert all(map(world.import_chunk, messages))
    end_undo()
    assert status_of(world, overlaid) == "undone"
    assert dump_documents(world) == before


def test_an_end_that_fails_is_given_up_and_can_be_undone_again(
    world: World, overlaid: int, before: CaseDump, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ValueError

    request_undo(overlaid)
    (request,) = request_messages()
    assert call(start_import.lambda_handler, request)
    completion_messages()
    for message in world.chunk_messages():
        assert call(import_chunk.lambda_handler, message)
    (end,) = completion_messages()
    with monkeypatch.context() as patch:
        patch.setattr("shell.imports.undo.ending._drop_names", broken)
        assert not call(complete_import.lambda_handler, end)
    assert deliver_dead_letter(end, 0)
    (again,) = completion_messages()
    assert deliver_dead_letter(again)
    assert status_of(world, overlaid) == "undo_failed"
    assert statuses(world) == ["done"] * 3
    assert undo(world, overlaid).status.value == "undone"
    assert dump_documents(world) == before


def test_a_part_in_the_hands_of_a_worker_does_not_commit_after_the_undo_was_given_up(
    world: World, overlaid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = dump_documents(world)
    request_undo(overlaid)
    (request,) = request_messages()
    assert call(start_import.lambda_handler, request)
    (end,) = completion_messages()
    complete = parts.complete_part

    def given_up_before(*arguments: Any) -> None:
        assert deliver_dead_letter(end)
        complete(*arguments)

    monkeypatch.setattr(parts, "complete_part", given_up_before)
    message, *_ = world.chunk_messages()
    assert world.import_chunk(message)
    assert statuses(world) == ["pending"] * 3
    assert dump_documents(world) == written


def test_an_undo_whose_end_cannot_be_requested_does_its_last_part_again(
    world: World, overlaid: int, before: CaseDump, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise QueueUnavailableError()

    *others, last = begin_undo(world, overlaid)
    assert all(map(world.import_chunk, others))
    with monkeypatch.context() as patch:
        patch.setattr(parts, "send_messages", away)
        assert not world.import_chunk(last)
    assert statuses(world) == ["done", "done", "pending"]
    assert world.import_chunk(last)
    end_undo()
    assert dump_documents(world) == before
    assert find_gaps(world) == []
