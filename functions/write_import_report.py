"""Write the report files of a completed or cancelled import to S3, the findings of a check, or what an undo kept."""

from __future__ import annotations

from typing import Any

from shell.imports.checks.report import write_check_report
from shell.imports.completing.reports import write_report
from shell.lambda_handlers import sqs_handler
from shell.volumes.unreferenced import write_unreferenced


def handle(message: dict[str, Any]) -> None:
    """Write the files for the event that the message is."""
    if message.get("eventType") == "import.undone":
        # Few messages are about undos.
        from shell.imports.undo.report import write_undo_report

        write_undo_report(message)
        return
    # Before the reports are marked as written, which clients wait for.
    write_unreferenced(message)
    if message.get("eventType") == "import.checked":
        write_check_report(message)
    else:
        write_report(message)


lambda_handler = sqs_handler(handle, lambda config: config.import_reports_queue_url)
