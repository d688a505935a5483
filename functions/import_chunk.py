"""Import one chunk of rows, exactly once, for each SQS message."""

from __future__ import annotations

from typing import Any

from shell.imports.chunks.importer import import_chunk
from shell.lambda_handlers import sqs_handler


def handle(message: dict[str, Any]) -> None:
    """Import the chunk that the message names."""
    import_chunk(int(message["import_id"]), int(message["chunk_no"]))


lambda_handler = sqs_handler(handle, lambda config: config.import_chunks_queue_url)
