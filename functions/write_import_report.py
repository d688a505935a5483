"""Write files to S3: the reports of a completed or cancelled import, of a check or an undo, and exports."""

from __future__ import annotations

from shell.imports.checks.report import write_check_report
from shell.imports.completing.reports import write_report
from shell.lambda_handlers import sqs_handler
from shell.volumes.unreferenced import write_unreferenced
from shell.work.messages import ExportMessage, ImportCheckedMessage, ImportEndedMessage, ImportUndoneMessage
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


def _write_export(message: ExportMessage) -> None:
    # Reports do not need what exports do: the list of exhibits and its contracts.
    from shell.exports.worker import write_export

    write_export(message)


OPERATIONS: Operations = {
    ImportEndedMessage: _write_report,
    ImportCheckedMessage: _write_check_report,
    ImportUndoneMessage: _write_undo_report,
    ExportMessage: _write_export,
}

lambda_handler = sqs_handler(dispatch(OPERATIONS), lambda config: config.import_reports_queue_url)
