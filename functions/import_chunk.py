"""Import chunks of rows, each exactly once, for SQS messages: read the next one while the one before is written."""

from __future__ import annotations

from typing import Any

from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.importer import finish_chunk, pause_gc, prepare_chunk
from shell.lambda_handlers import sqs_handler


def prepare(message: dict[str, Any]) -> ChunkInput | str:
    """Read the chunk that the message names."""
    return prepare_chunk(int(message["import_id"]), int(message["chunk_no"]))


_import_chunks = sqs_handler(finish_chunk, lambda config: config.import_chunks_queue_url, prepare)


def lambda_handler(event: dict[str, Any], context: Any) -> Any:
    """Import the chunks of the messages; report those that failed."""
    with pause_gc():
        return _import_chunks(event, context)
