"""Write one chunk: all of its rows and their results in one transaction, in the same order for every chunk.

Guaranteed: only the worker that holds the lock on the chunk's row writes it; a COMMIT of unknown outcome is resolved
by that row. Rows are inserted in the order of their unique keys. A name that is on every row is locked in shared mode
at most and never updated. Which names, rejections and warnings come out is independent of the other chunks' progress.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from sqlalchemy.orm import Session

from core.errors import ImportNotRunningError
from core.statuses import ChunkStatus
from shell.db.session import session
from shell.exhibits.links import insert_links
from shell.exhibits.texts import set_text_ids
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.comparison import CaseComparison, build_links
from shell.imports.chunks.exhibit_store import (
    NewExhibits,
    StoredExhibit,
    build_refusal,
    find_exhibits,
    insert_exhibits,
    prepare_exhibits,
)
from shell.imports.chunks.family_rows import write_families
from shell.imports.chunks.file_links import count_named_files, write_links
from shell.imports.chunks.number_claims import write_row_claims
from shell.imports.chunks.overlay_writer import OverlayWriter
from shell.imports.chunks.results import RowResults, map_corrected, write_results
from shell.imports.chunks.text_packs import insert_packed
from shell.imports.corrections.uploaded_rows import accept_rows
from shell.imports.rows.coercion import StorableRow
from shell.imports.rows.column_effects import insert_column_facts
from shell.imports.rows.reader_identity import identify_reader
from shell.imports.state.progress import CHUNKS, ChunkOutcome, Counts, complete_chunk
from shell.imports.state.unused_names import delete_unused_names
from shell.observability import emit_counts, emit_tenant_counts
from shell.tables.chunks import ImportChunks
from shell.tables.name_kinds import NAME_KINDS
from shell.utils.db_helpers import retry_on_db_conflict
from shell.work.units import UnitEndedError
from shell.zones.zone_map import build_zone


class HasChunk(Protocol):
    """What a worker has read of a chunk."""

    @property
    def chunk(self) -> ImportChunks:
        """The chunk's row."""


class WriteResult(NamedTuple):
    """The chunk's status, or that of an import that is not running, and whether unpublished events may exist.

    A worker that finds the chunk finished cannot know whether the one that finished it woke the relay.
    """

    status: str
    has_events: bool = True


def find_result(chunk_input: HasChunk) -> WriteResult | None:
    """Return the status of a chunk that is not pending; wait for a transaction that is about to change it."""
    status = CHUNKS.find_end(chunk_input.chunk.import_id, chunk_input.chunk.chunk_no)
    return None if status is None else WriteResult(status)


@retry_on_db_conflict(resolve=find_result)
def write_chunk(chunk_input: ChunkInput) -> WriteResult:
    """Add the missing names in a short transaction, then write everything else in one; retry both on a conflict.

    Before them, the texts are written to the bucket, unless they are. Raises ChunkBusyError while another worker holds
    the chunk, WorkRetriedError, and StorageUnavailableError.
    """
    chunk_input.store_texts()
    try:
        return _write_names_and_rows(chunk_input)
    except Exception:
        # Their ids can be those of a lost transaction; after a crash the server may give them to other names.
        chunk_input.clear_names()
        raise


def _write_names_and_rows(chunk_input: ChunkInput) -> WriteResult:
    import_id, chunk_no = chunk_input.chunk.import_id, chunk_input.chunk.chunk_no
    writer = ChunkWriter(chunk_input)
    try:
        if any(chunk_input.list_missing_names().values()):
            with session() as naming:
                # Without the lock on a pending chunk, names could be added to an import that is complete.
                CHUNKS.lock(naming, import_id, chunk_no)
                chunk_input.add_names(naming)
        with session() as transaction:
            CHUNKS.lock(transaction, import_id, chunk_no)
            outcome = writer.write(transaction)
            complete_chunk(transaction, chunk_input.import_record, chunk_no, outcome)
    except UnitEndedError as ended:
        return WriteResult(ended.status)
    except ImportNotRunningError as stopped:
        with session() as cleanup:
            # The import has ended: no later chunk would delete the names that this one added.
            delete_unused_names(cleanup, chunk_input.import_record)
        return WriteResult(stopped.status)
    emit_row_counts(chunk_input.import_record.tenant_id, outcome.counts)
    return WriteResult(ChunkStatus.DONE, has_events=bool(outcome.events))


def emit_row_counts(tenant_id: str, counts: Counts) -> None:
    """Count the rows of a chunk that was committed in the metrics; two of them also for the tenant."""
    emit_tenant_counts(tenant_id, RowsImported=counts.imported, RowsRejected=counts.rejected)
    emit_counts(
        RowsImported=counts.imported,
        RowsUnchanged=counts.unchanged,
        RowsUpdated=counts.updated,
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
        results = RowResults(rejected=[(row, row.errors) for row in self._input.rejected])
        if self.layout.load_mode.is_overlay:
            rows = OverlayWriter(self._input, results).write(transaction)
            self._insert_exhibits(transaction, results, prepare_exhibits(rows), rows)
        else:
            self._insert_exhibits(transaction, results, self._input.new, self.valid)
        self._write_texts(transaction, results.inserted)
        for kind in NAME_KINDS:
            links = build_links(self._input, kind, results.inserted)
            insert_links(transaction, kind, links, self.import_record.user_id)
        write_row_claims(transaction, self._input, results)
        write_families(transaction, self.import_record, self.layout, results)
        named: Mapping[str, int] = {}
        if self._input.files is None:
            named = count_named_files(self.layout, results)
        else:
            place, relinks = (self.import_record, self.chunk, self.layout), self.layout.load_mode.is_overlay
            write_links(transaction, *place, self._input.files, results, with_unchanged=relinks)
        insert_column_facts(transaction, self.chunk, self._input.column_facts)
        if self.import_record.corrects_import_id is not None:
            accept_rows(transaction, self.import_record, self.layout, map_corrected(results, self.layout))
        outcome = write_results(transaction, self.import_record.tenant_id, self.chunk, self.layout, results, named)
        reader = None if self.layout.load_mode.is_overlay or not results.inserted else identify_reader()
        zone = build_zone((str(row.control_number), new) for row, new in results.inserted)
        return replace(outcome, zone=zone, reader=reader)

    def _insert_exhibits(
        self, transaction: Session, results: RowResults, new: NewExhibits, rows: Sequence[StorableRow]
    ) -> None:
        """Insert the new ones of the rows, and compare the others with the exhibits that the case holds."""
        added = insert_exhibits(transaction, new)
        results.rejected += [(row, [build_refusal(number)]) for row, number in added.refused]
        results.inserted = [(row, added.ids[row.source.line_no]) for row in rows if row.source.line_no in added.ids]
        known = {row.source.line_no for row, _ in added.refused} | added.ids.keys()
        others = [row for row in rows if row.source.line_no not in known]
        stored = self._find_stored(transaction, [str(row.control_number) for row in others])
        CaseComparison(self._input, results).compare(transaction, others, stored)

    def _write_texts(self, transaction: Session, inserted: Sequence[tuple[StorableRow, int]]) -> None:
        """Have the new exhibits point to the texts of their rows."""
        lines = {row.source.line_no: exhibit_id for row, exhibit_id in inserted}
        pack, stored = self._input.pack, self._input.stored_pack
        ids = insert_packed(transaction, self.import_record, pack, stored, lines)
        set_text_ids(transaction, {lines[line]: text_id for line, text_id in ids.items()})

    def _find_stored(self, transaction: Session, numbers: Sequence[str]) -> Mapping[str, StoredExhibit]:
        """Return the case's exhibits under these numbers.

        Exhibits that were read before the transaction are not read again: this chunk does not write to them, and a
        change since then has the same effect as a change after this chunk. None can be removed: while the import runs,
        none of its case is undone, and after a retry `complete_chunk` has the chunk read again.
        """
        if self.layout.load_mode.is_overlay:
            return find_exhibits(transaction, self.import_record.case_id, numbers)
        others = [number for number in numbers if number not in self.held]
        return {**self.held, **find_exhibits(transaction, self.import_record.case_id, others)}
