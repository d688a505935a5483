"""Cancelling imports, and retrying what failed of them.

Guaranteed: once a cancellation has committed no chunk of the import commits any more, for a chunk's last statement
counts down on the import's row only while that is running; what committed before is in the counts. A retry does over
nothing that was done.

How a retry is carried on: its message goes to the import requests queue *before* its transaction commits, while that
holds the import's row. Whoever gets the message asks for the lock on that row first and so waits until the retry has
committed, or sees that it never did and finds nothing to do. A process that dies after the commit therefore leaves no
import behind that runs without messages, and one that dies before it leaves a message that is harmless. A queue that
does not take the message rolls the retry back.

Chunks lock their own row first and the import's last; here it is the other way round. They do not deadlock, because
nothing here waits for a chunk that somebody holds: chunks are read without locks, and only failed ones are changed,
which nobody works on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports import ImportState
from core.errors import WrongStateError
from core.events import import_cancelled, import_retried
from core.reasons import FileFailure
from core.statuses import ImportStatus
from core.uploads import awaited_key
from shell.counting_ops import totals_of
from shell.import_query_ops import no_such_import, state_of
from shell.outbox_ops import append_events
from shell.settings import settings
from shell.utils.queues import send_all

CHUNKS_A_STATEMENT = 1_000
CANCELLABLE = frozenset({ImportStatus.AWAITING_UPLOAD, ImportStatus.SPLITTING, ImportStatus.RUNNING})
_ROW_COUNTS = ("imported", "unchanged", "updated", "rejected")

_LOCK = text(
    "SELECT id, tenant_id, status, failure_code, failure_message, upload_id, upload_key, generation, "
    "layout IS NOT NULL AS registered FROM imports WHERE id = :import_id AND tenant_id = :tenant_id FOR UPDATE"
)
_CANCEL = text(
    "UPDATE imports SET status = 'cancelled', imported = :imported, unchanged = :unchanged, updated = :updated, "
    "rejected = :rejected, warnings = :warnings, custodians_created = :custodians, tags_created = :tags, "
    "finished_at = NOW(6) WHERE id = :import_id"
)
_FAILED = text(
    "SELECT chunk_no, first_line FROM import_chunks WHERE import_id = :import_id AND status = 'failed' ORDER BY 1"
)
_PENDING = text("SELECT COUNT(*) FROM import_chunks WHERE import_id = :import_id AND status = 'pending'")
# A chunk that was given up left one row, at its first line. By whole primary keys and in this order of the join: a scan
# would wait for what other chunks have written and not committed, and they wait for the import's row.
_FORGET_REJECTIONS = text("""
    DELETE gone FROM JSON_TABLE(:lines, '$[*]' COLUMNS (line_no BIGINT PATH '$')) AS failed
    STRAIGHT_JOIN import_rejections AS gone FORCE INDEX (PRIMARY)
      ON gone.import_id = :import_id AND gone.line_no = failed.line_no AND gone.seq = 0
""")
_RESET = text(
    "UPDATE import_chunks SET status = 'pending', redrives = 0, imported = 0, unchanged = 0, updated = 0, "
    "rejected = 0, warnings = 0, settled_at = NULL "
    "WHERE import_id = :import_id AND chunk_no IN :chunks AND status = 'failed'"
).bindparams(bindparam("chunks", expanding=True))
_GO_ON = text(
    "UPDATE imports SET status = :status, generation = generation + 1, chunks_left = :chunks, failure_code = NULL, "
    "failure_message = NULL, started_at = NOW(6), finished_at = NULL WHERE id = :import_id"
)


def cancel_import(transaction: Session, caller: Caller, import_id: int) -> ImportState:
    """End an import where it stands: rows that are in stay in, and no more come; cancelling again changes nothing.

    Raises NotFoundError if the tenant has no such import, WrongStateError if it has ended otherwise.
    """
    found = _locked(transaction, caller, import_id)
    if found.status in CANCELLABLE:
        totals = totals_of(transaction, import_id)
        transaction.execute(_CANCEL, {"import_id": import_id, **totals})
        counts = {name: totals[name] for name in _ROW_COUNTS}
        append_events(transaction, [import_cancelled(import_id, found.tenant_id, counts)])
    elif found.status != ImportStatus.CANCELLED:
        raise WrongStateError(f"the import is {found.status}: it has ended, and there is nothing to cancel")
    return state_of(transaction, caller, import_id)


def retry_import(transaction: Session, caller: Caller, import_id: int) -> ImportState:
    """Go on with an import that was cancelled, or with the parts of it that failed, and with nothing else.

    Raises NotFoundError if the tenant has no such import, WrongStateError, which says what to do instead, if there is
    nothing that a retry could mend, and QueueUnavailableError if it could not be asked for.
    """
    found = _locked(transaction, caller, import_id)
    status = _status_to_go_on_in(found)
    chunks = _chunks_to_do(transaction, import_id) if status is ImportStatus.RUNNING else 0
    if status is ImportStatus.RUNNING and not chunks:
        raise WrongStateError(
            "no part of the file failed, only rows were rejected: mend the rejected-rows file and import that"
        )
    transaction.execute(_GO_ON, {"import_id": import_id, "status": status.value, "chunks": chunks})
    append_events(transaction, [import_retried(import_id, found.tenant_id, found.generation + 1, chunks)])
    again = {"import_id": import_id, "generation": found.generation + 1}
    send_all(settings().import_requests_queue_url, [again])
    return state_of(transaction, caller, import_id)


def _locked(transaction: Session, caller: Caller, import_id: int) -> Any:
    found = transaction.execute(_LOCK, {"import_id": import_id, "tenant_id": caller.tenant_id}).one_or_none()
    if found is None:
        raise no_such_import()
    return found


def _status_to_go_on_in(found: Any) -> ImportStatus:
    """`running` if the file is split, else `splitting`; raises WrongStateError if there is nothing to go on with."""
    if found.status == ImportStatus.COMPLETED_WITH_REJECTIONS:
        return ImportStatus.RUNNING
    if found.status == ImportStatus.CANCELLED and _was_uploaded(found):
        return ImportStatus.RUNNING if found.registered else ImportStatus.SPLITTING
    if found.status == ImportStatus.FAILED and found.failure_code == FileFailure.NOT_READ:
        return ImportStatus.SPLITTING
    raise WrongStateError(_why_not(found))


def _was_uploaded(found: Any) -> bool:
    return found.upload_id is None or bytes(found.upload_key) != awaited_key(found.upload_id)


def _why_not(found: Any) -> str:
    if found.status == ImportStatus.COMPLETED:
        return "every row was imported: there is nothing to retry"
    if found.status == ImportStatus.CANCELLED:
        return "the import was cancelled before its file was uploaded: announce it again"
    if found.status == ImportStatus.FAILED:
        return f"the file was refused ({found.failure_code}: {found.failure_message}): mend that and import it anew"
    return f"the import is {found.status}: wait until it has ended, or cancel it"


def _chunks_to_do(transaction: Session, import_id: int) -> int:
    """Make the failed chunks pending, as if they had never been tried; returns how many are pending then."""
    failed = transaction.execute(_FAILED, {"import_id": import_id}).all()
    for part in _in_parts(failed):
        chunks, lines = [row.chunk_no for row in part], json.dumps([row.first_line for row in part])
        transaction.execute(_FORGET_REJECTIONS, {"import_id": import_id, "lines": lines})
        transaction.execute(_RESET, {"import_id": import_id, "chunks": chunks})
    return int(transaction.execute(_PENDING, {"import_id": import_id}).scalar_one())


def _in_parts(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), CHUNKS_A_STATEMENT):
        yield rows[start : start + CHUNKS_A_STATEMENT]
