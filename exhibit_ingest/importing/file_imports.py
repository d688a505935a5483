"""The imports of one command into one stack, with their progress on standard error.

Guaranteed: an import of a command that was killed is found by the same command, and goes on or is waited for, also on a
stack that ended with its command. An interruption cancels the import that runs. Without the stack, the files that are
left fail with its error.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.importing.bates import read_bates
from exhibit_ingest.importing.cancellation import INTERRUPTED, call_in_time, cancel_import, describe_cancelled
from exhibit_ingest.importing.checks import check_case
from exhibit_ingest.importing.display import FileProgress, ProgressDisplay, open_display
from exhibit_ingest.importing.options import build_members, explain_refusal
from exhibit_ingest.importing.result import ImportResult, build_result, keep_profile, read_result
from exhibit_ingest.importing.state import ImportState, read_import
from exhibit_ingest.importing.waiting import wait_for_import
from exhibit_ingest.session.following import StalledError, check_machine
from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.journal import Journal
from exhibit_ingest.uploads.local_files import find_file
from exhibit_ingest.uploads.uploads import Sent, Uploads

if TYPE_CHECKING:
    from exhibit_ingest.import_request import ImportRequest
    from exhibit_ingest.session.session import Session
    from exhibit_ingest.uploads.protocols import Progress

# Codes of uploads: of options and names that the API refuses, and of no answer.
_INVALID, _NOT_FOUND, _NETWORK = "invalid-request", "not-found", "NETWORK"
_NOT_CANCELLED = "The counts are those of the last reading; the same command goes on with this import."


def import_into(session: Session, request: ImportRequest, results: list[ImportResult]) -> None:
    """Import the files one after another, since the order matters for a document in two of them; add their results.

    Raises KeyboardInterrupt when every file has a result, and WrongUsageError, before anything is imported, if the case
    does not exist and similar ones do, an overlay needs it, or an option is wrong.
    """
    with open_display(as_json=request.json) as display:
        current: FileImport | None = None
        try:
            describe_session(session, request, display)
            for file in request.files:
                current = FileImport(session, request, file, display)
                result = current.run()
                if not any(each.saved_profile for each in results):
                    result = keep_profile(session, request, result, display)
                results.append(result)
                current = None
        except CommandError as exc:
            # Of several files, the results of the first are not lost with a later one.
            if isinstance(exc, WrongUsageError) and not results:
                raise
            _fail(str(exc), request, results, current)
        except KeyboardInterrupt:
            _fail(INTERRUPTED, request, results, current)
            raise


def describe_session(session: Session, request: ImportRequest, display: ProgressDisplay) -> None:
    """Show which stack is used, and check the case. Raises WrongUsageError and CommandError."""
    if session.machine is not None:
        display.note(session.machine.description)
    if request.workers and (session.machine is None or session.machine.is_kept):
        display.warn("--workers has no effect: the stack that runs already has its own number")
    check_case(
        session,
        request.case,
        is_overlay=request.options.get("mode") == "overlay",
        may_create=request.create_case,
    )


def _fail(error: str, request: ImportRequest, results: list[ImportResult], current: FileImport | None) -> None:
    """Add the result of the file that was being imported, and the error for each file that is left."""
    if current and len(results) < len(request.files):
        results.append(current.result or current.build_failure(error))
    left = request.files[len(results) :]
    results += [ImportResult(file, None, error, 0.0) for file in left]


@dataclass
class FileImport:
    """The import of one file; `result` is set once it is known."""

    session: Session
    request: ImportRequest
    file: Path
    display: ProgressDisplay
    result: ImportResult | None = None
    sent: Sent | None = None
    last: ImportState | None = None

    def __post_init__(self) -> None:
        self._began = time.monotonic()

    def run(self) -> ImportResult:
        """Import the file. Raises CommandError, and KeyboardInterrupt after the import has been cancelled."""
        line = self.display.add_file(self.file.name, is_check=self.request.is_check)
        try:
            self.result = self._run(line)
        except (StalledError, OSError) as exc:
            return self.build_failure(str(exc))
        except KeyboardInterrupt as interruption:
            self._cancel(interruption)
            raise
        return self.result

    def build_failure(self, error: str) -> ImportResult:
        """Return the result with an error that ended the wait, and the last state that was read."""
        text = f"{error.removesuffix('.')}. {_NOT_CANCELLED}" if self.last and not self.last.ended else error
        return ImportResult(self.file, self.last, text, self._measure())

    def _run(self, line: FileProgress) -> ImportResult:
        refused = self._send(line)
        if refused is not None:
            return ImportResult(self.file, None, refused, self._measure())
        state = self._wait(line)
        # What follows can fail, and the next command with this file is to begin another import.
        self._close()
        result = build_result(self.session, self.file, state, self._measure())
        return replace(result, bates=read_bates(self.session, state), seconds=self._measure())

    def _send(self, line: FileProgress) -> str | None:
        """Send the file, or find the import that an earlier command sent it to; return why the stack refuses it."""
        try:
            self._send_once(line)
            self._show_earlier()
        except UploadFault as fault:
            check_machine(self.session.machine)
            if fault.code == _INVALID:
                raise WrongUsageError(explain_refusal(str(fault))) from fault
            if fault.kind == "final" and fault.code != _NETWORK:
                return self._name_subject(fault) + explain_refusal(str(fault))
            raise CommandError(str(fault)) from fault
        except CommandError:
            check_machine(self.session.machine)
            raise
        return None

    def _name_subject(self, fault: UploadFault) -> str:
        """Return the argument that names what the stack has not found, with a colon; empty for another fault."""
        request = self.request
        if fault.code != _NOT_FOUND or (request.profile is None and request.corrects is None):
            return ""
        return f"--profile {request.profile!r}: " if request.profile else f"--corrects {request.corrects}: "

    def _send_once(self, line: FileProgress) -> None:
        session = self.session
        uploads = Uploads(
            session.api,
            f"{session.stack} {session.me['tenantId']}",
            Journal(session.folder),
            session.storage,
            self.request.limit_rate,
            partial(self._show_upload, line),
        )
        self.sent = uploads.send_import(find_file(self.file), build_members(self.request))

    def _show_upload(self, line: FileProgress, progress: Progress) -> None:
        line.show_upload(progress)
        # An upload waits for a stack that does not answer; one of this machine that has ended does not come back.
        check_machine(self.session.machine)

    def _show_earlier(self) -> None:
        """Say that the file was sent by an earlier command, whose import goes on or has ended."""
        if self.sent is None or not self.sent.is_earlier:
            return
        self.last = read_import(self.session.api, self.sent.number)
        text = f"{self.file.name}: import {self.last.id} of an earlier command goes on"
        if self.last.ended:
            text = f"{self.file.name}: import {self.last.id} of an earlier command has ended; its result follows."
            text += " To import the file again, run the command again"
        self.display.warn(text)

    def _wait(self, line: FileProgress) -> ImportState:
        if self.sent is None:
            raise CommandError("The upload has no number. Run the command again.")

        def on_state(state: ImportState) -> None:
            self.last = state
            line.show(state)

        return wait_for_import(self.session, self.sent.number, on_state, self.display.show_failures)

    def _close(self) -> None:
        """Forget the upload: the next command with this file begins another import."""
        if self.sent is not None:
            self.sent.close()

    def _cancel(self, interruption: KeyboardInterrupt) -> None:
        """Cancel the import, and note on the interruption what is in."""
        if self.sent is None:
            text = describe_cancelled(None)
            interruption.add_note(text)
            self.result = ImportResult(self.file, None, f"{INTERRUPTED}; {text}", self._measure())
            return
        self.display.warn("Interrupted. Cancelling the import ...")
        try:
            state, self.result = call_in_time(partial(self._cancel_import, self.sent.number))
        except (CommandError, OSError) as exc:
            interruption.add_note(f"{exc}. {_NOT_CANCELLED}")
            raise interruption from exc
        self._close()
        interruption.add_note(describe_cancelled(state))

    def _cancel_import(self, number: int) -> tuple[ImportState, ImportResult]:
        state = cancel_import(self.session, number)
        error = f"{INTERRUPTED}; {describe_cancelled(state)}"
        return state, read_result(self.session, self.file, state, self._measure(), error=error)

    def _measure(self) -> float:
        return time.monotonic() - self._began
