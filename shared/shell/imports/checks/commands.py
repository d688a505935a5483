"""Import a file that was checked, without another upload.

Guaranteed: a check is run once; the import reads the same version and the same chunks, each again from its bytes, and
decides every row anew, because the case may have changed since the check.
"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.checks import RunRequest
from core.contracts.imports.states import ImportState
from core.errors import FileRefusedError, SourceChangedError, WrongStateError
from core.events import import_started
from core.imports.check_summary import CheckStatus, judge_check, read_summaries
from core.statuses import ImportStatus
from shell.activity_log import Act, ActKind, record_act
from shell.aws.s3 import ObjectVersion
from shell.aws.sqs import send_messages
from shell.imports.state.access import build_not_found, refuse_during_undo, require_import
from shell.imports.state.codes import CARRY_CODES
from shell.imports.state.dependents import hold_back
from shell.imports.state.findings import CaseState, read_case_state
from shell.imports.state.import_states import read_state
from shell.outbox.writer import append_events
from shell.settings import settings
from shell.tables.import_checks import ImportChecks
from shell.tables.imports import Imports
from shell.volume_files.deleted import refuse_without_volume
from shell.volume_files.documents import clear_page_counts
from shell.work.messages import ImportMessage

_RESET_CHUNKS = text(
    "UPDATE import_chunks SET status = 'pending', redrives = 0, imported = 0, unchanged = 0, updated = 0, "
    "rejected = 0, warnings = 0, finished_at = NULL, import_digest = NULL WHERE import_id = :import_id"
)
_RUN = text(
    f"UPDATE imports SET {CARRY_CODES}, status = :status, phase = 'import', "  # noqa: S608
    "wanted = IF(wanted IS NULL, NULL, 'import'), generation = generation + 1, chunks_left = chunk_count, "
    "chunks_failed = 0, started_at = NOW(6), finished_at = NULL WHERE id = :import_id AND status = 'checked'"
)


def run_checked(transaction: Session, caller: Caller, import_id: int, body: RunRequest) -> ImportState:
    """Import the file of an import that was checked; return its state.

    Images wait for the import of their data file, if that is under way. The message that has the chunks queued is sent
    before the commit, as for a retry (`shell.imports.commands`).
    Raises NotFoundError if the tenant has no such import; WrongStateError if it is not checked, if the check found
    something that `body` does not accept, if the case has changed and `body` requires that it has not, or if another
    import of the case is being undone, or if its volume is deleted;
    SourceChangedError if the file is not the one that was checked; QueueUnavailableError.
    """
    require_import(transaction, caller, import_id)
    refuse_during_undo(transaction, import_id)
    refuse_without_volume(transaction, import_id)
    status = hold_back(transaction, import_id) or ImportStatus.RUNNING
    import_record = _lock(transaction, caller, import_id)
    check = transaction.get_one(ImportChecks, import_id)
    _require_accepted(check, body)
    if body.require_unchanged:
        _require_unchanged(transaction, import_record, check)
    _require_source(import_record)
    transaction.execute(_RESET_CHUNKS, {"import_id": import_id})
    clear_page_counts(transaction, import_id)
    transaction.execute(_RUN, {"import_id": import_id, "status": status.value})
    started = import_started(import_id, caller.tenant_id, import_record.rows_seen, import_record.chunk_count)
    append_events(transaction, [started])
    summary = {"generation": import_record.generation + 1}
    record_act(transaction, caller, Act(ActKind.IMPORT_RUN, import_id, import_record.case_id, summary))
    request = ImportMessage(import_id, import_record.generation + 1)
    send_messages(settings().import_requests_queue_url, [request], tenant_id=caller.tenant_id)
    return read_state(transaction, caller, import_id)


def _lock(transaction: Session, caller: Caller, import_id: int) -> Imports:
    import_record = transaction.get(Imports, import_id, with_for_update=True)
    if import_record is None or import_record.tenant_id != caller.tenant_id:
        raise build_not_found()
    if import_record.status != ImportStatus.CHECKED:
        raise WrongStateError(
            f"The import has the status {import_record.status}; only an import that is checked can be run."
        )
    return import_record


def _require_accepted(check: ImportChecks, body: RunRequest) -> None:
    found = judge_check(read_summaries(check.findings or "[]"))
    if found is CheckStatus.ERRORS and not body.accept_rejections:
        raise WrongStateError(
            f"{check.would_reject} rows would be rejected; correct the file and check it again, or accept that they "
            "are left out (acceptRejections)."
        )
    if found is CheckStatus.WARNINGS and not (body.acknowledge_warnings or body.accept_rejections):
        raise WrongStateError("The check has warnings; look at them, then confirm that (acknowledgeWarnings).")


def _require_unchanged(transaction: Session, import_record: Imports, check: ImportChecks) -> None:
    before = CaseState(check.exhibits_before, check.last_exhibit_before, check.changes_before)
    if read_case_state(transaction, import_record.case_id) != before:
        raise WrongStateError(
            "Exhibits were added to the case, changed or deleted after the check began; check the file again."
        )


def _require_source(import_record: Imports) -> None:
    """Raise SourceChangedError unless S3 still has the version that was checked."""
    place = (import_record.bucket, import_record.object_key, import_record.version_id, import_record.etag)
    try:
        size = ObjectVersion(*place).get_size()
    except FileRefusedError as gone:
        raise SourceChangedError() from gone
    if size != import_record.size:
        raise SourceChangedError()
