"""Imports of images that come after another import."""

from __future__ import annotations

import start_import
from tests.support.application.driver import World, call, request_messages


def make_waiting(world: World, after: int, data: bytes, status: str = "waiting", **options: object) -> int:
    """Make an import of images that comes after another one, as a volume does; return its id."""
    import_id = world.start(data, name="images.opt", **options)
    world.chunk_messages()
    request_messages()
    world.query("DELETE FROM import_chunks WHERE import_id = :i", i=import_id)
    world.query("DELETE FROM import_duplicates WHERE import_id = :i", i=import_id)
    world.query(
        "UPDATE imports SET status = :status, kind = 'images', after_import_id = :after, layout = NULL, "
        "chunk_count = 0, chunks_left = 0 WHERE id = :i",
        status=status,
        after=after,
        i=import_id,
    )
    return import_id


def deliver_requests(world: World) -> None:
    """Deliver the requests that were sent, and the chunks that follow."""
    for message in request_messages():
        assert call(start_import.lambda_handler, message)
    for chunk in world.chunk_messages():
        assert world.import_chunk(chunk)


def import_after(world: World, after: int, data: bytes) -> int:
    """Import images after an import that has ended; return the import's id."""
    import_id = make_waiting(world, after, data, "splitting")
    assert call(start_import.lambda_handler, {"import_id": import_id, "generation": 1})
    deliver_requests(world)
    return import_id


def status(world: World, import_id: int) -> str:
    return str(world.query("SELECT status FROM imports WHERE id = :i", i=import_id)[0][0])
