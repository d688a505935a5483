"""Complete an import, or its check, when its last chunk is done: final spellings of names, counts, status, event.

An undo is completed here, too, when its last part is done.
"""

from __future__ import annotations

from shell.imports.checks.completion import complete_check
from shell.imports.completing.completion import complete_import
from shell.lambda_handlers import sqs_handler
from shell.work.messages import CompletionMessage, UndoCompletionMessage
from shell.work.reading import Operations, dispatch


def _complete_import(message: CompletionMessage) -> None:
    if not complete_check(message.import_id, message.generation):
        complete_import(message.import_id, message.generation)


def _complete_undo(message: UndoCompletionMessage) -> None:
    # Few messages are about undos.
    from shell.imports.undo.ending import complete_undo

    complete_undo(message.import_id, message.undo_no)


OPERATIONS: Operations = {CompletionMessage: _complete_import, UndoCompletionMessage: _complete_undo}

lambda_handler = sqs_handler(dispatch(OPERATIONS), lambda config: config.import_completions_queue_url)
