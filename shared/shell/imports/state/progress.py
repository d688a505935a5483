"""Complete chunks, and request the completion of the import with the last one.

Guaranteed: exactly one transaction finds that no chunk is left. It sends the message that
`shell.imports.completing.completion` works on *before* it commits, while it holds the lock on the import's row, which
the receiver requests first: the message is neither lost, whichever process is killed, nor too early. If the queue
rejects it, the chunk is rolled back and delivered again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import ImportNotRunningError, UnavailableError
from core.events import Event
from core.statuses import ChunkStatus, ImportPhase
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.outbox.writer import append_events
from shell.settings import settings
from shell.tables.imports import Imports
from shell.utils.db_helpers import count_changed_rows

_COMPLETE_CHUNK = {
    phase: text(
        "UPDATE import_chunks SET status = :status, imported = :imported, unchanged = :unchanged, updated = :updated, "  # noqa: S608
        "rejected = :rejected, warnings = :warnings, named_natives = :named_natives, named_texts = :named_texts, "
        f"finished_at = NOW(6), {phase.value}_digest = :digest "
        "WHERE import_id = :import_id AND chunk_no = :chunk_no"
    )
    for phase in ImportPhase
}
_COUNT_DOWN = text("UPDATE imports SET chunks_left = chunks_left - 1 WHERE id = :import_id AND status = :status")
_STATE = text("SELECT status, chunks_left, generation FROM imports WHERE id = :import_id")
_DUE = text(
    "SELECT generation FROM imports WHERE id = :import_id AND status IN ('checking', 'running') AND chunks_left = 0"
)
_TOTALS = text(
    "SELECT COALESCE(SUM(imported), 0) AS imported, COALESCE(SUM(unchanged), 0) AS unchanged, "
    "COALESCE(SUM(updated), 0) AS updated, COALESCE(SUM(rejected), 0) AS rejected, "
    "(SELECT COUNT(*) FROM import_warnings WHERE import_id = :import_id) AS warnings, "
    "(SELECT COUNT(*) FROM custodians WHERE import_id = :import_id) AS custodians, "
    "(SELECT COUNT(*) FROM tags WHERE import_id = :import_id) AS tags "
    "FROM import_chunks WHERE import_id = :import_id"
)


class ImportRetriedError(UnavailableError):
    """The import was retried after the chunk was read, and the case may have changed; the chunk is read again."""


class RejectionRow(NamedTuple):
    """A row of `import_rejections`; the fields are the columns."""

    import_id: int
    line_no: int
    seq: int
    chunk_no: int
    column_name: str | None
    code: str
    message: str
    control_number: str | None
    byte_start: int
    byte_len: int
    row_count: int = 1
    original_line: int | None = None


class WarningRow(NamedTuple):
    """A row of `import_warnings`; the fields are the columns."""

    import_id: int
    line_no: int
    seq: int
    chunk_no: int
    column_name: str | None
    code: str
    message: str
    control_number: str | None = None
    original: bytes | None = None
    original_bytes: int | None = None
    stored_bytes: int | None = None
    byte_start: int | None = None
    byte_len: int | None = None


@dataclass(frozen=True)
class Counts:
    """The number of a chunk's rows by result, and of its warnings.

    `named_natives` and `named_texts` are its new and changed documents with a path, if the file is not of a volume.
    """

    imported: int
    unchanged: int
    updated: int
    rejected: int
    warnings: int
    named_natives: int = 0
    named_texts: int = 0


@dataclass(frozen=True)
class ChunkOutcome:
    """The final status of a chunk, `done` or `failed`, with its counts and the events to publish.

    `digest` is `RowResults.compute_digest()` of a check, and of the import after it; None otherwise.
    """

    status: ChunkStatus
    counts: Counts
    events: Sequence[Event] = ()
    digest: bytes | None = None


def complete_chunk(transaction: Session, import_record: Imports, chunk_no: int, outcome: ChunkOutcome) -> None:
    """Record the chunk's outcome and count the chunk down; with the last chunk, request the import's completion.

    Call it last in a transaction: all chunks contend for the import's row. Raises ImportNotRunningError if the import
    is not active any more in the phase of `import_record`, ImportRetriedError if it was retried since that was read:
    what the chunk found in the case may be gone, because an undo can run between a cancellation and a retry. Raises
    QueueUnavailableError if the queue does not take the request. The caller must then roll back.
    """
    append_events(transaction, outcome.events)
    row = {"import_id": import_record.id, "chunk_no": chunk_no, "digest": outcome.digest}
    phase = ImportPhase(import_record.phase)
    transaction.execute(_COMPLETE_CHUNK[phase], {"status": outcome.status.value, **asdict(outcome.counts), **row})
    # A worker that has read the chunk for a check must not complete it for the import that follows.
    counted = transaction.execute(_COUNT_DOWN, {"import_id": import_record.id, "status": phase.active_status.value})
    # After the count-down, which locks the import's row: a retry could commit between an earlier read and that lock.
    state = transaction.execute(_STATE, {"import_id": import_record.id}).one()
    if count_changed_rows(counted) != 1:
        raise ImportNotRunningError(state.status)
    if state.generation != import_record.generation:
        raise ImportRetriedError()
    if state.chunks_left == 0:
        request = build_completion_request(import_record.id, state.generation)
        send_messages(settings().import_completions_queue_url, [request], tenant_id=import_record.tenant_id)


def build_completion_request(import_id: int, generation: int) -> dict[str, object]:
    """Return the message that requests the completion; `task` tells it from a retry's message in a shared queue."""
    return {"import_id": import_id, "generation": generation, "task": "complete", "redrive": 0}


def list_due_completions(import_id: int) -> Iterator[dict[str, object]]:
    """Yield the message that requests the completion, if the import is active and no chunk is left."""
    with session() as reading:
        generations = reading.execute(_DUE, {"import_id": import_id}).scalars().all()
    for generation in generations:
        yield build_completion_request(import_id, generation)


def sum_imported(transaction: Session, import_id: int, phase: ImportPhase) -> dict[str, int]:
    """Return the totals of an import as `sum_chunks` does; a check, whose chunks count what they would do, has none."""
    totals = sum_chunks(transaction, import_id)
    return totals if phase is ImportPhase.IMPORT else dict.fromkeys(totals, 0)


def sum_chunks(transaction: Session, import_id: int) -> dict[str, int]:
    """Return the sums of the import's chunks and the number of names it created; locks no chunk."""
    totals = transaction.execute(_TOTALS, {"import_id": import_id}).one()._mapping
    return {name: int(value) for name, value in totals.items()}
