"""Start the import of an uploaded or retried load file: register it, split it and queue its chunks.

An undo is started here, too.
"""

from __future__ import annotations

from typing import Any

from shell.imports.start import start_imports
from shell.lambda_handlers import sqs_handler


def handle(message: dict[str, Any]) -> None:
    """Start what the message asks for."""
    if "undo_no" in message:
        # Few messages are about undos.
        from shell.imports.undo.run import run_undo

        run_undo(message)
    else:
        start_imports(message)


lambda_handler = sqs_handler(handle, lambda config: config.import_requests_queue_url)
