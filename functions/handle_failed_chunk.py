"""Retry a dead-lettered chunk once; if it fails again, reject its rows so that the import completes.

A part of an undo is retried once, too; if it fails again, the undo ends without it. So is a tagging job, which then
fails.
"""

from __future__ import annotations

from shell.imports.chunks.failed_chunks import handle_failed_chunk
from shell.lambda_handlers import sqs_handler
from shell.work.messages import ChunkMessage, TaggingMessage, UndoPartMessage
from shell.work.reading import Operations, dispatch


def _handle_failed_part(message: UndoPartMessage) -> None:
    # Few messages are about undos.
    from shell.imports.undo.failures import handle_failed_part

    handle_failed_part(message)


def _handle_failed_turn(message: TaggingMessage) -> None:
    from shell.tagging_jobs.run import handle_failed_turn

    handle_failed_turn(message)


OPERATIONS: Operations = {
    ChunkMessage: handle_failed_chunk,
    UndoPartMessage: _handle_failed_part,
    TaggingMessage: _handle_failed_turn,
}

lambda_handler = sqs_handler(dispatch(OPERATIONS))
