"""Start the import of an uploaded or retried load file: register it, split it and queue its chunks.

An undo is started here, too.
"""

from __future__ import annotations

from shell.imports.start import start_imports, start_requested_import
from shell.lambda_handlers import sqs_handler
from shell.work.messages import ImportMessage, UndoMessage, UploadMessage
from shell.work.reading import Operations, dispatch


def _run_undo(message: UndoMessage) -> None:
    # Few messages are about undos.
    from shell.imports.undo.run import run_undo

    run_undo(message)


OPERATIONS: Operations = {UploadMessage: start_imports, ImportMessage: start_requested_import, UndoMessage: _run_undo}

lambda_handler = sqs_handler(dispatch(OPERATIONS), lambda config: config.import_requests_queue_url)
