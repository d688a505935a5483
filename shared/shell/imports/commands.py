"""Cancel imports, and retry imports that were cancelled or failed in part.

Guaranteed: after a cancellation commits, no chunk of the import commits any more, because a chunk's last statement
counts down on the import's row only while the import is running; the counts include every chunk that committed before.
A retry repeats no chunk that is done.

A retry sends its message to the import requests queue *before* its transaction commits, while it holds the lock on the
import's row. The worker that receives the message first requests that lock; it therefore waits until the retry has
committed, or finds that it did not commit and has nothing to do. If the process dies after the commit, the message has
been sent; if it dies before the commit, the message is harmless. If the queue rejects the message, the retry is rolled
back.

Chunks lock their own row first and the import's row last; the functions here lock in the opposite order. They cannot
deadlock, because they never wait for a chunk that a worker holds: they read chunks without locks and change only
failed chunks, which no worker holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.states import ImportState
from core.errors import WrongStateError
from core.events import import_cancelled, import_retried
from core.imports.steps import CANCELLABLE, ImportAction, find_next
from core.statuses import ACTIVE_STATUSES, ImportPhase, ImportStatus
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.aws.sqs import send_messages
from shell.case_state.fence import Entry
from shell.imports.corrected_images.starting import create_after_images
from shell.imports.state.access import enter_import, refuse_during_undo
from shell.imports.state.claims import refuse_beside_claims, refuse_without_claims
from shell.imports.state.codes import CARRY_CODES, delete_failed_chunks
from shell.imports.state.dependents import (
    block_dependents,
    hold_back,
    hold_dependents,
    lock_before,
    refuse_beside_dependents,
)
from shell.imports.state.facts import build_facts, lock_import
from shell.imports.state.import_states import read_state
from shell.imports.state.progress import sum_imported
from shell.outbox.writer import append_events
from shell.settings import settings
from shell.utils.db_helpers import count_changed_rows
from shell.volume_files.deleted import refuse_without_volume
from shell.work.messages import ImportMessage

CHUNKS_PER_STATEMENT = 1_000
_ROW_COUNTS = ("imported", "unchanged", "updated", "rejected")

_CANCEL = text(
    "UPDATE imports SET status = 'cancelled', imported = :imported, unchanged = :unchanged, updated = :updated, "
    "rejected = :rejected, warnings = :warnings, custodians_created = :custodians, tags_created = :tags, "
    "finished_at = NOW(6) WHERE id = :import_id"
)
_CANCEL_UNDO = text(
    "UPDATE imports AS i FORCE INDEX (PRIMARY) STRAIGHT_JOIN import_undos AS u FORCE INDEX (PRIMARY) "
    "ON u.import_id = i.id "
    "SET i.status = u.status_before, u.status = 'cancelled', u.finished_at = NOW(6) "
    "WHERE i.id = :import_id AND u.status = 'requested' AND u.dry_run = 0"
)
# The result is that of a state that the retry ends; `CHUNK_FAILED` would be counted and not listed.
_REOPEN_CHECK = text("UPDATE import_checks SET finished_at = NULL, report_written = 0 WHERE import_id = :import_id")
# Void: an undo was requested, and cancelled before it began.
_SELECT_FAILED = text(
    "SELECT chunk_no, first_line FROM import_chunks WHERE import_id = :import_id AND status IN ('failed', 'void') "
    "ORDER BY 1"
)
_COUNT_PENDING = text("SELECT COUNT(*) FROM import_chunks WHERE import_id = :import_id AND status = 'pending'")
# A failed chunk has one rejection, at its first line. By whole primary keys and in this order of the join: a scan would
# wait for uncommitted rows of other chunks, which in turn wait for the import's row.
_DELETE_REJECTIONS = text("""
    DELETE rejection FROM JSON_TABLE(:lines, '$[*]' COLUMNS (line_no BIGINT PATH '$')) AS failed
    STRAIGHT_JOIN import_rejections AS rejection FORCE INDEX (PRIMARY)
      ON rejection.import_id = :import_id AND rejection.line_no = failed.line_no AND rejection.seq = 0
""")
_DELETE_FINDINGS = text("""
    DELETE finding FROM JSON_TABLE(:lines, '$[*]' COLUMNS (line_no BIGINT PATH '$')) AS failed
    STRAIGHT_JOIN import_check_findings AS finding FORCE INDEX (PRIMARY)
      ON finding.import_id = :import_id AND finding.code = 'CHUNK_FAILED' AND finding.line_no = failed.line_no
     AND finding.seq = 0
""")
_RESET = text(
    "UPDATE import_chunks SET status = 'pending', redrives = 0, imported = 0, unchanged = 0, updated = 0, "
    "rejected = 0, warnings = 0, finished_at = NULL "
    "WHERE import_id = :import_id AND chunk_no IN :chunks AND status IN ('failed', 'void')"
).bindparams(bindparam("chunks", expanding=True))
_RESTART = text(
    f"UPDATE imports SET {CARRY_CODES}, status = :status, generation = generation + 1, chunks_left = :chunks, "  # noqa: S608
    "chunks_failed = 0, failure_code = NULL, failure_message = NULL, started_at = NOW(6), finished_at = NULL "
    "WHERE id = :import_id"
)


def cancel_import(transaction: Session, caller: Caller, import_id: int) -> ImportState:
    """Cancel an import: imported rows stay, and no further rows are imported. Cancelling again changes nothing.

    The counts of a check are 0, because it imported nothing. The report files cover the rows that were processed
    before; a file that was not split yet has none. For an import that is being undone, cancel the undo, if it has not
    begun.

    Raises NotFoundError if the tenant has no such import, WrongStateError if it is completed or failed, or if its undo
    has begun, and QueueUnavailableError if the queue does not take the request of an import that waits beside it.
    """
    enter_import(transaction, caller, import_id, Entry.READ)
    lock_before(transaction, import_id)
    found = lock_import(transaction, caller, import_id)
    if found.status == ImportStatus.UNDOING:
        _cancel_undo(transaction, import_id)
        record_act(transaction, caller, Act(ActKind.UNDO_CANCELLED, import_id, found.case_id))
    elif found.status in CANCELLABLE:
        totals = sum_imported(transaction, import_id, ImportPhase(found.phase))
        transaction.execute(_CANCEL, {"import_id": import_id, **totals})
        counts = {name: totals[name] for name in _ROW_COUNTS}
        append_events(transaction, [import_cancelled(import_id, found.tenant_id, found.generation, counts)])
        record_act(transaction, caller, Act(ActKind.IMPORT_CANCELLED, import_id, found.case_id, counts))
        create_after_images(transaction, import_id)
        block_dependents(transaction, import_id)
    elif found.status != ImportStatus.CANCELLED:
        raise WrongStateError(
            f"The import has the status {found.status}; only one that has not ended can be cancelled."
        )
    else:
        record_no_act(transaction)
    return read_state(transaction, caller, import_id)


def _cancel_undo(transaction: Session, import_id: int) -> None:
    if not count_changed_rows(transaction.execute(_CANCEL_UNDO, {"import_id": import_id})):
        raise WrongStateError("The undo of the import has begun; wait until it has ended, and import the file again.")


def retry_import(transaction: Session, caller: Caller, import_id: int) -> ImportState:
    """Resume an import that was cancelled or not completed, or import the chunks of it that failed again.

    One that was held is held again. One that comes after another import waits for it, if that is under way; one whose
    file is split already is refused until then, because its pages would be compared with half of the other's rows. Rows
    that corrections have are not imported a second time: neither by a correction whose lines others have, nor with a
    chunk that failed.

    Raises NotFoundError if the tenant has no such import, WrongStateError if there is nothing to retry (its message
    says what to do instead), if another import of the case is being undone, if the one before failed or runs or the
    one after runs, or if its volume is deleted, and QueueUnavailableError if the queue does not take the request.
    """
    enter_import(transaction, caller, import_id, alone=True)
    refuse_during_undo(transaction, import_id)
    refuse_without_volume(transaction, import_id)
    refuse_without_claims(transaction, import_id)
    held_back = hold_back(transaction, import_id)
    found = lock_import(transaction, caller, import_id)
    refuse_beside_dependents(transaction, import_id)
    status = _choose_status(found)
    if held_back and status is ImportStatus.SPLITTING:
        status = held_back
    elif held_back and status is not ImportStatus.UPLOADED:
        raise WrongStateError(
            "The import before this one is under way, or one beside it; retry this one when it has ended."
        )
    refuse_beside_claims(transaction, import_id)
    chunks = _reset_failed_chunks(transaction, import_id) if status in ACTIVE_STATUSES else 0
    if found.status == ImportStatus.CHECKED and not chunks:
        raise WrongStateError("Every row was checked; there is nothing to retry.")
    if found.status == ImportStatus.COMPLETED_WITH_REJECTIONS and not chunks:
        raise WrongStateError(
            "No chunk of the file failed, only rows were rejected: correct the rejected-rows file and import it."
        )
    transaction.execute(_RESTART, {"import_id": import_id, "status": status.value, "chunks": chunks})
    if status is ImportStatus.CHECKING:
        transaction.execute(_REOPEN_CHECK, {"import_id": import_id})
    append_events(transaction, [import_retried(import_id, found.tenant_id, found.generation + 1, chunks)])
    summary = {"generation": found.generation + 1, "chunks": chunks}
    record_act(transaction, caller, Act(ActKind.IMPORT_RETRIED, import_id, found.case_id, summary))
    if status is ImportStatus.UPLOADED:
        hold_dependents(transaction, import_id)
        return read_state(transaction, caller, import_id)
    # Harmless for an import that waits, which the end of the other one requests.
    request = ImportMessage(import_id, found.generation + 1)
    send_messages(settings().import_requests_queue_url, [request], tenant_id=found.tenant_id)
    return read_state(transaction, caller, import_id)


def _choose_status(found: Any) -> ImportStatus:
    """Return the active status if the file is split, `uploaded` if it was held, else `splitting`.

    Raises WrongStateError without anything to do. Whether chunks are left is not known yet.
    """
    status = find_next(ImportAction.RETRY, build_facts(found, is_incomplete=True))
    if status is None:
        raise WrongStateError(_explain_refusal(found))
    return status


def _explain_refusal(found: Any) -> str:
    if found.status == ImportStatus.COMPLETED:
        return "Every row was imported; there is nothing to retry."
    if found.status == ImportStatus.CANCELLED:
        return "The import was cancelled before its file was uploaded; announce it again."
    if found.status == ImportStatus.FAILED:
        return f"The file was refused ({found.failure_code}: {found.failure_message}); correct it and import it again."
    if found.status == ImportStatus.UPLOADED:
        return "The import is held, and nothing of it failed; have it checked or run."
    if found.status == ImportStatus.WAITING:
        return "The import waits for another one, and begins when that has ended."
    if found.status in (ImportStatus.UNDONE, ImportStatus.UNDONE_WITH_CONFLICTS):
        return "The import was undone; import the file again."
    if found.status == ImportStatus.UNDO_FAILED:
        return "The undo of the import failed in part; undo it again."
    return f"The import has the status {found.status}; wait until it has ended, or cancel it."


def _reset_failed_chunks(transaction: Session, import_id: int) -> int:
    """Reset the failed chunks to pending and delete their rejections; return the number of pending chunks."""
    failed = transaction.execute(_SELECT_FAILED, {"import_id": import_id}).all()
    for batch in _batches(failed):
        chunks, lines = [row.chunk_no for row in batch], json.dumps([row.first_line for row in batch])
        transaction.execute(_DELETE_REJECTIONS, {"import_id": import_id, "lines": lines})
        delete_failed_chunks(transaction, import_id, chunks)
        transaction.execute(_DELETE_FINDINGS, {"import_id": import_id, "lines": lines})
        transaction.execute(_RESET, {"import_id": import_id, "chunks": chunks})
    return int(transaction.execute(_COUNT_PENDING, {"import_id": import_id}).scalar_one())


def _batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), CHUNKS_PER_STATEMENT):
        yield rows[start : start + CHUNKS_PER_STATEMENT]
