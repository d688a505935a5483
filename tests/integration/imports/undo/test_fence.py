"""Workers that are late for an undo add nothing after it, and an undo that has not begun can be cancelled."""

from __future__ import annotations

import pytest

from core.errors import WrongStateError
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.write_or_check import finish_chunk
from shell.imports.undo import run
from tests.integration.imports.conftest import Chunks
from tests.integration.imports.import_requests import cancel, finish, prepare_chunk, retry, start
from tests.support.application.driver import World, request_messages
from tests.support.undo.runs import begin_undo, dump_documents, end_undo, request_undo, undo

TWO = b"Control Number,Tags\r\nA-1,hot\r\nA-2,late\r\n"


@pytest.fixture
def late(world: World, chunk_rows: Chunks) -> ChunkInput:
    """The second chunk of an import, as a worker holds it that was paused; the first one is done."""
    chunk_rows(1)
    import_id = world.start(TWO)
    first, _ = world.chunk_messages()
    assert world.import_chunk(first)
    prepared = prepare_chunk(import_id, 2)
    assert isinstance(prepared, ChunkInput)
    cancel(import_id)
    return prepared


def test_a_worker_that_was_paused_since_before_the_cancellation_adds_no_name(world: World, late: ChunkInput) -> None:
    assert undo(world, late.import_record.id).status.value == "undone"
    assert finish_chunk(late) == "void"
    assert dump_documents(world) == {name: [] for name in dump_documents(world)}


def test_without_void_chunks_it_adds_its_names(world: World, late: ChunkInput, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: until the worker finds that the import has ended, the name is there."""
    monkeypatch.setattr(run, "_void_pending_chunks", lambda *_: True)
    monkeypatch.setattr("shell.imports.chunks.writer.delete_unused_names", lambda *_: None)
    undo(world, late.import_record.id)
    assert finish_chunk(late) == "undone"
    assert world.query("SELECT name FROM tags") == [("late",)]


def test_an_undo_that_has_not_begun_can_be_cancelled_and_the_import_be_retried(world: World, late: ChunkInput) -> None:
    import_id = late.import_record.id
    request_undo(import_id)
    run._void_pending_chunks(import_id, lambda: False)
    assert cancel(import_id).status == "cancelled"
    for message in request_messages():
        assert start(message)
    assert world.chunk_messages() == []
    retry(import_id)
    finish(world)
    assert world.query("SELECT status, imported FROM imports") == [("completed", 2)]


def test_an_undo_that_has_begun_cannot_be_cancelled(world: World, late: ChunkInput) -> None:
    import_id = late.import_record.id
    parts = begin_undo(world, import_id)
    with pytest.raises(WrongStateError, match="The undo of the import has begun"):
        cancel(import_id)
    for part in parts:
        assert world.import_chunk(part)
    end_undo()
    assert world.query("SELECT status FROM imports") == [("undone",)]
