"""The imports of one command into one stack, with their progress on standard error.

An error of a service ends the session: the files that are left fail with it. An interruption cancels the import that
runs. An import that could not be cancelled is left in the journal, and the next session cancels it first.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError
from pymysql import MySQLError
from rich.console import Console

from core.imports.columns.report import describe_columns
from core.imports.error_file import adds_lines
from core.load_file.layout import Layout
from core.load_mode import Mode
from exhibit_ingest.cli.cancellation import (
    Stack,
    cancel_abandoned,
    cancel_import,
    describe_abandoned,
    describe_cancelled,
    describe_database,
)
from exhibit_ingest.cli.checks import check_case_exists, check_overlay_case
from exhibit_ingest.cli.import_journal import ImportJournal, RunningImport
from exhibit_ingest.cli.import_status import CodeCounts, ImportProgress, ImportProgressReader, list_open_undos
from exhibit_ingest.cli.progress import ProgressDisplay
from exhibit_ingest.cli.report_download import Reports, download_reports
from exhibit_ingest.cli.signals import Interrupted
from exhibit_ingest.cli.summary import ImportResult, SavedProfile
from exhibit_ingest.cli.upload_and_wait import build_upload_key, upload_load_file, wait_for_import
from exhibit_ingest.profiles import apply_profile, save_profile
from exhibit_ingest.undo.resuming import describe_resumed, resume_undos
from local.errors import DiskFullError, ImportRefusedError, ImportStalledError, LocalError, UsageError
from local.services.disk_space import check_disk_space, temporary_folder
from local.services.mysql_connection import describe_error
from local.stack import LocalStack
from local.stack.served_stack import ServedStack

if TYPE_CHECKING:
    from pathlib import Path

    from exhibit_ingest.import_request import ImportRequest

ImportDetails: TypeAlias = tuple[CodeCounts, Layout | None, dict[str, int] | None, dict[str, int]]

SERVICE_ERRORS = (LocalError, Boto3Error, BotoCoreError, ClientError, MySQLError)
_INTERRUPTED = "the command was interrupted"
_NOT_CANCELLED = "The counts are those of the last reading; the next import on this machine cancels this one."


def import_into(
    stack: Stack | LocalError, request: ImportRequest, results: list[ImportResult], reconnect: Callable[[], Stack]
) -> None:
    """Import the files one after another, since the order matters for a document in two of them; add their results.

    With the error of a stack that did not start, all of them fail. `reconnect` returns another stack, which counts what
    is in when this one has failed. Raises Interrupted when every file has a result, and UsageError, before anything is
    imported, if the case does not exist and similar ones do, or an overlay needs it.
    """
    # With --json the progress display is off.
    console = Console(stderr=True, highlight=False, emoji=False, force_terminal=False if request.json else None)
    with ProgressDisplay(console) as display:
        session = _Session(stack, request, display, results)
        try:
            session.run()
        except UsageError:
            raise
        except SERVICE_ERRORS as exc:
            session.fail(describe_service_error(exc), reconnect)
        except Interrupted:
            session.fail(_INTERRUPTED)
            raise


@dataclass
class _Session:
    stack: Stack | LocalError
    request: ImportRequest
    display: ProgressDisplay
    results: list[ImportResult]
    current: _Import | None = None

    def run(self) -> None:
        stack = self.stack
        if isinstance(stack, LocalError):
            raise stack
        with enter_stack(stack, self.request, self.display) as (states, self.request):
            for file in self.request.files:
                self.current = _Import(stack, states, self.request, file, self.display)
                result = self.current.run()
                if not any(each.saved_profile for each in self.results):
                    result = keep_profile(stack, self.request, result, self.display)
                self.results.append(result)

    def fail(self, error: str, reconnect: Callable[[], Stack] | None = None) -> None:
        """Add the result of the file that was being imported, and the error for each file that is left."""
        if self.current and len(self.results) < len(self.request.files):
            self.results.append(self.current.result or self.current.recover(error, reconnect))
        left = self.request.files[len(self.results) :]
        self.results += [ImportResult(file, None, error, 0.0) for file in left]


@contextlib.contextmanager
def enter_stack(
    stack: Stack, request: ImportRequest, display: ProgressDisplay
) -> Iterator[tuple[ImportProgressReader, ImportRequest]]:
    """Run the stack for the block, after the work of commands that were interrupted is cancelled or resumed.

    Yields what reads the states of imports, and the request with the options of its profile.
    Raises UsageError if the case does not exist and similar ones do, or an overlay needs it.
    """
    display.note(_describe_stack(stack))
    if isinstance(stack, ServedStack) and request.workers:
        display.warn("--workers has no effect: `serve` runs the functions with its own number")
    with stack, ImportProgressReader(stack.database_url) as states:
        for upload, state, reports in cancel_abandoned(stack):
            display.warn(describe_abandoned(upload, state, reports))
        if isinstance(stack, LocalStack):
            # The stack of `serve` has resumed them.
            for undo in resume_undos(stack, list_open_undos(stack.database_url)):
                display.warn(describe_resumed(undo))
        if request.profile:
            options = apply_profile(stack, request.tenant, request.profile, request.options)
            request = replace(request, options=options)
        names = states.list_case_names(request.tenant)
        if request.options.get("mode") == Mode.OVERLAY:
            check_overlay_case(names, request.case)
        elif not request.create_case:
            check_case_exists(names, request.case)
        yield states, request


def keep_profile(stack: Stack, request: ImportRequest, result: ImportResult, display: ProgressDisplay) -> ImportResult:
    """Save how the file was read, if that is requested; return the result with the profile or the refusal."""
    name = request.save_profile
    if name is None or result.failed or result.state is None:
        return result
    try:
        version = save_profile(stack, request.tenant, name, result.state.id, request.options)
    except LocalError as exc:
        display.warn(str(exc))
        return replace(result, is_profile_refused=True)
    return replace(result, saved_profile=SavedProfile(name, version))


def _describe_stack(stack: Stack) -> str:
    if isinstance(stack, ServedStack):
        return f"Using the stack of `serve` (process {stack.address.pid}) ..."
    return "Starting the database, S3, SQS, SNS and the functions ..."


class _Import:
    """The import of one file; `result` is set once it is known."""

    def __init__(
        self, stack: Stack, states: ImportProgressReader, request: ImportRequest, file: Path, display: ProgressDisplay
    ) -> None:
        self.result: ImportResult | None = None
        self._stack = stack
        self._states = states
        self._options = request.options
        self._file = file
        self._display = display
        self._last: ImportProgress | None = None
        self._has_begun = False
        self._began = time.monotonic()
        key = build_upload_key(request.tenant, request.case, file)
        self._upload = RunningImport(str(file), request.tenant, stack.bucket, key, describe_database(stack))

    def run(self) -> ImportResult:
        """Import the file. Raises SERVICE_ERRORS, and Interrupted after the import has been cancelled."""
        with ImportJournal(self._stack.state_dir).record(self._upload) as has_ended:
            try:
                self.result = self._upload_and_wait()
            except ImportRefusedError as exc:
                self.result = self._build_result(None, self._states.find_refusal(self._upload.key) or str(exc))
            except (ImportStalledError, OSError) as exc:
                return self._build_result(self._last, str(exc))
            except Interrupted as interruption:
                self._cancel(interruption)
                has_ended()
                raise
            has_ended()
            return self.result

    def recover(self, error: str, reconnect: Callable[[], Stack] | None) -> ImportResult:
        """Return the result after the stack has failed: another one cancels the import and counts what is in."""
        with contextlib.suppress(*SERVICE_ERRORS, OSError):
            if reconnect and self._has_begun:
                self._display.warn(f"{error}. Counting the rows that are in ...")
                with reconnect() as stack:
                    for upload, state, reports in list(cancel_abandoned(stack)):
                        if upload == self._upload:
                            return self._build_result(state, error, reports)
        return self._build_result(self._last, f"{error}. {_NOT_CANCELLED}" if self._last else error)

    def _upload_and_wait(self) -> ImportResult:
        line = self._display.add_file(self._file.name, is_check=bool(self._options.get("dry_run")))
        # S3 is on this machine, and keeps a large object in a temporary file.
        check_disk_space(temporary_folder(), self._file.stat().st_size)
        self._has_begun = True
        upload_load_file(self._stack, self._file, self._upload.key, self._options)

        def on_state(state: ImportProgress | None) -> None:
            self._last = state
            line.show(state)
            self._display.show_failures(self._stack.failures())
            self._check_disk_space()

        state = wait_for_import(self._stack, partial(self._states.find, self._stack.bucket, self._upload.key), on_state)
        if state.failed:
            return self._build_result(state, describe_failure(state))
        try:
            reports = download_reports(self._stack, self._upload, state)
            return self._build_result(state, None, reports, read_details(self._states, state))
        except OSError as exc:
            return self._build_result(state, f"every row is imported or rejected, but the reports are not saved: {exc}")

    def _check_disk_space(self) -> None:
        """Raise DiskFullError, after printing it: the server may need a minute to end."""
        try:
            for folder in (self._stack.state_dir, temporary_folder()):
                check_disk_space(folder)
        except DiskFullError as exc:
            self._display.warn(f"Stopping: {exc}")
            raise

    def _cancel(self, interruption: Interrupted) -> None:
        """Cancel the import, and note on the interruption what is in."""
        self._display.warn("Interrupted. Cancelling the import ...")
        try:
            # The interruption may have left the other connection in the middle of an answer.
            with ImportProgressReader(self._stack.database_url) as states:
                state = cancel_import(self._stack, states, self._upload)
                details = read_details(states, state) if state else None
            reports = download_reports(self._stack, self._upload, state) if state else Reports()
        except (*SERVICE_ERRORS, OSError) as exc:
            interruption.add_note(f"{describe_service_error(exc)}. {_NOT_CANCELLED}")
            raise interruption from exc
        interruption.add_note(describe_cancelled(state))
        self.result = self._build_result(state, f"{_INTERRUPTED}; {describe_cancelled(state)}", reports, details)

    def _build_result(
        self,
        state: ImportProgress | None,
        error: str | None,
        reports: Reports | None = None,
        details: ImportDetails | None = None,
    ) -> ImportResult:
        seconds = time.monotonic() - self._began
        codes, layout, pages, stored_paths = details or (CodeCounts(), None, None, {})
        columns = describe_columns(layout) if layout else []
        mode = layout.load_mode.mode if layout else None
        found = (reports or Reports(), codes, columns)
        result = ImportResult(self._file, state, error, seconds, *found, mode=mode, pages=pages)
        return replace(result, stored_paths=stored_paths, corrects=find_corrected(state, layout))


def read_details(states: ImportProgressReader, state: ImportProgress) -> ImportDetails:
    """Return the counts by code, how the file was read, its counts of pages if it is an image load file, and paths."""
    layout = states.read_layout(state.id)
    pages = states.count_pages(state.id) if layout and layout.image_format else None
    return states.count_codes(state.id), layout, pages, states.count_stored_paths(state.id)


def find_corrected(state: ImportProgress | None, layout: Layout | None) -> int | None:
    """Return the import that `--corrects` names for the error file of an import; None if no file can correct its rows.

    The error file of a correction has the lines of the import that this one corrects.
    """
    if state is None or layout is None or layout.image_format:
        return None
    return state.corrects_import_id or (state.id if adds_lines(layout) else None)


def describe_service_error(error: Exception) -> str:
    """Return the message for the user; of a database error, the number and message of the server or driver."""
    return describe_error(error) if isinstance(error, MySQLError) else str(error)


def describe_failure(state: ImportProgress) -> str:
    """Return why an import has failed."""
    if state.status == "blocked":
        return "it was not imported, because the data file of its volume was not"
    return f"{state.failure_code}: {state.failure_message}" if state.failure_code else f"the import was {state.status}"
