"""A worker that read its chunk before a cancellation, the undo of another import and a retry decides anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.errors import UnavailableError
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.write_or_check import finish_chunk
from shell.work.units import WorkRetriedError
from tests.integration.imports.import_requests import cancel, finish, prepare_chunk, retry
from tests.support.application.driver import World
from tests.support.undo.runs import undo

ONE = b"Control Number,Title,Tags\r\nA-1,one,hot\r\n"
PLAIN = b"Control Number,Title\r\nA-1,one\r\n"
OVERLAY = b"Control Number,Title\r\nA-1,uno\r\n"


def pause(world: World, data: bytes, mode: str, undone: int) -> ChunkInput:
    """An import that was cancelled and retried, with the undo of another one between, and its chunk as read before."""
    import_id = world.start(data, mode=mode)
    [message] = world.chunk_messages()
    paused = prepare_chunk(import_id, message["chunk_no"])
    assert isinstance(paused, ChunkInput)
    cancel(import_id)
    assert undo(world, undone).status.value == "undone"
    retry(import_id)
    return paused


def remove(world: World, data: bytes = ONE) -> int:
    return world.run(data)


def restore(world: World) -> int:
    world.run(ONE)
    return world.run(OVERLAY, mode="overlay")


@pytest.mark.parametrize(
    ("undoing", "mode", "counts"),
    [
        (remove, "append", {"imported": 1, "unchanged": 0, "rejected": 0}),
        (restore, "append", {"imported": 0, "unchanged": 1, "rejected": 0}),
        (remove, "overlay", {"imported": 0, "unchanged": 0, "rejected": 1}),
    ],
    ids=["removed", "restored", "overlay"],
)
def test_a_worker_that_was_paused_across_an_undo_reads_its_chunk_again(
    world: World, undoing: Callable[[World], int], mode: str, counts: dict[str, int]
) -> None:
    paused = pause(world, ONE, mode, undoing(world))
    with pytest.raises(UnavailableError):
        finish_chunk(paused)
    finish(world)
    columns = ", ".join(counts)
    place = {"id": paused.import_record.id}
    assert world.query(f"SELECT {columns} FROM imports WHERE id = :id", **place) == [tuple(counts.values())]


def test_what_looks_as_before_is_read_again_too(world: World) -> None:
    """The row has no names: nothing but the generation tells that its document is gone."""
    paused = pause(world, PLAIN, "append", remove(world, PLAIN))
    with pytest.raises(WorkRetriedError):
        finish_chunk(paused)


def test_without_the_generation_it_counts_a_removed_document_as_unchanged(world: World) -> None:
    """The negative control: the chunk passes for one that was read after the retry."""
    paused = pause(world, PLAIN, "append", remove(world, PLAIN))
    paused.import_record.generation += 1
    assert finish_chunk(paused) == "done"
    place = {"id": paused.import_record.id}
    assert world.query("SELECT unchanged FROM import_chunks WHERE import_id = :id", **place) == [(1,)]
    assert world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]
