"""Complete chunks; the last one requests the completion of the import.

Guaranteed: what `shell.work.units` guarantees. `shell.imports.completing.completion` works on the request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.events import Event
from core.statuses import ChunkStatus, ImportPhase
from shell.aws.sqs import send_messages
from shell.outbox.writer import append_events
from shell.settings import settings
from shell.tables.imports import Imports
from shell.work.messages import CompletionMessage
from shell.work.units import UnitKind
from shell.zones.zone_map import Zone

CHUNKS = UnitKind("import_chunks", ("import_id", "chunk_no"), "imports", ("id",), "chunks_left")
_TOTALS = text(
    "SELECT COALESCE(SUM(imported), 0) AS imported, COALESCE(SUM(unchanged), 0) AS unchanged, "
    "COALESCE(SUM(updated), 0) AS updated, COALESCE(SUM(rejected), 0) AS rejected, "
    "(SELECT COUNT(*) FROM import_warnings WHERE import_id = :import_id) AS warnings, "
    "(SELECT COUNT(*) FROM custodians WHERE import_id = :import_id) AS custodians, "
    "(SELECT COUNT(*) FROM tags WHERE import_id = :import_id) AS tags "
    "FROM import_chunks WHERE import_id = :import_id"
)


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
    stored: bytes | None = None


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

    `digest` is `RowResults.compute_digest()` of a check, and of the import after it; None otherwise. `zone` is where
    the exhibits are that the chunk created; None if it created none, or is not known. `reader` is the identity of what
    has read their rows, for `shell.imports.twins`; None if no later chunk may rely on them.
    """

    status: ChunkStatus
    counts: Counts
    events: Sequence[Event] = ()
    digest: bytes | None = None
    zone: Zone | None = None
    reader: bytes | None = None


def complete_chunk(transaction: Session, import_record: Imports, chunk_no: int, outcome: ChunkOutcome) -> None:
    """Record the chunk's outcome and count the chunk down; with the last chunk, request the import's completion.

    Call it last in a transaction. Raises ImportNotRunningError if the import is not active any more in the phase of
    `import_record`, WorkRetriedError if it was retried since that was read: what the chunk found in the case may be
    gone, because an undo can run between a cancellation and a retry. Raises QueueUnavailableError if the queue does not
    take the request. The caller must then roll back.
    """
    append_events(transaction, outcome.events)
    phase = ImportPhase(import_record.phase)
    values = {"status": outcome.status.value, **asdict(outcome.counts), f"{phase.value}_digest": outcome.digest}
    values |= outcome.zone._asdict() if outcome.zone else {}
    values |= {"reader": outcome.reader} if outcome.reader else {}
    # A worker that has read the chunk for a check must not complete it for the import that follows.
    parent = (phase.active_status.value, import_record.generation)
    if CHUNKS.complete(transaction, (import_record.id, chunk_no), values, *parent):
        request = CompletionMessage(import_record.id, import_record.generation)
        send_messages(settings().import_completions_queue_url, [request], tenant_id=import_record.tenant_id)


def sum_imported(transaction: Session, import_id: int, phase: ImportPhase) -> dict[str, int]:
    """Return the totals of an import as `sum_chunks` does; a check, whose chunks count what they would do, has none."""
    totals = sum_chunks(transaction, import_id)
    return totals if phase is ImportPhase.IMPORT else dict.fromkeys(totals, 0)


def sum_chunks(transaction: Session, import_id: int) -> dict[str, int]:
    """Return the sums of the import's chunks and the number of names it created; locks no chunk."""
    totals = transaction.execute(_TOTALS, {"import_id": import_id}).one()._mapping
    return {name: int(value) for name, value in totals.items()}
