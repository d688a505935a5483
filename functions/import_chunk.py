"""Import chunks of rows or pages, each exactly once, for SQS messages: read the next one while one is written.

The parts of an undo, one for each chunk that was imported, and tagging jobs come in the same queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shell.imports.chunks import row_reader
from shell.imports.chunks.chunk_source import load_chunk
from shell.imports.twins.twin import find_twin
from shell.imports.twins.writer import PreparedRows, finish_rows
from shell.lambda_handlers import pause_gc, sqs_handler
from shell.work.messages import ChunkMessage, TaggingMessage, UndoPartMessage
from shell.work.reading import Operations, dispatch

if TYPE_CHECKING:
    from shell.imports.images.reader import ImageChunk


def prepare(message: ChunkMessage) -> PreparedRows | ImageChunk:
    """Read the chunk that the message names, and write its texts to the bucket, if it has any and is not held yet."""
    loaded = load_chunk(message.import_id, message.chunk_no)
    if isinstance(loaded, str):
        return loaded
    if loaded.has_images:
        from shell.imports.images.reader import read_page_documents

        return read_page_documents(loaded)
    return find_twin(loaded) or row_reader.read_rows(loaded).store_texts()


def finish(prepared: PreparedRows | ImageChunk | UndoPartMessage | TaggingMessage) -> None:
    """Write a chunk, or undo one; or let a tagging job go on."""
    if isinstance(prepared, TaggingMessage):
        from shell.tagging_jobs.run import work_on_job  # few messages are about these, or undos

        work_on_job(prepared)
    elif isinstance(prepared, UndoPartMessage):
        from shell.imports.undo.parts import build_part_key, undo_part

        undo_part(build_part_key(prepared))
    elif isinstance(prepared, PreparedRows):
        finish_rows(prepared)
    else:
        from shell.imports.images.writer import finish_images

        finish_images(prepared)


PREPARATIONS: Operations = {ChunkMessage: prepare} | dict.fromkeys((UndoPartMessage, TaggingMessage), lambda same: same)

_import_chunks = sqs_handler(finish, lambda config: config.import_chunks_queue_url, dispatch(PREPARATIONS))


def lambda_handler(event: dict[str, Any], context: Any) -> Any:
    """Import the chunks of the messages; report those that failed."""
    with pause_gc():
        return _import_chunks(event, context)
