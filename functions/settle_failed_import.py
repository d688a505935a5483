"""Retry a dead-lettered import request once; if it fails again, record the import as failed, with the reason.

The same goes for the request of an undo, and for work on a volume.
"""

from __future__ import annotations

from typing import Any

from shell.imports.failed_imports import settle_failed_imports
from shell.lambda_handlers import sqs_handler


def handle(message: dict[str, Any]) -> None:
    """Settle the request that the message is."""
    if "undo_no" in message:
        # Few messages are about undos.
        from shell.imports.undo.failures import settle_failed_undo

        settle_failed_undo(message)
    elif "volume_id" in message:
        from shell.volumes.failed_work import settle_failed_work

        settle_failed_work(message)
    else:
        settle_failed_imports(message)


lambda_handler = sqs_handler(handle)
