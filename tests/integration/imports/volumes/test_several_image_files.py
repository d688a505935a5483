"""Several image load files of one volume: imported in turn after the data file, compared and reconciled together."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

import pytest
from sqlalchemy import text

import complete_import
import import_chunk
import start_import
from core.errors import WrongStateError
from shell.imports.commands import cancel_import, retry_import
from shell.imports.queries import get_import
from shell.imports.state import dependents
from tests.integration.imports.images.image_imports import status
from tests.integration.imports.import_requests import CALLER, committed, until_waiting
from tests.integration.imports.volumes.several_files import (
    EXPECTED,
    begin,
    complete,
    everything,
    is_current,
    run,
    without_images,
    work,
)
from tests.support.application.driver import Message, World, call, completion_messages, request_messages
from tests.support.faults.step_hooks import KilledError, at_every_step
from tests.support.imports.image_load_files import page_counts
from tests.support.undo.runs import undo


@pytest.mark.parametrize("check", [False, True])
def test_all_image_load_files_are_imported_and_compared_together(world: World, check: bool) -> None:
    ids = run(world, check=check)
    ended = "checked" if check else "completed"
    assert [status(world, each) for each in ids] == [ended] * 4
    table = "import_check_findings" if check else "import_warnings"
    assert everything(world, ids, table) == EXPECTED
    assert [without_images(each) for each in ids[1:]] == [None, None, 1]
    assert [is_current(each) for each in ids[1:]] == [True] * 3
    assert page_counts(world) == ({} if check else {"A1": 2, "A3": 1, "A5": 2})


def test_one_is_under_way_at_a_time_in_the_order_of_their_paths(world: World) -> None:
    ids = begin(world)
    seen = [[status(world, each) for each in ids]]

    def watch(message: Message) -> None:
        complete(message)
        seen.append([status(world, each) for each in ids])

    work(world, watch)
    done = "completed"
    assert seen == [
        ["running", "waiting", "waiting", "waiting"],
        [done, "splitting", "waiting", "waiting"],
        [done, done, "splitting", "waiting"],
        [done, done, done, "splitting"],
        # Then each is compared with the two others.
        [done, "running", "running", "running"],
        [done, done, "running", "running"],
        [done, done, done, "running"],
        [done] * 4,
    ]
    assert [get_import(CALLER, each).generation for each in ids] == [1, 2, 2, 2]


HANDLERS = {
    "splitting": start_import.lambda_handler,
    "running": import_chunk.lambda_handler,
    "completing": complete_import.lambda_handler,
}


def until(world: World, import_id: int, point: str) -> list[Message]:
    """Work until an image load file is at a point; return the messages that were not delivered."""
    held: list[Message] = []
    while point != "waiting":
        for message in request_messages():
            if message["import_id"] == import_id and point == "splitting":
                return [message]
            assert call(start_import.lambda_handler, message)
        for chunk in world.chunk_messages():
            if chunk["import_id"] == import_id and point == "running":
                return [chunk]
            assert call(import_chunk.lambda_handler, chunk)
        for message in completion_messages():
            if message["import_id"] == import_id:
                return [message]
            complete(message)
    return held


def list_without_images(world: World, ids: Sequence[int]) -> list[tuple[int, object]]:
    """Which import warns of which document without pages, by place."""
    found = enumerate(everything(world, ids), start=1)
    return [(place, each[2]) for place, rows in found for each in rows if each[1] == "NO_IMAGES"]


# If one of the files is not imported.
WITHOUT = {1: [(3, "A1"), (3, "A6")], 2: [(3, "A3"), (3, "A6")], 3: [(2, "A5"), (2, "A6")]}


@pytest.mark.parametrize("point", ["waiting", "splitting", "running", "completing"])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_the_others_go_on_and_are_compared_without_one_that_is_cancelled(world: World, place: int, point: str) -> None:
    ids = begin(world)
    late = until(world, ids[place], point)
    committed(cancel_import, CALLER, ids[place])
    work(world)
    for message in late:
        assert call(HANDLERS[point], message)
    assert [status(world, each) for each in ids] == ["cancelled" if each == ids[place] else "completed" for each in ids]
    if point != "completing":
        assert list_without_images(world, ids) == WITHOUT[place]
    committed(retry_import, CALLER, ids[place])
    others = [each for each in ids[1:] if each != ids[place]]
    assert not any(is_current(each) for each in others)
    work(world)
    assert [status(world, each) for each in ids] == ["completed"] * 4
    assert everything(world, ids) == EXPECTED
    assert all(is_current(each) for each in ids[1:])


def test_a_retry_of_one_waits_for_another_that_is_under_way(world: World) -> None:
    ids = begin(world)
    until(world, ids[1], "splitting")
    committed(cancel_import, CALLER, ids[1])
    assert [status(world, each) for each in ids[1:]] == ["cancelled", "splitting", "waiting"]
    committed(retry_import, CALLER, ids[1])
    assert [status(world, each) for each in ids[1:]] == ["waiting", "splitting", "waiting"]
    work(world)
    assert [status(world, each) for each in ids] == ["completed"] * 4
    assert everything(world, ids) == EXPECTED


def give_up(world: World, import_id: int) -> None:
    """Work until nothing is left; the first chunk of an import fails in every attempt."""
    is_first = True
    while True:
        for message in request_messages():
            assert call(start_import.lambda_handler, message)
        chunks = world.chunk_messages()
        for chunk in chunks:
            if chunk["import_id"] == import_id and is_first:
                is_first = False
                world.give_up(chunk)
            else:
                assert call(import_chunk.lambda_handler, chunk)
        completions = completion_messages()
        for message in completions:
            complete(message)
        if not (chunks or completions):
            return


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_retry_of_any_file_compares_all_again(world: World, place: int, check: bool) -> None:
    ids = begin(world, check=check)
    give_up(world, ids[place])
    before = [get_import(CALLER, each).generation for each in ids]
    committed(retry_import, CALLER, ids[place])
    assert not any(is_current(each) for each in ids[1:])
    work(world)
    after = [get_import(CALLER, each).generation for each in ids]
    # The chunk that failed; then all image load files are completed again.
    again = [int(each == 0 and place == 0) or int(each > 0) + int(each == place) for each in range(4)]
    assert [new - old for old, new in zip(before, after, strict=True)] == again
    assert all(is_current(each) for each in ids[1:])
    if place and not check:
        assert everything(world, ids) == EXPECTED


def test_an_undo_of_one_compares_the_others_again(world: World) -> None:
    ids = run(world)
    assert undo(world, ids[3]).status == "undone"
    work(world)
    assert list_without_images(world, ids[:3]) == WITHOUT[3]
    assert [is_current(each) for each in ids[1:]] == [True, True, False]
    with pytest.raises(WrongStateError, match="added the images of these documents"):
        undo(world, ids[0])
    for each in (ids[1], ids[2], ids[0]):
        assert undo(world, each).status == "undone"
        work(world)
    assert world.query("SELECT COUNT(*) FROM exhibits")[0][0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True])
def test_a_worker_that_is_killed_at_any_step_of_a_completion_leaves_the_same(world: World, check: bool) -> None:
    def deliver(message: Message) -> None:
        for number in count(1):

            def kill(step: int, last: int = number) -> None:
                if step == last:
                    raise KilledError

            try:
                with at_every_step(world, before=kill, after=kill if number % 2 else lambda _: None):
                    complete(message)
            except KilledError:
                continue
            return

    ids = begin(world, check=check)
    work(world, deliver)
    ended = "checked" if check else "completed"
    assert [status(world, each) for each in ids] == [ended] * 4
    if not check:
        assert everything(world, ids) == EXPECTED
    assert all(is_current(each) for each in ids[1:])


@pytest.mark.parametrize("is_locked", [True, False])
def test_an_end_and_a_retry_at_once_leave_none_that_waits_for_ever(
    world: World, is_locked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control does not lock the data file's import: the retry reads that the other one is under way."""
    ids = begin(world)
    committed(cancel_import, CALLER, ids[3])
    late: list[Message] = []

    def hold(message: Message) -> None:
        """Deliver all but the end that is the last, after which nothing is completed again."""
        is_last = (message["import_id"], message["generation"]) == (ids[2], 2)
        late.append(message) if is_last else complete(message)

    work(world, hold)
    if not is_locked:
        unlocked = text("SELECT status FROM imports WHERE id = :import_id")
        monkeypatch.setattr(dependents, "_LOCK_BEFORE", unlocked)
    decided, go_on = Barrier(2), Barrier(2)

    def pause(*_: object) -> None:
        decided.wait(60)
        go_on.wait(60)

    monkeypatch.setattr("shell.imports.completing.completion.reopen_images", pause)
    with ThreadPoolExecutor(2) as threads:
        ended = threads.submit(complete, late[0])
        decided.wait(60)
        retried = threads.submit(committed, retry_import, CALLER, ids[3])
        until_waiting(world)
        go_on.wait(60)
        ended.result(60)
        retried.result(60)
    monkeypatch.undo()
    work(world)
    assert status(world, ids[3]) == ("completed" if is_locked else "waiting")
