"""SQS: one chunk of rows to MySQL, exactly once."""

from __future__ import annotations

from typing import Any

from shell.chunk_ops import import_chunk
from shell.invocation import sqs_handler


def handle(message: dict[str, Any]) -> None:
    """Import the chunk that the message names."""
    import_chunk(int(message["import_id"]), int(message["chunk_no"]))


lambda_handler = sqs_handler(handle)
