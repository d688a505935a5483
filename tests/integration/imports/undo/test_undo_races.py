"""An undo and other writers of the same exhibits, each waiting for the other at a point: every edit survives."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError

from core.contracts.exhibits import ExhibitChange
from core.contracts.taggings import TaggingRequest
from core.errors import NotFoundError, StaleVersionError
from shell.db.session import session
from shell.exhibits.commands import add_custodians, add_taggings, patch_exhibit, remove_taggings
from shell.exhibits.updates import ExhibitUpdate, lock_exhibits, read_stored_documents, update_exhibits
from tests.integration.imports.import_requests import CALLER, committed, deliver_during, until_waiting
from tests.support.application.driver import Message, World
from tests.support.application.handler_processes import Workers
from tests.support.exhibits.history import find_gaps, read_history
from tests.support.undo.runs import begin_undo, dump_documents, end_undo, kept

BASE = b"Control Number,Title,File Name,Tags,Custodian\r\nA-1,one,a.msg,hot,Smith\r\nA-2,two,b.msg,hot,Smith\r\n"
OVERLAY = b"Control Number,Title,File Name,Tags\r\nA-1,uno,x.msg,warm\r\nA-2,dos,y.msg,warm\r\n"
Write = Callable[[Session], object]
_TAGS = """
    SELECT t.name FROM taggings AS l JOIN tags AS t ON t.id = l.tag_id JOIN exhibits AS e ON e.id = l.exhibit_id
    WHERE e.control_number = 'A-1' ORDER BY 1
"""


@pytest.fixture
def created(world: World) -> int:
    """An import that created two exhibits."""
    return world.run(BASE)


@pytest.fixture
def overlaid(world: World, created: int) -> int:
    """An import that overlaid them."""
    return world.run(OVERLAY, mode="overlay")


def undo_during(world: World, workers: Workers, write: Write, import_id: int) -> str:
    """Undo an import in another process, which waits for what `write` locks in a transaction; return its status."""
    messages = begin_undo(world, import_id)
    deliver_during(world, workers, write, messages)
    return end(world, import_id)


def during_undo(world: World, workers: Workers, other: Connection, write: Write, import_id: int) -> Future[object]:
    """Undo an import in another process, and write meanwhile: it waits for the locks of the undo; return what it got.

    The undo has written everything, and waits for its own row.
    """
    messages = begin_undo(world, import_id)
    other.execute(text("SELECT import_id FROM import_undos WHERE import_id = :id FOR UPDATE"), {"id": import_id})
    with ThreadPoolExecutor(2) as threads:
        delivered = threads.submit(workers.deliver, "import_chunk", messages)
        until_waiting(world)
        written = threads.submit(committed, write)
        until_waiting(world, 2)
        other.rollback()
        assert delivered.result() == [True]
    end(world, import_id)
    return written


def end(world: World, import_id: int) -> str:
    end_undo()
    assert find_gaps(world) == []
    return str(world.query("SELECT status FROM imports WHERE id = :id", id=import_id)[0][0])


def exhibit_id(world: World, number: str = "A-1") -> int:
    return int(world.query("SELECT id FROM exhibits WHERE control_number = :n", n=number)[0][0])


def fields(world: World, number: str = "A-1") -> tuple[Any, ...]:
    columns = "title, file_name, version"
    return tuple(world.query(f"SELECT {columns} FROM exhibits WHERE control_number = :n", n=number)[0])


def numbers(world: World) -> list[str]:
    return [row[0] for row in world.query("SELECT control_number FROM exhibits ORDER BY 1")]


def tags(world: World) -> list[str]:
    return [row[0] for row in world.query(_TAGS)]


def actions(world: World) -> list[str]:
    return [action for number, _, action, *_ in read_history(world) if number == "A-1"]


def edit(world: World, version: int, **values: str | None) -> Write:
    """A client's change of A-1."""
    exhibit, change = exhibit_id(world), ExhibitChange.model_validate(values)
    return lambda writing: patch_exhibit(writing, CALLER, exhibit, {version}, change)


def tag(world: World, *names: str) -> Write:
    """A client's tags on A-1."""
    request = TaggingRequest.model_validate({"exhibitIds": [exhibit_id(world)], "tags": list(names)})
    return lambda writing: add_taggings(writing, CALLER, request)


def untag(world: World, *names: str) -> Write:
    """A client's removal of tags from A-1."""
    request = TaggingRequest.model_validate({"exhibitIds": [exhibit_id(world)], "tags": list(names)})
    return lambda writing: remove_taggings(writing, CALLER, request)


def custodian(world: World, name: str) -> Write:
    """A client's custodian of A-1."""
    exhibit = exhibit_id(world)
    return lambda writing: add_custodians(writing, CALLER, exhibit, [name])


def test_an_undo_that_waited_for_an_edit_keeps_it(world: World, workers: Workers, overlaid: int) -> None:
    status = undo_during(world, workers, edit(world, 2, title="edited"), overlaid)
    assert status == "undone_with_conflicts"
    assert kept(overlaid) == [(2, "A-1", "CHANGED_SINCE", "title")]
    assert fields(world) == ("edited", "a.msg", 4)
    assert fields(world, "A-2") == ("two", "b.msg", 3)
    assert (tags(world), actions(world)) == (["hot"], ["overlaid", "edited", "undone"])


@pytest.mark.parametrize(
    ("write", "code"),
    [
        (lambda world: edit(world, 1, title="edited"), "CHANGED_SINCE"),
        (lambda world: edit(world, 1, title="one"), "CHANGED_SINCE"),
        (lambda world: tag(world, "hot"), "TAGGED_SINCE"),
        (lambda world: untag(world, "hot"), "CHANGED_SINCE"),
        (lambda world: custodian(world, "Smith"), "CHANGED_SINCE"),
        (lambda world: custodian(world, "Jones"), "CHANGED_SINCE"),
    ],
    ids=["edited", "confirmed", "tagged", "untagged", "custodian", "new custodian"],
)
def test_an_undo_that_waited_for_a_writer_does_not_remove_the_document(
    world: World, workers: Workers, created: int, write: Any, code: str
) -> None:
    assert undo_during(world, workers, write(world), created) == "undone_with_conflicts"
    assert kept(created) == [(2, "A-1", code, None)]
    assert numbers(world) == ["A-1"]


def test_an_undo_that_waited_for_an_attachment_keeps_its_parent(world: World, workers: Workers, created: int) -> None:
    """Both documents are of the part: the parent that is read before the wait is not that which decides."""
    attach = ExhibitChange.model_validate({"parentControlNumber": "A-2"})
    exhibit = exhibit_id(world)
    undo_during(world, workers, lambda writing: patch_exhibit(writing, CALLER, exhibit, {1}, attach), created)
    assert kept(created) == [(2, "A-1", "CHANGED_SINCE", None), (3, "A-2", "HAS_CHILDREN", None)]
    assert numbers(world) == ["A-1", "A-2"]


@pytest.mark.parametrize(
    ("write", "left"),
    [
        (lambda world: tag(world, "warm"), ["hot", "warm"]),
        (lambda world: tag(world, "cold"), ["cold", "hot"]),
        (lambda world: untag(world, "hot"), []),
        (lambda world: untag(world, "warm"), ["hot"]),
    ],
    ids=["the import's tag", "another tag", "an earlier tag removed", "the import's tag removed"],
)
def test_an_undo_that_waited_for_a_tagger_restores_around_it(
    world: World, workers: Workers, overlaid: int, write: Any, left: list[str]
) -> None:
    undo_during(world, workers, write(world), overlaid)
    assert tags(world) == left
    assert fields(world) == ("one", "a.msg", 4)


def test_an_edit_that_waited_for_an_undo_is_refused_and_succeeds_again(
    world: World, workers: Workers, other: Connection, overlaid: int
) -> None:
    edited = during_undo(world, workers, other, edit(world, 2, title="edited"), overlaid)
    with pytest.raises(StaleDataError):
        edited.result()
    with pytest.raises(StaleVersionError):
        committed(edit(world, 2, title="edited"))
    committed(edit(world, 3, title="edited"))
    assert fields(world) == ("edited", "a.msg", 4)
    assert actions(world) == ["overlaid", "undone", "edited"]


@pytest.mark.parametrize(
    ("write", "left"),
    [
        (lambda world: tag(world, "warm"), ["hot", "warm"]),
        (lambda world: untag(world, "hot"), []),
        (lambda world: custodian(world, "Jones"), ["hot"]),
    ],
    ids=["tagged", "untagged", "custodian"],
)
def test_a_link_that_waited_for_an_undo_is_made_after_it(
    world: World, workers: Workers, other: Connection, overlaid: int, write: Any, left: list[str]
) -> None:
    during_undo(world, workers, other, write(world), overlaid).result()
    assert tags(world) == left
    assert fields(world) == ("one", "a.msg", 4)


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (lambda world: edit(world, 1, title="edited"), StaleDataError),
        (lambda world: tag(world, "cold"), NotFoundError),
        (lambda world: untag(world, "hot"), NotFoundError),
        (lambda world: custodian(world, "Jones"), NotFoundError),
    ],
    ids=["edited", "tagged", "untagged", "custodian"],
)
def test_a_writer_that_waited_for_a_removal_gets_that_error(
    world: World, workers: Workers, other: Connection, created: int, write: Any, error: type[Exception]
) -> None:
    again = write(world)
    waited = during_undo(world, workers, other, again, created)
    with pytest.raises(error):
        waited.result()
    with pytest.raises(NotFoundError):
        committed(again)
    assert all(not rows for rows in dump_documents(world).values())


def test_values_that_were_read_before_the_lock_lose_an_edit(world: World, overlaid: int) -> None:
    """The negative control: an undo that decides, and locks then."""
    exhibit = exhibit_id(world)
    with session() as naive:
        stored = read_stored_documents(naive, [exhibit])[exhibit]
        committed(edit(world, 2, title="edited"))
        lock_exhibits(naive, [exhibit])
        columns = {**stored.columns, "file_name": "a.msg"}
        update_exhibits(naive, [ExhibitUpdate(exhibit, columns, stored.properties, row_hash=None)])
    assert fields(world) == ("uno", "a.msg", 4)


def test_an_undo_that_locks_too_late_removes_an_edited_document(
    world: World, created: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: the exhibits are read without a lock, and edited before they are removed."""

    def naive(_transaction: Session, ids: Any) -> Any:
        with session() as reading:
            found = lock_exhibits(reading, ids)
        committed(edit(world, 1, title="edited"))
        return found

    monkeypatch.setattr("shell.imports.undo.parts.lock_exhibits", naive)
    messages: list[Message] = begin_undo(world, created)
    assert all(map(world.import_chunk, messages))
    assert numbers(world) == []
