"""An undo and the other imports of its case exclude each other, whichever begins first."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

import start_import
from core.caller import Caller
from core.contracts.imports.checks import RunRequest
from core.contracts.imports.undos import UndoRequest
from core.errors import WrongStateError
from shell.db.session import session
from shell.imports.queries import get_import
from shell.imports.splitting import registration
from shell.imports.steps import run_import
from shell.imports.undo.commands import undo_import
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import CALLER, cancel, committed, finish, retry, until_waiting
from tests.support.application.driver import World, call, complete_imports, request_messages
from tests.support.application.handler_processes import Workers
from tests.support.undo.runs import begin_undo, dump_documents, end_undo, request_undo, undo

BASE = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\n"
OTHER = b"Control Number,Title\r\nA-1,one\r\nB-1,new\r\n"
LOCK = "shell.exhibits.case_locks._LOCK"
STATUSES = "SELECT status FROM imports ORDER BY id"


@pytest.fixture
def created(world: World) -> int:
    """An import that created two exhibits."""
    return world.run(BASE)


@pytest.fixture
def unlocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: a worker that looks at the imports of a case does not lock it."""
    monkeypatch.setattr(LOCK, text("SELECT id FROM cases WHERE id = :case_id"))


def statuses(world: World) -> list[str]:
    return [row[0] for row in world.query(STATUSES)]


def undoing(transaction: Session, import_id: int, caller: Caller = CALLER) -> Any:
    return undo_import(transaction, caller, import_id, UndoRequest())


def begin_during(work: Callable[[], object], until: Callable[[], None], requested: int) -> Future[object]:
    """Request an undo; before it commits, do the work in another thread, until it waits; return what that got."""
    with ThreadPoolExecutor(1) as thread:
        with session() as requesting:
            undoing(requesting, requested)
            begun = thread.submit(work)
            until()
        begun.exception()
    return begun


def cancelled(world: World, chunk_rows: Chunks, data: bytes) -> int:
    """An import that was cancelled after its first chunk of one row."""
    chunk_rows(1)
    import_id = world.start(data)
    first, *_ = world.chunk_messages()
    assert world.import_chunk(first)
    cancel(import_id)
    return import_id


def checked(world: World, data: bytes) -> int:
    """An import that was checked, and not run."""
    import_id = world.start(data, dry_run=True)
    for message in world.chunk_messages():
        assert world.import_chunk(message)
    complete_imports()
    return import_id


def test_an_import_that_waited_for_the_request_of_an_undo_begins_after_it(
    world: World, workers: Workers, created: int
) -> None:
    """Its rows are compared with what the undo leaves: none is counted unchanged."""
    upload = world.upload(OTHER)
    begun = begin_during(lambda: workers.deliver("start_import", [upload]), lambda: until_waiting(world), created)
    assert begun.result() == [False]
    assert statuses(world) == ["undoing", "splitting"]
    [(newest,)] = world.query("SELECT MAX(id) FROM imports")
    assert [get_import(CALLER, each).waits_for_undo_of for each in (created, newest)] == [None, created]
    assert world.chunk_messages() == []
    finish(world)
    end_undo()
    assert statuses(world) == ["undone", "splitting"]
    assert call(start_import.lambda_handler, upload)
    finish(world)
    assert get_import(CALLER, newest).waits_for_undo_of is None
    assert world.query("SELECT status, imported, unchanged FROM imports ORDER BY id DESC LIMIT 1") == [
        ("completed", 2, 0)
    ]


def test_an_import_that_waits_for_an_undo_does_not_read_its_file(
    world: World, created: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_undo(world, created)
    upload = world.upload(OTHER)
    splits: list[object] = []
    monkeypatch.setattr("shell.imports.start.split_file", lambda *given: splits.append(given))
    for _ in range(2):
        assert not call(start_import.lambda_handler, upload)
    assert (statuses(world), splits) == (["undoing", "splitting"], [])


@pytest.mark.parametrize("kind", ["retry", "run"])
def test_who_waited_for_the_request_of_an_undo_is_refused(
    world: World, chunk_rows: Chunks, created: int, kind: str
) -> None:
    accepting = RunRequest.model_validate({"acceptRejections": True})
    begins: dict[str, Callable[[int], object]] = {
        "retry": retry,
        "run": lambda import_id: committed(run_import, CALLER, import_id, accepting),
    }
    other = cancelled(world, chunk_rows, OTHER) if kind == "retry" else checked(world, OTHER)
    before = statuses(world)
    begun = begin_during(lambda: begins[kind](other), lambda: until_waiting(world), created)
    with pytest.raises(WrongStateError, match=f"Import {created} of the same case is being undone; repeat this"):
        begun.result()
    assert statuses(world) == ["undoing", before[1]]
    undo_messages = request_messages()
    assert [message["import_id"] for message in undo_messages] == [created]


def request_while_registering(
    world: World, created: int, monkeypatch: pytest.MonkeyPatch, until: Callable[[Future[Any]], object]
) -> Future[Any]:
    """Start an import; while it registers its chunks, under the lock on the case, request the undo of another one."""
    register, requests = registration._insert_split, list[Future[Any]]()
    with ThreadPoolExecutor(1) as thread:

        def meanwhile(*arguments: Any) -> None:
            requests.append(thread.submit(request_undo, created))
            until(requests[0])
            register(*arguments)

        monkeypatch.setattr(registration, "_insert_split", meanwhile)
        assert call(start_import.lambda_handler, world.upload(OTHER))
    return requests[0]


def test_an_undo_that_waited_for_an_import_to_begin_is_refused(
    world: World, created: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = request_while_registering(world, created, monkeypatch, lambda _: until_waiting(world))
    with pytest.raises(WrongStateError, match="of the same case is running or being undone; undo this one when it"):
        refused.result()
    assert statuses(world) == ["completed", "running"]
    assert world.query("SELECT COUNT(*) FROM import_undos") == [(0,)]


@pytest.mark.usefixtures("unlocked")
def test_without_the_lock_on_the_case_both_begin(world: World, created: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: neither sees what the other has not committed."""
    requested = request_while_registering(world, created, monkeypatch, lambda request: request.exception())
    assert requested.result().status.value == "requested"
    assert statuses(world) == ["undoing", "running"]


def test_an_undo_beside_an_import_that_was_cancelled_is_done(world: World, chunk_rows: Chunks, created: int) -> None:
    """A worker of the cancelled import that holds rows of the other one commits nothing."""
    other = cancelled(world, chunk_rows, OTHER)
    assert undo(world, created).status.value == "undone"
    assert retry(other).status == "running"
    finish(world)
    assert [row[0] for row in world.query("SELECT control_number FROM exhibits")] == ["B-1"]


def test_a_check_does_not_keep_an_undo_back_nor_an_undo_a_check(world: World, created: int) -> None:
    import_id = world.start(OTHER, dry_run=True)
    messages = begin_undo(world, created)
    for message in messages:
        assert world.import_chunk(message)
    end_undo()
    complete_imports()
    assert statuses(world) == ["undone", "checked"]
    assert world.query("SELECT phase FROM imports WHERE id = :id", id=import_id) == [("check",)]


def test_imports_of_other_cases_do_not_wait(world: World, created: int) -> None:
    messages = begin_undo(world, created)
    assert world.query("SELECT COUNT(*) FROM imports") == [(1,)]
    other = world.run(OTHER, case="Other")
    assert world.query("SELECT status FROM imports WHERE id = :id", id=other) == [("completed",)]
    assert all(map(world.import_chunk, messages))


def test_two_imports_of_a_case_are_not_undone_at_once(world: World, created: int) -> None:
    second = world.run(OTHER)
    begun = begin_during(lambda: request_undo(second), lambda: until_waiting(world), created)
    with pytest.raises(WrongStateError, match=f"Import {created} of the same case is running or being undone"):
        begun.result()
    assert statuses(world) == ["undoing", "completed"]


def test_two_requests_at_once_are_one_undo(world: World, created: int) -> None:
    before = dump_documents(world)
    assert before["exhibits"]
    second = begin_during(lambda: request_undo(created), lambda: until_waiting(world), created)
    answer: Any = second.result()
    assert (answer.undo_no, answer.status.value) == (1, "requested")
    assert world.query("SELECT undo_no, status FROM import_undos") == [(1, "requested")]
    # The second one cannot know whether the message of the first one is lost.
    messages = request_messages()
    assert [each["task"] for each in messages] == ["undo"] * 2
    for message in messages:
        assert call(start_import.lambda_handler, message)
    parts = world.chunk_messages()
    assert len(parts) == 2
    assert all(map(world.import_chunk, parts))
    end_undo()
    assert statuses(world) == ["undone"]
    assert world.query("SELECT COUNT(*) FROM exhibit_tombstones") == [(2,)]
    assert world.query("SELECT COUNT(*) FROM outbox_events WHERE event_type = 'import.undone'") == [(1,)]


@pytest.mark.usefixtures("unlocked")
def test_two_requests_at_once_are_one_undo_without_the_lock_on_the_case(world: World, created: int) -> None:
    """The row of the import alone decides this."""
    second = begin_during(lambda: request_undo(created), lambda: until_waiting(world), created)
    answer: Any = second.result()
    assert answer.undo_no == 1
    assert world.query("SELECT undo_no, status FROM import_undos") == [(1, "requested")]


def test_an_undone_import_is_not_retried(world: World, created: int) -> None:
    undo(world, created)
    with pytest.raises(WrongStateError, match="import the file again"):
        retry(created)
