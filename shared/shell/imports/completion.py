"""Complete chunks, and with the last chunk the whole import.

Guaranteed: exactly one transaction finds that no chunk is left, and it completes the import: it sums the counts, gives
every custodian and tag that the import created the spelling of its first line, deletes names that nothing links to,
and writes `import.completed` to the outbox. All of it commits with that chunk, or not at all. An import that is
completed again after a retry has the same result as if it had been completed once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.orm import Session

from core.codes import WarningCode
from core.errors import ImportNotRunningError
from core.events import Event, import_completed
from core.imports.canonical_names import MergedName, NameOccurrence, resolve_names
from core.statuses import ChunkStatus, ImportStatus
from shell.db.bulk_insert import insert_new
from shell.outbox.writer import append_events
from shell.tables.imports import Imports
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.db_helpers import count_changed_rows

# Chunks number the warnings of a line from 0, the completion from here.
MERGED_NAMES_FROM = 1_000_000

_COMPLETE_CHUNK = text(
    "UPDATE import_chunks SET status = :status, imported = :imported, unchanged = :unchanged, updated = :updated, "
    "rejected = :rejected, warnings = :warnings, finished_at = NOW(6) "
    "WHERE import_id = :import_id AND chunk_no = :chunk_no"
)
_COUNT_DOWN = text("UPDATE imports SET chunks_left = chunks_left - 1 WHERE id = :import_id AND status = 'running'")
_STATE = text("SELECT status, chunks_left, generation FROM imports WHERE id = :import_id")
_TOTALS = text(
    "SELECT COALESCE(SUM(imported), 0) AS imported, COALESCE(SUM(unchanged), 0) AS unchanged, "
    "COALESCE(SUM(updated), 0) AS updated, COALESCE(SUM(rejected), 0) AS rejected, "
    "(SELECT COUNT(*) FROM import_warnings WHERE import_id = :import_id) AS warnings, "
    "(SELECT COUNT(*) FROM custodians WHERE import_id = :import_id) AS custodians, "
    "(SELECT COUNT(*) FROM tags WHERE import_id = :import_id) AS tags "
    "FROM import_chunks WHERE import_id = :import_id"
)
_DELETE_MERGED = text("DELETE FROM import_warnings WHERE import_id = :import_id AND seq >= :merged_from")
_COMPLETE = text(
    "UPDATE imports SET status = :status, imported = :imported, unchanged = :unchanged, updated = :updated, "
    "rejected = :rejected, warnings = :warnings, custodians_created = :custodians, tags_created = :tags, "
    "finished_at = NOW(6) WHERE id = :import_id"
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


@dataclass(frozen=True)
class Counts:
    """The number of a chunk's rows by result, and of its warnings."""

    imported: int
    unchanged: int
    updated: int
    rejected: int
    warnings: int


@dataclass(frozen=True)
class ChunkOutcome:
    """The final status of a chunk, `done` or `failed`, with its counts and the events to publish."""

    status: ChunkStatus
    counts: Counts
    events: Sequence[Event] = ()


def complete_chunk(
    transaction: Session, import_record: Imports, chunk_no: int, outcome: ChunkOutcome, generation: int | None = None
) -> bool:
    """Record the chunk's outcome and count the chunk down; complete the import with the last chunk, and return True.

    Call it last in a transaction: all chunks contend for the import's row. Raises ImportNotRunningError if the import
    is not running any more, or has been retried since `generation`; the caller must then roll back.
    """
    append_events(transaction, outcome.events)
    row = {"import_id": import_record.id, "chunk_no": chunk_no}
    transaction.execute(_COMPLETE_CHUNK, {"status": outcome.status.value, **asdict(outcome.counts), **row})
    counted = transaction.execute(_COUNT_DOWN, {"import_id": import_record.id})
    # After the count-down, which locks the import's row: a retry could commit between an earlier read and that lock.
    state = transaction.execute(_STATE, {"import_id": import_record.id}).one()
    if count_changed_rows(counted) != 1 or generation not in (None, state.generation):
        raise ImportNotRunningError(state.status)
    if state.chunks_left == 0:
        complete_import(transaction, import_record, state.generation)
    return bool(state.chunks_left == 0)


def complete_import(transaction: Session, import_record: Imports, generation: int) -> None:
    """Complete an import that has no chunk left; the caller's transaction holds the lock on the import's row."""
    if generation > 1:
        # The chunks of the retry may have changed which spelling is kept, and on which line it occurs first.
        transaction.execute(_DELETE_MERGED, {"import_id": import_record.id, "merged_from": MERGED_NAMES_FROM})
    _resolve_spellings(transaction, import_record)
    delete_unused_names(transaction, import_record)
    totals = sum_chunks(transaction, import_record.id)
    status = ImportStatus.COMPLETED_WITH_REJECTIONS if totals["rejected"] else ImportStatus.COMPLETED
    transaction.execute(_COMPLETE, {"status": status.value, "import_id": import_record.id, **totals})
    tables = {kind.table for kind in NAME_KINDS}
    counts = {name: value for name, value in totals.items() if name not in tables}
    append_events(
        transaction, [import_completed(import_record.id, import_record.tenant_id, status.value, generation, counts)]
    )


def sum_chunks(transaction: Session, import_id: int) -> dict[str, int]:
    """Return the sums of the import's chunks and the number of names it created; locks no chunk."""
    totals = transaction.execute(_TOTALS, {"import_id": import_id}).one()._mapping
    return {name: int(value) for name, value in totals.items()}


def _resolve_spellings(transaction: Session, import_record: Imports) -> None:
    """Give the names that the import created the spelling of their lowest line, and warn of the other spellings."""
    occurrences = _find_occurrences(transaction, import_record)
    for kind in NAME_KINDS:
        of_kind = (occurrence for occurrence in occurrences if occurrence.kind == kind.table)
        corrections, merged = resolve_names(of_kind, import_record.id)
        if corrections:
            rows = json.dumps([correction._asdict() for correction in corrections], ensure_ascii=False)
            transaction.execute(_build_correction(kind), {"corrections": rows})
        _warn_of_merged(transaction, import_record, kind, merged)


def _build_correction(kind: NameKind) -> TextClause:
    """Build one statement for any number of names; the order of its join keeps it from locking other rows."""
    return text(f"""
        UPDATE JSON_TABLE(:corrections, '$[*]' COLUMNS (
                 id BIGINT PATH '$.id',
                 name VARCHAR(1000) CHARACTER SET utf8mb4 PATH '$.name',
                 line_no BIGINT PATH '$.line_no')) AS correction
        STRAIGHT_JOIN {kind.table} AS kept FORCE INDEX (PRIMARY) ON kept.id = correction.id
        SET kept.name = correction.name, kept.line_no = correction.line_no, kept.version = kept.version + 1
    """)  # noqa: S608 - our tables


def _find_occurrences(transaction: Session, import_record: Imports) -> list[NameOccurrence]:
    """Return every spelling of every name with its lowest line; the database decides which spellings are one name."""
    statement = text(" UNION ALL ".join(map(_select_spellings, NAME_KINDS)))
    rows = transaction.execute(statement, {"case_id": import_record.case_id, "import_id": import_record.id})
    return [
        NameOccurrence(
            *(row.kind, row.id, row.name, row.import_id, row.line_no, bytes(row.spelling).decode()),
            *(int(row.first_seen[:20]), row.first_seen[20:]),
        )
        for row in rows
    ]


def _select_spellings(kind: NameKind) -> str:
    return f"""
        SELECT '{kind.table}' AS kind, found.id, found.name, found.import_id, found.line_no,
               CAST(seen.name AS BINARY) AS spelling,
               MIN(CONCAT(LPAD(seen.line_no, 20, '0'), COALESCE(seen.column_name, ''))) AS first_seen
        FROM import_name_occurrences AS seen
        JOIN {kind.table} AS found ON found.case_id = :case_id AND found.name = seen.name
        WHERE seen.import_id = :import_id AND seen.kind = '{kind.table}'
        GROUP BY found.id, found.name, found.import_id, found.line_no, CAST(seen.name AS BINARY)
    """  # noqa: S608 - our tables


def _warn_of_merged(transaction: Session, import_record: Imports, kind: NameKind, merged: Sequence[MergedName]) -> None:
    first_seq = MERGED_NAMES_FROM * (1 + NAME_KINDS.index(kind))
    code = WarningCode.NAME_MERGED.value
    rows = [
        WarningRow(
            *(import_record.id, name.line_no, first_seq + order, 0, name.column, code),
            message=f'this name equals "{name.kept}" under the database collation; that spelling is kept',
            original=name.spelling.encode(),
            original_bytes=len(name.spelling.encode()),
            stored_bytes=len(name.kept.encode()),
        )
        for order, name in enumerate(merged)
    ]
    insert_new(transaction, "import_warnings", WarningRow._fields, rows)


def delete_unused_names(transaction: Session, import_record: Imports) -> None:
    """Delete the names that this import created and that nothing references.

    Locks them before it checks again: another transaction that links to a name holds a shared lock on it until its
    commit, and an API request may have taken the name over, so that it does not belong to the import any more.
    """
    statement = text(" UNION ALL ".join(map(_select_unused, NAME_KINDS)))
    candidates = transaction.execute(statement, {"import_id": import_record.id}).all()
    for kind in NAME_KINDS:
        ids = sorted(row.id for row in candidates if row.kind == kind.table)
        if ids:
            # By primary key: a scan of a small table would wait for locks on unrelated names.
            rows = f"FROM {kind.table} FORCE INDEX (PRIMARY) WHERE id IN :ids AND import_id = :import_id"
            lock = text(f"SELECT id {rows} ORDER BY id FOR UPDATE")
            delete = text(f"DELETE {kind.table} {rows} AND {_is_unused(kind)}")
            for each in (lock, delete):
                values = {"ids": ids, "import_id": import_record.id}
                transaction.execute(each.bindparams(bindparam("ids", expanding=True)), values)


def _select_unused(kind: NameKind) -> str:
    table = kind.table
    return f"SELECT '{table}' AS kind, id FROM {table} WHERE import_id = :import_id AND {_is_unused(kind)}"  # noqa: S608


def _is_unused(kind: NameKind) -> str:
    references = [
        f"SELECT 1 FROM {table} WHERE {table}.{kind.key_column} = {kind.table}.id"  # noqa: S608
        for table in kind.referencing_tables
    ]
    return " AND ".join(f"NOT EXISTS ({reference})" for reference in references)
