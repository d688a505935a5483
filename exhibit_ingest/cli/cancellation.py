"""Cancel the import of a command that was interrupted or killed, and count what is in.

Guaranteed: the cancellation is the application's own, through its API; the counts are those of the committed chunks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Protocol, TypeAlias

from exhibit_ingest.cli.import_journal import ImportJournal, RunningImport
from exhibit_ingest.cli.import_status import ImportProgress, ImportProgressReader
from exhibit_ingest.cli.report_download import Reports, download_reports
from exhibit_ingest.stack_parts import HasActivity
from local.errors import LocalError
from local.services.mysql_connection import describe_place
from local.stack import LocalStack
from local.stack.served_stack import ServedStack

Stack: TypeAlias = LocalStack | ServedStack

_SECONDS = 20.0
_POLL_SECONDS = 0.1
_USER = "exhibit-ingest"


class CancellingStack(HasActivity, Protocol):
    """The part of a stack that a cancellation needs."""

    def call_api(self, tenant: str, user: str, method: str, path: str) -> int:
        """Send a request to the API, as this user, and return the status code of its response."""


def cancel_import(stack: CancellingStack, states: ImportProgressReader, upload: RunningImport) -> ImportProgress | None:
    """Cancel an upload's import if it has not ended; return its state, after its reports are written if it has any.

    Returns None if no function has registered the import. Raises LocalError if it cannot be cancelled.
    """
    deadline = time.monotonic() + _SECONDS
    state = _poll(stack, states, upload, deadline, lambda state: True)
    if state is None:
        return None
    if not state.ended:
        status = stack.call_api(upload.tenant, _USER, "POST", f"/imports/{state.id}/cancel")
        # An import that has completed meanwhile is a conflict.
        if status not in (HTTPStatus.OK, HTTPStatus.CONFLICT):
            raise LocalError(f"import {state.id} could not be cancelled: the API returned {status}")
    return _poll(stack, states, upload, deadline, lambda state: state.ended and state.has_reports)


def _poll(
    stack: CancellingStack,
    states: ImportProgressReader,
    upload: RunningImport,
    deadline: float,
    is_enough: Callable[[ImportProgress], bool],
) -> ImportProgress | None:
    """Return the state once it is enough, or once nothing can change it any more, or after the deadline."""
    idle = False
    while True:
        state = states.find(upload.bucket, upload.key)
        if (state and is_enough(state)) or idle or time.monotonic() >= deadline:
            return state
        idle = stack.is_idle()
        if not idle:
            stack.wait_for_activity(_POLL_SECONDS)


def describe_cancelled(state: ImportProgress | None) -> str:
    """Return a sentence about an import after `cancel_import`."""
    if state is None:
        return "the import had not started: none of its rows are in."
    counts = f"{state.rows_imported:,} of {state.rows_seen:,} rows are in, {state.rejected:,} rejected"
    if state.status != "cancelled":
        return f"the import is {state.status.replace('_', ' ')}: {counts}."
    return f"the import was cancelled: {counts}. Import the file again to get the remaining rows."


def cancel_abandoned(stack: Stack) -> Iterator[tuple[RunningImport, ImportProgress, Reports]]:
    """Cancel the imports of commands that were killed, and download their reports."""
    for upload in ImportJournal(stack.state_dir).list_abandoned(describe_database(stack)):
        with ImportProgressReader(stack.database_url) as states:
            state = cancel_import(stack, states, upload)
        if state is not None:
            yield upload, state, download_reports(stack, upload, state)


def describe_abandoned(upload: RunningImport, state: ImportProgress, reports: Reports) -> str:
    """Return a sentence about what `cancel_abandoned` has cancelled."""
    message = f"{upload.file}, of a command that was ended: {describe_cancelled(state)}"
    return f"{message} Its reports: {reports.report.parent}" if reports.report else message


def describe_database(stack: Stack) -> str:
    """Return what tells the database from others, without its password."""
    is_private = stack.address.is_private if isinstance(stack, ServedStack) else not stack.options.database_url
    return "private" if is_private else describe_place(stack.database_url)
