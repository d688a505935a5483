"""Write the report files of a completed or cancelled import to S3, the findings of a check, or what an undo kept."""

from __future__ import annotations

from shell.imports.checks.report import write_check_report
from shell.imports.completing.reports import write_report
from shell.lambda_handlers import sqs_handler
from shell.volumes.unreferenced import write_unreferenced
from shell.work.messages import ImportCheckedMessage, ImportEndedMessage, ImportUndoneMessage
from shell.work.reading import Operations, dispatch


def _write_report(message: ImportEndedMessage) -> None:
    # Before the reports are marked as written, which clients wait for.
    write_unreferenced(message)
    write_report(message)


def _write_check_report(message: ImportCheckedMessage) -> None:
    write_unreferenced(message)
    write_check_report(message)


def _write_undo_report(message: ImportUndoneMessage) -> None:
    # Few messages are about undos.
    from shell.imports.undo.report import write_undo_report

    write_undo_report(message)


OPERATIONS: Operations = {
    ImportEndedMessage: _write_report,
    ImportCheckedMessage: _write_check_report,
    ImportUndoneMessage: _write_undo_report,
}

lambda_handler = sqs_handler(dispatch(OPERATIONS), lambda config: config.import_reports_queue_url)
