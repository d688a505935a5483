"""Start the import of an uploaded or retried load file: register it, split it and queue its chunks.

An undo is started here, too. A request of a completion that was sent back to the queue of requests, which shares its
dead-letter queue, leads to that completion again.
"""

from __future__ import annotations

from shell.imports.start import resume_import, start_imports, start_requested_import
from shell.lambda_handlers import sqs_handler
from shell.work.messages import CompletionMessage, ImportMessage, UndoCompletionMessage, UndoMessage, UploadMessage
from shell.work.reading import Operations, dispatch


def _request_completion(message: CompletionMessage) -> None:
    resume_import(message.import_id)


def _run_undo(message: UndoMessage) -> None:
    # Few messages are about undos.
    from shell.imports.undo.run import run_undo

    run_undo(message)


def _request_undo_completion(message: UndoCompletionMessage) -> None:
    _run_undo(UndoMessage(message.import_id, message.undo_no, message.generation))


OPERATIONS: Operations = {
    UploadMessage: start_imports,
    ImportMessage: start_requested_import,
    CompletionMessage: _request_completion,
    UndoMessage: _run_undo,
    UndoCompletionMessage: _request_undo_completion,
}

lambda_handler = sqs_handler(dispatch(OPERATIONS), lambda config: config.import_requests_queue_url)
