"""Write one chunk: all of its rows and their results in one transaction, in the same order for every chunk.

Guaranteed: only the worker that holds the lock on the chunk's row writes it; a COMMIT of unknown outcome is resolved
by that row. Rows are inserted in the order of their unique keys. A name that is on every row is locked in shared mode
at most and never updated. Which names, rejections and warnings come out is independent of the other chunks' progress.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.codes import Rejection
from core.errors import ChunkBusyError, ConflictError, ImportNotRunningError
from core.imports.conflicts import describe_missing_link
from core.load_file.rows import Name, RowError
from core.statuses import ChunkStatus
from shell.db.errors import error_number
from shell.db.session import session
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.coercion import StorableRow
from shell.imports.chunks.conflicts import explain_conflicts, find_origins
from shell.imports.chunks.exhibit_store import (
    StoredExhibit,
    find_exhibits,
    find_missing_links,
    insert_exhibits,
    insert_links,
)
from shell.imports.chunks.results import RowResults, write_results
from shell.imports.completion import ChunkOutcome, Counts, complete_chunk
from shell.imports.unused_names import delete_unused_names
from shell.observability import emit_counts
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.db_helpers import retry_on_db_conflict

NO_SUCH_PARENT = 1452
_CHANGED_MEANWHILE = "an exhibit or name of the case changed while the chunk was prepared; the chunk is imported again"

_LOCK_CHUNK = text(
    "SELECT status FROM import_chunks WHERE import_id = :import_id AND chunk_no = :chunk_no FOR UPDATE SKIP LOCKED"
)
_WAIT_FOR_CHUNK = text(
    "SELECT status FROM import_chunks WHERE import_id = :import_id AND chunk_no = :chunk_no FOR UPDATE"
)


class WriteResult(NamedTuple):
    """The chunk's status, or that of an import that is not running, and whether unpublished events may exist.

    A worker that finds the chunk finished cannot know whether the one that finished it woke the relay.
    """

    status: str
    has_events: bool = True


def _find_result(chunk_input: ChunkInput) -> WriteResult | None:
    """Return the status of a chunk that is not pending; wait for a transaction that is about to change it.

    A read without a lock would return `pending` while that COMMIT is under way.
    """
    key = {"import_id": chunk_input.chunk.import_id, "chunk_no": chunk_input.chunk.chunk_no}
    with session() as locking:
        status = locking.execute(_WAIT_FOR_CHUNK, key).scalar()
    return None if status == ChunkStatus.PENDING else WriteResult(str(status))


@retry_on_db_conflict(resolve=_find_result)
def write_chunk(chunk_input: ChunkInput) -> WriteResult:
    """Add the missing names in a short transaction, then write everything else in one; retry both on a conflict.

    Raises ChunkBusyError while another worker holds the chunk.
    """
    try:
        return _write_names_and_rows(chunk_input)
    except Exception:
        # Their ids can be those of a lost transaction; after a crash the server may give them to other names.
        chunk_input.forget_names()
        raise


def _write_names_and_rows(chunk_input: ChunkInput) -> WriteResult:
    import_id, chunk_no = chunk_input.chunk.import_id, chunk_input.chunk.chunk_no
    writer = ChunkWriter(chunk_input)
    if any(chunk_input.list_missing_names().values()):
        with session() as naming:
            # Without the lock on a pending chunk, names could be added to an import that is complete.
            status = _lock_chunk(naming, import_id, chunk_no)
            if status != ChunkStatus.PENDING:
                return WriteResult(status)
            chunk_input.add_names(naming)
    try:
        with session() as transaction:
            status = _lock_chunk(transaction, import_id, chunk_no)
            if status != ChunkStatus.PENDING:
                return WriteResult(status)
            outcome = writer.write(transaction)
            complete_chunk(transaction, chunk_input.import_record, chunk_no, outcome)
    except ImportNotRunningError as stopped:
        with session() as cleanup:
            # The import has ended: no later chunk would delete the names that this one added.
            delete_unused_names(cleanup, chunk_input.import_record)
        return WriteResult(stopped.status)
    _emit_counts(outcome.counts)
    return WriteResult(ChunkStatus.DONE, has_events=bool(outcome.events))


def _lock_chunk(transaction: Session, import_id: int, chunk_no: int) -> str:
    status = transaction.execute(_LOCK_CHUNK, {"import_id": import_id, "chunk_no": chunk_no}).scalar()
    if status is None:
        raise ChunkBusyError()
    return str(status)


def _emit_counts(counts: Counts) -> None:
    emit_counts(
        RowsImported=counts.imported,
        RowsUnchanged=counts.unchanged,
        RowsRejected=counts.rejected,
        RowWarnings=counts.warnings,
    )


class ChunkWriter:
    """The writes of one attempt at one chunk; a retry takes a new writer."""

    def __init__(self, chunk_input: ChunkInput) -> None:
        self.import_record, self.chunk, self.held = chunk_input.import_record, chunk_input.chunk, chunk_input.held
        self.layout, self.valid, self._input = chunk_input.layout, chunk_input.valid, chunk_input

    def write(self, transaction: Session) -> ChunkOutcome:
        """Write all rows of the chunk; the caller holds the lock on the chunk's row and commits."""
        results = self._write_exhibits(transaction)
        self._write_links(transaction, results.inserted)
        return write_results(transaction, self.import_record.tenant_id, self.chunk, self.layout, results)

    def _write_exhibits(self, transaction: Session) -> RowResults:
        added = insert_exhibits(transaction, self._input.new)
        results = RowResults(rejected=[(row, row.errors) for row in self._input.rejected])
        results.rejected += [(row, [_build_refusal(number)]) for row, number in added.refused]
        results.inserted = [
            (row, added.ids[row.source.line_no]) for row in self.valid if row.source.line_no in added.ids
        ]
        known = {row.source.line_no for row, _ in added.refused} | added.ids.keys()
        self._compare_stored(transaction, [row for row in self.valid if row.source.line_no not in known], results)
        return results

    def _compare_stored(self, transaction: Session, rows: Sequence[StorableRow], results: RowResults) -> None:
        """Sort the rows by what the case holds under their number: this line, the same values, or other values."""
        stored = self._find_stored(transaction, [str(row.control_number) for row in rows])
        equal: list[tuple[StorableRow, int]] = []
        differing: list[tuple[StorableRow, int]] = []
        for row in rows:
            exhibit = stored.get(str(row.control_number))
            if exhibit is None:
                raise ConflictError(_CHANGED_MEANWHILE)
            if (exhibit.import_id, exhibit.line_no) == (self.import_record.id, row.source.line_no):
                results.inserted.append((row, exhibit.id))
            elif row.is_equal(exhibit.row_hash):
                equal.append((row, exhibit.id))
            else:
                differing.append((row, exhibit.id))
        if differing:
            results.rejected += explain_conflicts(transaction, self.import_record, self.layout, differing)
        self._compare_links(transaction, equal, results)

    def _find_stored(self, transaction: Session, numbers: Sequence[str]) -> Mapping[str, StoredExhibit]:
        """Return the case's exhibits under these numbers.

        Exhibits that were read before the transaction are not read again: this chunk does not write to them, and a
        change since then has the same effect as a change after this chunk.
        """
        others = [number for number in numbers if number not in self.held]
        return {**self.held, **find_exhibits(transaction, self.import_record.case_id, others)}

    def _compare_links(
        self, transaction: Session, equal: Sequence[tuple[StorableRow, int]], results: RowResults
    ) -> None:
        missing = find_missing_links(transaction, {kind: self._build_links(kind, equal) for kind in NAME_KINDS})
        results.unchanged = [(row, exhibit_id) for row, exhibit_id in equal if exhibit_id not in missing]
        origins = find_origins(transaction, self.import_record, list(missing))
        for row, exhibit_id in equal:
            if exhibit_id in missing:
                name = self._find_name(row, missing[exhibit_id])
                results.rejected.append((row, [describe_missing_link(*name, origins[exhibit_id])]))

    def _find_name(self, row: StorableRow, links: set[tuple[NameKind, int]]) -> Name:
        """Return the row's first custodian or tag among the links."""
        names = ((kind, name) for kind in NAME_KINDS for name in row.get_names(kind))
        return next(name for kind, name in names if (kind, self._input.found_names[kind.model][name.name].id) in links)

    def _build_links(self, kind: NameKind, rows: Sequence[tuple[StorableRow, int]]) -> list[tuple[int, int]]:
        """Return pairs of an exhibit's id and that of its custodian or tag."""
        ids = {name: found.id for name, found in self._input.found_names[kind.model].items()}
        try:
            return [(exhibit_id, ids[name.name]) for row, exhibit_id in rows for name in row.get_names(kind)]
        except KeyError as error:
            raise ConflictError(_CHANGED_MEANWHILE) from error

    def _write_links(self, transaction: Session, inserted: Sequence[tuple[StorableRow, int]]) -> None:
        try:
            for kind in NAME_KINDS:
                insert_links(transaction, kind, self._build_links(kind, inserted), self.import_record.user_id)
        except IntegrityError as error:
            if error_number(error) == NO_SUCH_PARENT:
                raise ConflictError("a custodian or tag was deleted while the chunk was written") from error
            raise


def _build_refusal(number: int | None) -> RowError:
    return RowError(Rejection.VALUE_REFUSED, None, f"the database refused a value of the row (error {number})")
