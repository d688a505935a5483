"""Retry a dead-lettered chunk once; if it fails again, reject its rows so that the import completes.

A part of an undo is retried once, too; if it fails again, the undo ends without it.
"""

from __future__ import annotations

from typing import Any

from shell.imports.chunks.failed_chunks import settle_failed_chunk
from shell.lambda_handlers import sqs_handler


def handle(message: dict[str, Any]) -> None:
    """Settle the chunk, or the part of an undo, that the message names."""
    if "undo_no" in message:
        # Few messages are about undos.
        from shell.imports.undo.failures import settle_failed_part

        settle_failed_part(message)
    else:
        settle_failed_chunk(message)


lambda_handler = sqs_handler(handle)
