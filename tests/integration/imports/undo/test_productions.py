"""An undo and a production that reserves numbers for the same exhibits: one waits for the other, in both orders."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, text

from core.errors import NotFoundError
from shell.productions.selection import count_selected
from shell.productions.steps import reserve
from tests.integration.imports.import_requests import until_waiting
from tests.support.application.driver import World
from tests.support.application.handler_processes import Workers
from tests.support.productions import runs
from tests.support.undo.runs import begin_undo, end_undo, kept, undo

BASE = b"Control Number,Title\r\nA-1,one\r\nA-2,two\r\n"


@pytest.fixture
def created(world: World) -> int:
    """An import that created two exhibits."""
    return world.run(BASE)


@pytest.fixture
def production(world: World, created: int) -> int:
    """A production of all exhibits of the case that has not reserved numbers."""
    assert created
    return runs.ask()


def reserved(world: World) -> list[str]:
    return [row[0] for row in world.query("SELECT control_number FROM production_documents ORDER BY 1")]


def test_an_undo_that_waited_for_a_production_keeps_its_documents(
    world: World, workers: Workers, other: Connection, created: int, production: int
) -> None:
    """The production has locked the exhibits, and waits for the next number."""
    runs.take(int(world.query("SELECT id FROM cases")[0][0]), 1)
    messages = begin_undo(world, created)
    other.execute(text("SELECT id FROM bates_sequences FOR UPDATE"))
    with ThreadPoolExecutor(2) as threads:
        reserving = threads.submit(reserve, {"production_id": production})
        until_waiting(world)
        delivered = threads.submit(workers.deliver, "import_chunk", messages)
        until_waiting(world, 2)
        other.rollback()
        assert reserving.result()["documents"] == 2
        assert delivered.result() == [True]
    end_undo()
    assert reserved(world) == ["A-1", "A-2"]
    assert [each[1:3] for each in kept(created)] == [("A-1", "IN_PRODUCTION"), ("A-2", "IN_PRODUCTION")]
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(2,)]


@pytest.mark.parametrize("selected", ["query", "ids"])
def test_a_production_that_waited_for_an_undo_has_no_removed_document(
    world: World, workers: Workers, other: Connection, created: int, selected: str
) -> None:
    world.run(b"Control Number,Title\r\nB-1,stays\r\n")
    ids = [row[0] for row in world.query("SELECT id FROM exhibits")]
    selection: dict[str, Any] = {"query": {}, "ids": {"exhibitIds": ids}}[selected]
    production = runs.ask(**selection)
    messages = begin_undo(world, created)
    other.execute(text("SELECT import_id FROM import_undos WHERE import_id = :id FOR UPDATE"), {"id": created})
    with ThreadPoolExecutor(2) as threads:
        delivered = threads.submit(workers.deliver, "import_chunk", messages)
        until_waiting(world)
        reserving = threads.submit(reserve, {"production_id": production})
        until_waiting(world, 2)
        other.rollback()
        assert delivered.result() == [True]
        if selected == "ids":
            with pytest.raises(NotFoundError):
                reserving.result()
        else:
            assert reserving.result()["documents"] == 1
    end_undo()
    assert [row[0] for row in world.query("SELECT status FROM imports ORDER BY id")] == ["undone", "completed"]
    assert reserved(world) == (["B-1"] if selected == "query" else [])


def test_a_named_document_that_is_removed_while_they_are_read_is_not_left_out(
    world: World, created: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run(b"Control Number,Title\r\nB-1,stays\r\n")
    production = runs.ask(exhibitIds=[row[0] for row in world.query("SELECT id FROM exhibits")])

    def count_before(*given: Any) -> int:
        found = count_selected(*given)
        undo(world, created)
        return found

    monkeypatch.setattr("shell.productions.selection.count_selected", count_before)
    with pytest.raises(NotFoundError):
        reserve({"production_id": production})
    assert reserved(world) == []


def test_a_production_without_locks_has_a_document_that_is_gone(
    world: World, workers: Workers, other: Connection, created: int, production: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: numbers are reserved for what was selected, and not locked."""
    monkeypatch.setattr("shell.productions.reservation.lock_selected_exhibits", lambda *_: None)
    runs.take(int(world.query("SELECT id FROM cases")[0][0]), 1)
    messages = begin_undo(world, created)
    other.execute(text("SELECT id FROM bates_sequences FOR UPDATE"))
    with ThreadPoolExecutor(1) as thread:
        reserving = thread.submit(reserve, {"production_id": production})
        until_waiting(world)
        assert workers.deliver("import_chunk", messages) == [True]
        other.rollback()
        assert reserving.result()["documents"] == 2
    assert reserved(world) == ["A-1", "A-2"]
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]


def test_numbers_of_a_cancelled_production_do_not_keep_a_document(world: World, created: int, production: int) -> None:
    reserve({"production_id": production})
    assert undo(world, created).status.value == "undone_with_conflicts"
    world.query("UPDATE production_documents SET status = 'void'")
    assert undo(world, created).status.value == "undone"
    assert reserved(world) == ["A-1", "A-2"]
    payloads = world.query("SELECT payload FROM outbox_events WHERE event_type = 'import.undone' ORDER BY id")
    assert [json.loads(row[0])["status"] for row in payloads] == ["undone_with_conflicts", "undone"]
