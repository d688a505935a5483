"""Import chunks of rows or pages, each exactly once, for SQS messages: read the next one while one is written.

The parts of an undo, one for each chunk that was imported, come in the same queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shell.imports.chunks import importer
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.importer import finish_chunk, pause_gc
from shell.lambda_handlers import sqs_handler

if TYPE_CHECKING:
    from shell.imports.images.reader import ImageChunk


def prepare(message: dict[str, Any]) -> ChunkInput | ImageChunk | str | dict[str, Any]:
    """Read the chunk that the message names; return a message about an undo as it is."""
    if "undo_no" in message:
        return message
    loaded = importer.load_chunk(int(message["import_id"]), int(message["chunk_no"]))
    if isinstance(loaded, str):
        return loaded
    if loaded.has_images:
        # Few messages are about image load files.
        from shell.imports.images.reader import read_page_documents

        return read_page_documents(loaded)
    return importer.read_rows(loaded)


def finish(prepared: ChunkInput | ImageChunk | str | dict[str, Any]) -> None:
    """Write a chunk, or undo one."""
    if isinstance(prepared, dict):
        # Few messages are about undos.
        from shell.imports.undo.parts import build_part_key, undo_part

        undo_part(build_part_key(prepared))
    elif isinstance(prepared, (ChunkInput, str)):
        finish_chunk(prepared)
    else:
        from shell.imports.images.writer import finish_images

        finish_images(prepared)


_import_chunks = sqs_handler(finish, lambda config: config.import_chunks_queue_url, prepare)


def lambda_handler(event: dict[str, Any], context: Any) -> Any:
    """Import the chunks of the messages; report those that failed."""
    with pause_gc():
        return _import_chunks(event, context)
