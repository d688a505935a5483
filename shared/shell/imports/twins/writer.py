"""Complete a chunk whose twin stands: its rows are what the case holds, and nothing of them is parsed.

Guaranteed: in the transaction that completes the chunk, under the lock on its row, every exhibit that the twin made has
its first version, with a row hash, and every name that the twin's rows had is still the name that they were linked to.
Every change of a value or a link raises the version. Otherwise nothing is written, and the rows are read. What is
stored is what the reader of rows stores of unchanged rows.
Source of the rule: rows with equal bytes, layout and reader have equal row hashes.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import ImportNotRunningError
from core.statuses import ChunkStatus
from shell.db.session import session
from shell.imports.chunks import row_reader
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.chunk_source import LoadedChunk
from shell.imports.chunks.exhibit_store import find_as_made, find_missing_links
from shell.imports.chunks.results import write_unchanged
from shell.imports.chunks.write_or_check import finish_chunk
from shell.imports.chunks.writer import WriteResult, emit_row_counts, find_result
from shell.imports.state.progress import CHUNKS, ChunkOutcome, Counts, complete_chunk
from shell.imports.twins.twin import TwinChunk
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.db_helpers import retry_on_db_conflict
from shell.utils.named_rows import find_named
from shell.work.units import UnitEndedError

# What was read of a chunk of rows; text: there is nothing to write, and this is the status.
PreparedRows = ChunkInput | TwinChunk | str

_STANDS = text(
    "SELECT 1 FROM imports WHERE id = :twin AND phase = 'import' "
    "AND status IN ('completed', 'completed_with_rejections')"
)
_NAMES = text(
    "SELECT kind, name, line_no FROM import_name_occurrences WHERE import_id = :twin AND chunk_no = :chunk_no"
)
_COPIES = (
    text(
        "INSERT INTO import_name_occurrences (import_id, chunk_no, seq, kind, name, line_no, column_name) "
        "SELECT :import_id, chunk_no, seq, kind, name, line_no, column_name "
        "FROM import_name_occurrences WHERE import_id = :twin AND chunk_no = :chunk_no"
    ),
    text(
        "INSERT INTO import_column_facts (import_id, chunk_no, facts) SELECT :import_id, chunk_no, facts "
        "FROM import_column_facts WHERE import_id = :twin AND chunk_no = :chunk_no"
    ),
)


def finish_rows(prepared: PreparedRows) -> str:
    """Complete the chunk by its twin or, in any doubt, by its rows; return what `finish_chunk` returns.

    Raises what `finish_chunk` and, for a twin that does not stand, `read_rows` raise.
    """
    if not isinstance(prepared, TwinChunk):
        return finish_chunk(prepared)
    result = complete_by_twin(prepared)
    return result.status if result else finish_chunk(row_reader.read_rows(prepared.loaded).store_texts())


def _find_result(prepared: TwinChunk) -> WriteResult | None:
    return find_result(prepared.loaded)


@retry_on_db_conflict(resolve=_find_result)
def complete_by_twin(prepared: TwinChunk) -> WriteResult | None:
    """Complete the chunk in one transaction; None, with nothing written, if the twin does not stand.

    Raises ChunkBusyError while another worker holds the chunk, and WorkRetriedError if the import was retried.
    """
    record, chunk = prepared.loaded.import_record, prepared.loaded.chunk
    try:
        with session() as transaction:
            CHUNKS.lock(transaction, record.id, chunk.chunk_no)
            exhibit_ids = _verify(transaction, prepared)
            if exhibit_ids is None:
                return None
            place = {"import_id": record.id, "chunk_no": chunk.chunk_no, "twin": prepared.import_id}
            for copy in _COPIES:
                transaction.execute(copy, place)
            write_unchanged(transaction, chunk, list(exhibit_ids.values()))
            counts = Counts(imported=0, unchanged=chunk.row_count, updated=0, rejected=0, warnings=0)
            complete_chunk(transaction, record, chunk.chunk_no, ChunkOutcome(ChunkStatus.DONE, counts))
    except (UnitEndedError, ImportNotRunningError) as ended:
        return WriteResult(ended.status)
    emit_row_counts(record.tenant_id, counts)
    return WriteResult(ChunkStatus.DONE)


def _verify(transaction: Session, prepared: TwinChunk) -> Mapping[int, int] | None:
    """Return the ids of the twin's exhibits by line; None unless all of them are as the twin's import made them."""
    loaded, twin = prepared
    if transaction.execute(_STANDS, {"twin": twin}).first() is None:
        return None
    lines = (loaded.chunk.first_line, loaded.chunk.last_line)
    exhibit_ids = find_as_made(transaction, loaded.import_record.case_id, twin, *lines)
    if len(exhibit_ids) != loaded.chunk.row_count or not _has_names(transaction, loaded, twin, exhibit_ids):
        return None
    return exhibit_ids


def _has_names(transaction: Session, loaded: LoadedChunk, twin: int, exhibit_ids: Mapping[int, int]) -> bool:
    """Check that the names of the rows lead to what the exhibits are linked to: a name can be made anew."""
    place = {"twin": twin, "chunk_no": loaded.chunk.chunk_no}
    rows = transaction.execute(_NAMES, place).all()
    lines: dict[NameKind, dict[str, int]] = {
        kind: {row.name: row.line_no for row in rows if row.kind == kind.table} for kind in NAME_KINDS
    }
    found = find_named(transaction, loaded.import_record.case_id, {kind.model: lines[kind] for kind in NAME_KINDS})
    if any(len(found[kind.model]) != len(lines[kind]) for kind in NAME_KINDS):
        return False
    links = {
        kind: [(exhibit_ids[line], found[kind.model][name].id) for name, line in lines[kind].items()]
        for kind in NAME_KINDS
    }
    return not find_missing_links(transaction, links)
