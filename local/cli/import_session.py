"""The imports of one command into one stack, with their progress on standard error.

An error of a service ends the session: the files that are left fail with it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from pymysql import MySQLError
from rich.console import Console

from local.cli import report_download, upload_and_wait
from local.cli.import_status import ImportProgress, ImportProgressReader
from local.cli.progress import FileProgress, ProgressDisplay
from local.cli.summary import ImportResult
from local.errors import ImportRefusedError, ImportStalledError, LocalError
from local.services.mysql_connection import describe_error
from local.stack import LocalStack
from local.stack.served_stack import ServedStack

if TYPE_CHECKING:
    from pathlib import Path

    from local.cli.import_files import ImportRequest

Stack: TypeAlias = LocalStack | ServedStack

_SERVICE_ERRORS = (Boto3Error, BotoCoreError, ClientError, MySQLError)


def import_into(stack: Stack | LocalError, request: ImportRequest) -> list[ImportResult]:
    """Import the files one after another: for a document that is in two of them the order matters.

    With the error of a stack that did not start, all of them fail.
    """
    results: list[ImportResult] = []
    # With --json the progress display is off.
    console = Console(stderr=True, highlight=False, force_terminal=False if request.json else None)
    with ProgressDisplay(console) as display:
        try:
            if isinstance(stack, LocalError):
                raise stack
            display.note(_describe_stack(stack))
            if isinstance(stack, ServedStack) and request.workers:
                display.warn("--workers has no effect: `exhibit-ingest serve` runs the functions with its own number")
            with stack, ImportProgressReader(stack.database_url) as states:
                for file in request.files:
                    results.append(_import_one(stack, states, request, file, display))
        except (LocalError, *_SERVICE_ERRORS) as exc:
            results += [ImportResult(file, None, _describe_error(exc), 0.0) for file in request.files[len(results) :]]
    return results


def _describe_stack(stack: Stack) -> str:
    if isinstance(stack, ServedStack):
        return f"Using the stack of `exhibit-ingest serve` (process {stack.address.pid}) ..."
    return "Starting the database, S3, SQS, SNS and the functions ..."


def _import_one(
    stack: Stack, states: ImportProgressReader, request: ImportRequest, file: Path, display: ProgressDisplay
) -> ImportResult:
    line = display.add_file(file.name)
    read_state = None
    began = time.monotonic()
    try:
        upload = upload_and_wait.upload_load_file(stack, file, request.tenant, request.case, request.options)
        read_state = upload_and_wait.build_state_reader(states, upload)
        state = upload_and_wait.wait_for_import(stack, read_state, build_state_display(stack, line, display))
    except ImportRefusedError as exc:
        return ImportResult(file, None, states.find_refusal(upload.key) or str(exc), time.monotonic() - began)
    except (ImportStalledError, OSError) as exc:
        return ImportResult(file, read_state() if read_state else None, str(exc), time.monotonic() - began)
    seconds = time.monotonic() - began
    if state.failed:
        return ImportResult(file, state, _describe_failure(state), seconds)
    reports = report_download.download(stack.s3, stack.bucket, state, stack.state_dir / "reports")
    return ImportResult(file, state, None, seconds, reports)


def _describe_error(error: Exception) -> str:
    """Return the message for the user; of a database error, the number and message of the server or driver."""
    return describe_error(error) if isinstance(error, MySQLError) else str(error)


def _describe_failure(state: ImportProgress) -> str:
    return f"{state.failure_code}: {state.failure_message}" if state.failure_code else f"the import was {state.status}"


def build_state_display(stack: Stack, line: FileProgress, display: ProgressDisplay) -> upload_and_wait.OnState:
    """Return a callback that shows an import's state and the stack's failed invocations."""

    def on_state(state: ImportProgress | None) -> None:
        line.show(state)
        display.show_failures(stack.failures())

    return on_state
