"""Retry a dead-lettered import request once; if it fails again, record the import as failed, with the reason.

The same goes for the completion of an import, for the request and the completion of an undo, and for work on a volume.
"""

from __future__ import annotations

from shell.imports.failed_imports import handle_failed_completion, handle_failed_request
from shell.lambda_handlers import sqs_handler
from shell.work.messages import (
    CompletionMessage,
    DeletionMessage,
    ExpansionMessage,
    HashingMessage,
    ImportMessage,
    ListingMessage,
    UndoCompletionMessage,
    UndoMessage,
    UploadMessage,
    VolumeMessage,
)
from shell.work.reading import Operations, dispatch


def _handle_failed_undo(message: UndoMessage | UndoCompletionMessage) -> None:
    # Few messages are about undos.
    from shell.imports.undo.failures import handle_failed_undo

    handle_failed_undo(message)


def _handle_failed_work(message: VolumeMessage) -> None:
    from shell.volumes.failed_work import handle_failed_work

    handle_failed_work(message)


OPERATIONS: Operations = {
    UploadMessage: handle_failed_request,
    ImportMessage: handle_failed_request,
    CompletionMessage: handle_failed_completion,
    UndoMessage: _handle_failed_undo,
    UndoCompletionMessage: _handle_failed_undo,
    ListingMessage: _handle_failed_work,
    ExpansionMessage: _handle_failed_work,
    HashingMessage: _handle_failed_work,
    DeletionMessage: _handle_failed_work,
}

lambda_handler = sqs_handler(dispatch(OPERATIONS))
