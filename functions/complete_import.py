"""Complete an import, or its check, when its last chunk is done: final spellings of names, counts, status, event.

An undo ends here, too, when its last part is done.
"""

from __future__ import annotations

from typing import Any

from shell.imports.checks.completion import complete_check
from shell.imports.completing.completion import complete_import
from shell.lambda_handlers import sqs_handler


def handle(message: dict[str, Any]) -> None:
    """Complete the import that the message names, or its check, or end its undo."""
    if "undo_no" in message:
        # Few messages are about undos.
        from shell.imports.undo.ending import complete_undo

        complete_undo(int(message["import_id"]), int(message["undo_no"]))
        return
    import_id, generation = int(message["import_id"]), int(message["generation"])
    if not complete_check(import_id, generation):
        complete_import(import_id, generation)


lambda_handler = sqs_handler(handle, lambda config: config.import_completions_queue_url)
