"""An overlay and other writers of the same exhibits, each waiting for the other at a point: neither loses anything."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError

from core.contracts.exhibits import ExhibitChange
from core.contracts.taggings import TaggingRequest
from core.errors import StaleVersionError, UnavailableError
from shell.db.errors import error_number
from shell.db.session import session
from shell.exhibits.commands import add_taggings, patch_exhibit, remove_taggings
from shell.exhibits.history import raise_versions
from shell.exhibits.updates import ExhibitUpdate, lock_exhibits, read_stored_documents, update_exhibits
from shell.imports.chunks.write_or_check import finish_chunk
from tests.integration.imports.import_requests import CALLER, committed, deliver_during, prepare_chunk, until_waiting
from tests.support.application.driver import World, complete_imports
from tests.support.application.handler_processes import Workers
from tests.support.exhibits.history import find_gaps, read_history
from tests.support.faults.commit_proxy import Loss, between_application_and_database

BASE = b"Control Number,Bates Begin,Title,File Name,Tags\r\nA-1,N-1,one,a.msg,hot\r\nA-2,N-2,two,b.msg,hot\r\n"
DEADLOCK = 1213
_TAGS = """
    SELECT t.name FROM taggings AS l JOIN tags AS t ON t.id = l.tag_id JOIN exhibits AS e ON e.id = l.exhibit_id
    WHERE e.control_number = 'A-1' ORDER BY 1
"""


@pytest.fixture(autouse=True)
def _base(world: World) -> None:
    """Two exhibits."""
    world.run(BASE)


def overlay_during(
    world: World, workers: Workers, write: Callable[[Session], object], data: bytes, **options: str
) -> int:
    """Overlay in another process, which waits for what `write` locks in a transaction; return the import's id."""
    import_id = world.start(data, **{"mode": "overlay", **options})
    messages = world.chunk_messages()
    deliver_during(world, workers, write, messages)
    complete_imports()
    return import_id


def actions(world: World, number: str = "A-1") -> list[tuple[int, str]]:
    """The exhibit's versions after the first one, and what made them; no version is missing."""
    assert find_gaps(world) == []
    return [(version, action) for each, version, action, *_ in read_history(world) if each == number]


def exhibit_id(world: World, number: str = "A-1") -> int:
    return int(world.query("SELECT id FROM exhibits WHERE control_number = :n", n=number)[0][0])


def fields(world: World, number: str = "A-1") -> tuple[Any, ...]:
    columns = "title, file_name, bates_begin, version"
    return tuple(world.query(f"SELECT {columns} FROM exhibits WHERE control_number = :n", n=number)[0])


def tags(world: World) -> list[str]:
    return [row[0] for row in world.query(_TAGS)]


def results(world: World, import_id: int) -> tuple[int, ...]:
    """Imported, updated, unchanged, rejected."""
    columns = "imported, updated, unchanged, rejected"
    return tuple(world.query(f"SELECT {columns} FROM imports WHERE id = :id", id=import_id)[0])


def edit(exhibit: int, versions: set[int], **values: str | None) -> Callable[[Session], object]:
    """A client's change of an exhibit."""
    change = ExhibitChange.model_validate(values)
    return lambda writing: patch_exhibit(writing, CALLER, exhibit, versions, change)


def tagging(names: list[str], *exhibits: int) -> TaggingRequest:
    return TaggingRequest.model_validate({"exhibitIds": list(exhibits), "tags": names})


def test_an_overlay_that_waited_for_an_edit_keeps_it(world: World, workers: Workers) -> None:
    editing = edit(exhibit_id(world), {1}, title="edited")
    import_id = overlay_during(world, workers, editing, b"Control Number,File Name\r\nA-1,new.msg\r\n")
    assert fields(world) == ("edited", "new.msg", "N-1", 3)
    assert results(world, import_id) == (0, 1, 0, 0)
    assert actions(world) == [(2, "edited"), (3, "overlaid")]


@pytest.mark.parametrize(
    ("edited", "expected", "version"), [("uno", (0, 0, 1, 0), 2), ("dos", (0, 1, 0, 0), 3)], ids=["as the row", "else"]
)
def test_what_a_row_changes_is_decided_after_the_wait(
    world: World, workers: Workers, edited: str, expected: tuple[int, ...], version: int
) -> None:
    editing = edit(exhibit_id(world), {1}, title=edited)
    import_id = overlay_during(world, workers, editing, b"Control Number,Title\r\nA-1,uno\r\n")
    assert results(world, import_id) == expected
    assert fields(world) == ("uno", "a.msg", "N-1", version)
    assert find_gaps(world) == []


def test_an_edit_of_a_row_that_was_read_as_equal_has_the_chunk_read_again(world: World) -> None:
    import_id = world.start(BASE, mode="overlay")
    [message] = world.chunk_messages()
    prepared = prepare_chunk(import_id, 1)
    committed(edit(exhibit_id(world), {1}, title="edited"))
    with pytest.raises(UnavailableError, match="the chunk is read again"):
        finish_chunk(prepared)
    assert world.import_chunk(message)
    assert results(world, import_id) == (0, 1, 1, 0)
    assert fields(world) == ("one", "a.msg", "N-1", 3)
    assert actions(world) == [(2, "edited"), (3, "overlaid")]


def test_an_edit_that_waited_for_an_overlay_is_refused_and_succeeds_again(
    world: World, workers: Workers, other: Connection
) -> None:
    exhibit = exhibit_id(world)
    import_id = world.start(b"Control Number,File Name\r\nA-1,new.msg\r\n", mode="overlay")
    messages = world.chunk_messages()
    other.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": import_id})
    with ThreadPoolExecutor(2) as threads:
        delivered = threads.submit(workers.deliver, "import_chunk", messages)
        until_waiting(world)
        edited = threads.submit(committed, edit(exhibit, {1}, title="edited"))
        until_waiting(world, 2)
        other.rollback()
        assert delivered.result() == [True]
        with pytest.raises(StaleDataError):
            edited.result()
    with pytest.raises(StaleVersionError):
        committed(edit(exhibit, {1}, title="edited"))
    committed(edit(exhibit, {2}, title="edited"))
    assert fields(world) == ("edited", "new.msg", "N-1", 3)
    assert actions(world) == [(2, "overlaid"), (3, "edited")]


@pytest.mark.parametrize(("multi_values", "left"), [("merge", ["cold", "hot", "warm"]), ("replace", ["cold"])])
def test_an_overlay_that_waited_for_a_new_tag_sees_it(
    world: World, workers: Workers, multi_values: str, left: list[str]
) -> None:
    request = tagging(["warm"], exhibit_id(world))
    data, options = b"Control Number,Tags\r\nA-1,cold\r\n", {"multi_values": multi_values}
    overlay_during(world, workers, lambda writing: add_taggings(writing, CALLER, request), data, **options)
    assert (tags(world), fields(world)[3]) == (left, 3)
    assert actions(world) == [(2, "tagged"), (3, "overlaid")]
    removal = '"warm": {"new": false, "old": true}'
    assert (removal in read_history(world)[1][6]) is (multi_values == "replace")


def test_an_overlay_that_waited_for_the_removal_of_a_tag_adds_it_again(world: World, workers: Workers) -> None:
    request = tagging(["hot"], exhibit_id(world))
    data = b"Control Number,Tags\r\nA-1,hot\r\n"
    import_id = overlay_during(world, workers, lambda writing: remove_taggings(writing, CALLER, request), data)
    assert results(world, import_id) == (0, 1, 0, 0)
    assert tags(world) == ["hot"]
    assert actions(world) == [(2, "untagged"), (3, "overlaid")]


def test_an_exhibit_that_was_created_between_lookup_and_insert_is_overlaid(world: World, workers: Workers) -> None:
    create = "INSERT INTO exhibits (case_id, control_number, import_id, line_no) SELECT id, 'B-1', 0, 0 FROM cases"
    data = b"Control Number,Title\r\nA-1,uno\r\nB-1,new\r\nB-2,also new\r\n"
    import_id = overlay_during(
        world, workers, lambda writing: writing.execute(text(create)), data, mode="append_overlay"
    )
    assert results(world, import_id) == (1, 2, 0, 0)
    assert [fields(world, number)[0] for number in ("A-1", "B-1", "B-2")] == ["uno", "new", "also new"]
    assert actions(world) == actions(world, "B-1") == [(2, "overlaid")]


def test_a_key_that_changed_between_lookup_and_lock_is_looked_up_again(world: World, workers: Workers) -> None:
    editing = edit(exhibit_id(world), {1}, batesBegin="N-9")
    data = b"Bates Begin,Title\r\nN-1,uno\r\nN-2,dos\r\nN-9,nueve\r\n"
    import_id = overlay_during(world, workers, editing, data, overlay_key="bates_begin")
    assert results(world, import_id) == (0, 2, 0, 1)
    assert [fields(world, number)[0] for number in ("A-1", "A-2")] == ["nueve", "dos"]
    [rejected] = world.query("SELECT line_no, code FROM import_rejections WHERE import_id = :id", id=import_id)
    assert tuple(rejected) == (2, "NOT_IN_CASE")


def test_a_tag_that_was_deleted_before_it_is_linked_is_added_again(world: World) -> None:
    import_id = world.start(b"Control Number,Tags\r\nA-1,hot;cold\r\n", mode="overlay")
    world.query("INSERT INTO tags (case_id, name) SELECT id, 'cold' FROM cases")
    prepared = prepare_chunk(import_id, 1)
    world.query("DELETE FROM tags WHERE name = 'cold'")
    assert finish_chunk(prepared) == "done"
    assert tags(world) == ["cold", "hot"]
    assert actions(world) == [(2, "overlaid")]


@pytest.mark.parametrize("loss", [Loss.ANSWER, Loss.REQUEST])
def test_a_commit_of_unknown_outcome_makes_one_entry(world: World, loss: Loss) -> None:
    import_id = world.start(b"Control Number,Title,Tags\r\nA-1,uno,hot\r\nA-2,dos,hot\r\n", mode="overlay")
    with between_application_and_database(make_url(world.environment["DATABASE_URL"])) as proxy:
        prepared = prepare_chunk(import_id, 1)
        proxy.lose_next(loss)
        assert finish_chunk(prepared) == "done"
        assert proxy.lost == 1
    complete_imports()
    assert results(world, import_id) == (0, 2, 0, 0)
    assert actions(world) == actions(world, "A-2") == [(2, "overlaid")]


def test_values_that_were_read_before_the_lock_lose_an_edit(world: World) -> None:
    """The negative control: the same functions in another order."""
    exhibit = exhibit_id(world)
    with session() as naive:
        stored = read_stored_documents(naive, [exhibit])[exhibit]
        committed(edit(exhibit, {1}, title="edited"))
        lock_exhibits(naive, [exhibit])
        columns = {**stored.columns, "file_name": "new.msg"}
        update_exhibits(naive, [ExhibitUpdate(exhibit, columns, stored.properties, row_hash=None)])
    assert fields(world) == ("one", "new.msg", "N-1", 3)


def test_a_history_in_a_transaction_of_its_own_can_be_lost(world: World) -> None:
    """The negative control: what a worker leaves that ends between the two."""
    committed(raise_versions, [exhibit_id(world)])
    assert find_gaps(world) == ["A-1"]


@pytest.mark.parametrize("by", ["id", "key"])
def test_locks_in_the_order_of_keys_deadlock_with_a_tagger(world: World, by: str) -> None:
    """The keys of these exhibits have the reverse order of their ids, and a tagger locks by ids."""
    for number in (b"C-2", b"C-1"):
        world.run(b"Control Number\r\n" + number + b"\r\n")
    low, high = (exhibit_id(world, number) for number in ("C-2", "C-1"))
    request, tagged = tagging(["warm"], low, high), Future[object]()
    with ThreadPoolExecutor(1) as thread:

        def overlay() -> None:
            nonlocal tagged
            with session() as locking:
                lock_exhibits(locking, [low if by == "id" else high])
                tagged = thread.submit(committed, add_taggings, CALLER, request)
                until_waiting(world)
                lock_exhibits(locking, [high if by == "id" else low])

        found = {_find_error(overlay), _find_error(lambda: tagged.result())}
    assert found == ({None} if by == "id" else {None, DEADLOCK})


def _find_error(work: Callable[[], object]) -> int | None:
    try:
        work()
    except OperationalError as error:
        return error_number(error)
    return None
