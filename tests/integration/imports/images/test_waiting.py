"""Images that come after another import: they begin when it has completed, and never before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.errors import QueueUnavailableError, WrongStateError
from shell.imports.commands import cancel_import, retry_import
from shell.imports.completing.completion import complete_import, fail_completion
from shell.imports.state.records import load_current_import
from tests.integration.imports.images.image_imports import deliver_requests, make_waiting, status
from tests.integration.imports.import_requests import CALLER, committed
from tests.support.application.driver import Message, World, complete_imports, request_messages
from tests.support.imports.image_load_files import DAT, OPT, page_counts, results
from tests.support.undo.runs import undo

End = Callable[[World, int, list[Message]], None]


def complete(world: World, rows: int, chunks: list[Message]) -> None:
    for chunk in chunks:
        assert world.import_chunk(chunk)


def reject(world: World, rows: int, chunks: list[Message]) -> None:
    for chunk in chunks:
        world.give_up(chunk)


def cancel(world: World, rows: int, chunks: list[Message]) -> None:
    committed(cancel_import, CALLER, rows)


def fail(world: World, rows: int, chunks: list[Message]) -> None:
    import_record = load_current_import(rows)
    assert import_record is not None
    world.query("UPDATE imports SET chunks_left = 0 WHERE id = :i", i=rows)
    assert fail_completion(import_record, 1)
    world.query("UPDATE imports SET chunks_left = 1 WHERE id = :i", i=rows)


@pytest.mark.parametrize("before", ["waiting", "blocked", "cancelled", "completed"])
@pytest.mark.parametrize(
    ("end", "ended", "goes_on"),
    [
        (complete, "completed", True),
        (reject, "completed_with_rejections", True),
        (cancel, "cancelled", False),
        (fail, "failed", False),
    ],
)
def test_the_end_of_the_rows_decides_about_images_that_wait(
    world: World, end: End, ended: str, goes_on: bool, before: str
) -> None:
    rows = world.start(DAT)
    chunks = world.chunk_messages()
    images = make_waiting(world, rows, OPT, before)
    end(world, rows, chunks)
    assert status(world, rows) == ended
    waits = before in ("waiting", "blocked")
    expected = ("splitting" if goes_on else "blocked") if waits else before
    assert status(world, images) == expected
    sent = [message["import_id"] for message in request_messages()]
    assert sent == ([images] if goes_on and waits else [])


def test_images_wait_for_the_rows_and_begin_by_themselves(world: World) -> None:
    rows = world.start(DAT)
    chunks = world.chunk_messages()
    images = make_waiting(world, rows, OPT)
    complete(world, rows, chunks)
    deliver_requests(world)
    assert results(world, images) == ("completed", 3, 3, 0, 0, 0)
    assert page_counts(world) == {"A-1": 2, "A-2": 1, "A-3": 3}


def test_rows_are_not_retried_beside_their_images(world: World) -> None:
    rows = world.start(DAT)
    [chunk] = world.chunk_messages()
    images = make_waiting(world, rows, OPT)
    world.give_up(chunk)
    assert (status(world, rows), status(world, images)) == ("completed_with_rejections", "splitting")
    with pytest.raises(WrongStateError, match=f"Import {images} needs the rows of this one"):
        committed(retry_import, CALLER, rows)
    deliver_requests(world)
    committed(retry_import, CALLER, rows)
    assert status(world, rows) == "running"


def test_a_request_that_the_queue_rejects_leaves_the_rows_uncompleted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = world.start(DAT)
    [chunk] = world.chunk_messages()
    images = make_waiting(world, rows, OPT)

    def refuse(*_: object, **__: object) -> None:
        raise QueueUnavailableError()

    with monkeypatch.context() as patched:
        patched.setattr("shell.imports.state.dependents.send_messages", refuse)
        with pytest.raises(AssertionError):
            world.import_chunk(chunk)
    assert (status(world, rows), status(world, images)) == ("running", "waiting")
    complete_import(rows, 1)
    assert (status(world, rows), status(world, images)) == ("completed", "splitting")


def test_images_that_were_blocked_go_on_after_a_retry_of_the_rows(world: World) -> None:
    rows = world.start(DAT)
    chunks = world.chunk_messages()
    images = make_waiting(world, rows, OPT)
    cancel(world, rows, chunks)
    with pytest.raises(WrongStateError, match=f"Import {rows}, which .* has the status cancelled; retry"):
        committed(retry_import, CALLER, images)
    committed(retry_import, CALLER, rows)
    # While the other one is under way it waits.
    assert committed(retry_import, CALLER, images).status.value == "waiting"
    deliver_requests(world)
    deliver_requests(world)
    assert status(world, images) == "completed"


def test_images_that_were_cancelled_while_they_waited_can_be_retried(world: World) -> None:
    rows = world.run(DAT)
    images = make_waiting(world, rows, OPT)
    committed(cancel_import, CALLER, images)
    committed(retry_import, CALLER, images)
    deliver_requests(world)
    assert status(world, images) == "completed"


def test_images_of_rows_that_were_undone_do_not_begin(world: World) -> None:
    rows = world.run(DAT)
    images = make_waiting(world, rows, OPT, "blocked")
    undo(world, rows)
    with pytest.raises(WrongStateError, match="the status undone; import its file again"):
        committed(retry_import, CALLER, images)


def test_the_check_of_images_comes_after_that_of_the_rows(world: World) -> None:
    rows = world.start(DAT, dry_run=True)
    chunks = world.chunk_messages()
    images = make_waiting(world, rows, OPT, dry_run=True)
    world.query("UPDATE imports SET phase = 'check' WHERE id = :i", i=images)
    world.query("DELETE FROM import_checks WHERE import_id = :i", i=images)
    complete(world, rows, chunks)
    deliver_requests(world)
    complete_imports()
    assert (status(world, rows), status(world, images)) == ("checked", "checked")
    # The documents are those that the rows will create.
    assert world.query("SELECT would_import, would_reject FROM import_checks WHERE import_id = :i", i=images) == [
        (3, 0)
    ]
