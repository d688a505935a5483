"""Overlays lose no edit that happens meanwhile, and leave the same whatever the order and number of deliveries."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, text

from shell.imports.chunks.overlay_store import lock_exhibits, read_documents
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.support import (
    announce,
    deliver_all,
    put,
    run_chunks,
    start,
    start_blocked,
    until_waiting,
)
from tests.support.workers import Workers
from tests.support.world import Message, World, complete_imports

OVERLAY = "shell.imports.chunks.overlay_rows"
ROWS, ROWS_A_CHUNK = 40, 3
COLUMNS = ("Control Number", "Title", "Author", "Custodian", "Tags", "Date Sent")
FIRST = [(f"A-{n:03d}", f"title {n}", f"author {n % 7}", f"Keeper {n % 5}", "hot", "2001-01-31") for n in range(ROWS)]
CHANGED = [(n, "" if n % 4 == 0 else f"new {n % 9}") for n in range(2, ROWS + 5)]
SECOND = [(f"A-{n:03d}", title, "", f"Keeper {n % 3}", "", "") for n, title in CHANGED]
OPTIONS = {"mode": "append_overlay", "multi_values": "replace", "blanks": "clear"}
_STATE = (
    (
        "SELECT control_number, title, document_properties, CAST(date_sent AS CHAR), row_hash IS NULL, version, "
        "line_no FROM exhibits ORDER BY control_number"
    ),
    (
        "SELECT e.control_number, n.name FROM custodian_exhibits l JOIN exhibits e ON e.id = l.exhibit_id "
        "JOIN custodians n ON n.id = l.custodian_id ORDER BY 1, 2"
    ),
    (
        "SELECT e.control_number, n.name FROM taggings l JOIN exhibits e ON e.id = l.exhibit_id "
        "JOIN tags n ON n.id = l.tag_id ORDER BY 1, 2"
    ),
    (
        "SELECT e.control_number, h.version, h.action, h.line_no, h.changes FROM exhibit_changes h "
        "JOIN exhibits e ON e.id = h.exhibit_id ORDER BY 1, 2"
    ),
    "SELECT name FROM custodians ORDER BY 1",
)


_GAPS = (
    "SELECT e.id FROM exhibits e LEFT JOIN exhibit_changes h ON h.exhibit_id = e.id GROUP BY e.id, e.version "
    "HAVING COUNT(h.version) <> e.version - 1"
)


def table(rows: Sequence[tuple[str, ...]]) -> bytes:
    """A file of these rows."""
    return "".join(",".join(row) + "\r\n" for row in [COLUMNS, *rows]).encode()


def begun(world: World, data: bytes, **options: str) -> list[Message]:
    """Have a file split; returns the messages of its chunks."""
    assert start(put(announce(options=options), data))
    return world.chunk_messages()


def first_loaded(world: World) -> None:
    """Import the file that is overlaid."""
    assert start(put(announce(), table(FIRST)))
    run_chunks(world)


def state(world: World) -> list[Any]:
    """What both files have left, without the ids."""
    return [[tuple(row) for row in world.query(each)] for each in _STATE]


@pytest.fixture
def in_order(world: World, chunk_rows: Chunks) -> list[Any]:
    """What one worker leaves, chunk after chunk; the tables are emptied again."""
    chunk_rows(ROWS_A_CHUNK)
    first_loaded(world)
    for message in begun(world, table(SECOND), **OPTIONS):
        assert world.import_chunk(message)
    complete_imports()
    assert world.query(_GAPS) == []
    left = state(world)
    for name in ("custodian_exhibits", "taggings", "exhibit_changes", "exhibits", "custodians", "tags", "cases"):
        world.query(f"DELETE FROM {name}")
    first_loaded(world)
    return left


def test_deliveries_in_any_order_leave_the_same(world: World, in_order: list[Any]) -> None:
    messages = begun(world, table(SECOND), **OPTIONS) * 3
    random.Random(7).shuffle(messages)
    for message in messages:
        world.import_chunk(message)
    complete_imports()
    assert state(world) == in_order


def test_four_workers_leave_the_same(world: World, in_order: list[Any], workers: Workers) -> None:
    deliver_all(workers, begun(world, table(SECOND), **OPTIONS))
    assert state(world) == in_order


def test_a_worker_that_is_killed_in_its_transaction_leaves_nothing(
    world: World, in_order: list[Any], other: Connection
) -> None:
    first, *rest = begun(world, table(SECOND), **OPTIONS)
    # The last statement of a chunk waits; values, history and links are written.
    other.execute(text("SELECT id FROM imports WHERE id = :id FOR UPDATE"), {"id": first["import_id"]})
    worker = start_blocked(world, "import_chunk", first)
    os.kill(int(worker.pid or 0), signal.SIGKILL)
    worker.join()
    other.rollback()
    for message in (first, *rest):
        assert world.import_chunk(message)
    complete_imports()
    assert state(world) == in_order


_EDIT = (
    "UPDATE exhibits SET title = 'edited', native_path = 'n', row_hash = NULL, version = 2 "
    "WHERE control_number = 'A-002'"
)
_RECORD = (
    "INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, changes) "
    "SELECT id, 2, 'edited', 'ann', '{}' FROM exhibits WHERE control_number = 'A-002'"
)


def overlaid_during_an_edit(world: World, other: Connection) -> tuple[Any, ...]:
    """Overlay an exhibit while its edit is not committed; returns its title, path and version."""
    first_loaded(world)
    (message,) = begun(world, b"Control Number,Author\r\nA-002,new\r\n", mode="overlay")
    other.execute(text(_EDIT))
    other.execute(text(_RECORD))
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(world.import_chunk, message)
        until_waiting(world)
        other.commit()
        assert done.result()
    complete_imports()
    columns = "title, native_path, version, document_properties LIKE '%\"new\"%'"
    return tuple(world.query(f"SELECT {columns} FROM exhibits WHERE control_number = 'A-002'")[0])


def test_an_edit_that_commits_while_the_overlay_waits_is_kept(world: World, other: Connection) -> None:
    assert overlaid_during_an_edit(world, other) == ("edited", "n", 3, 1)
    assert world.query(_GAPS) == []


def test_a_decision_before_the_locks_loses_the_edit(
    world: World, other: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: values that were read before the locks are written over the edit."""
    known: dict[int, Any] = {}

    def read_early(transaction: Any, ids: Any) -> Any:
        known.update(read_documents(transaction, sorted(ids)))
        return lock_exhibits(transaction, ids)

    monkeypatch.setattr(f"{OVERLAY}.lock_exhibits", read_early)
    monkeypatch.setattr(f"{OVERLAY}.read_documents", lambda _transaction, ids: {each: known[each] for each in ids})
    title, path, *_ = overlaid_during_an_edit(world, other)
    assert (title, path) == ("title 2", None)
