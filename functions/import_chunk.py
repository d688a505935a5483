"""Import chunks of rows, each exactly once, for SQS messages: read the next one while the one before is written.

The parts of an undo, one for each chunk that was imported, come in the same queue.
"""

from __future__ import annotations

from typing import Any

from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.importer import finish_chunk, pause_gc, prepare_chunk
from shell.lambda_handlers import sqs_handler


def prepare(message: dict[str, Any]) -> ChunkInput | str | dict[str, Any]:
    """Read the chunk that the message names; return a message about an undo as it is."""
    return message if "undo_no" in message else prepare_chunk(int(message["import_id"]), int(message["chunk_no"]))


def finish(prepared: ChunkInput | str | dict[str, Any]) -> None:
    """Write a chunk, or undo one."""
    if isinstance(prepared, dict):
        # Few messages are about undos.
        from shell.imports.undo.parts import build_part_key, undo_part

        undo_part(build_part_key(prepared))
    else:
        finish_chunk(prepared)


_import_chunks = sqs_handler(finish, lambda config: config.import_chunks_queue_url, prepare)


def lambda_handler(event: dict[str, Any], context: Any) -> Any:
    """Import the chunks of the messages; report those that failed."""
    with pause_gc():
        return _import_chunks(event, context)
