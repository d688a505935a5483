"""Write the results of a chunk's rows: rejections, warnings and name occurrences.

Guaranteed: the results are independent of what other chunks have written so far; events contain counts, never content.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from core.codes import VolumeCode, WarningCode
from core.events import Event, rows_changed
from core.imports.check_updates import Updates
from core.imports.chunk_facts import Occurrence
from core.imports.id_lists import encode_ids
from core.load_file.encoding import replace_surrogates
from core.load_file.layout import Layout
from core.load_file.original_lines import find_original_line
from core.load_file.rows import RowError, ValueChange
from core.statuses import ChunkStatus
from shell.db.bulk_insert import insert_new
from shell.imports.rows.coercion import StorableRow
from shell.imports.state.codes import count_chunk, list_kinds
from shell.imports.state.progress import ChunkOutcome, Counts, RejectionRow, WarningRow
from shell.tables.chunks import ImportChunks
from shell.tables.name_kinds import NAME_KINDS

MAX_ORIGINAL_BYTES = 1024
MAX_COLUMN_CHARACTERS, MAX_MESSAGE_CHARACTERS = 255, 1000
_UNCHANGED_COLUMNS = ("import_id", "chunk_no", "first_id", "last_id", "exhibit_ids")
NAME_COLUMNS = ("import_id", "chunk_no", "seq", "kind", "name", "line_no", "column_name")


@dataclass
class RowResults:
    """The rows of a chunk by their result in one attempt, with the ids of their exhibits or the errors.

    `updates` is what the updated ones would change, for a check. `by_number` are the lines whose key is another number
    of their exhibit than that of its fields.
    """

    inserted: list[tuple[StorableRow, int]] = field(default_factory=list)
    unchanged: list[tuple[StorableRow, int]] = field(default_factory=list)
    updated: list[tuple[StorableRow, int]] = field(default_factory=list)
    rejected: list[tuple[StorableRow, Sequence[RowError]]] = field(default_factory=list)
    updates: Updates = field(default_factory=Updates)
    by_number: set[int] = field(default_factory=set)

    def list_accepted(self) -> list[StorableRow]:
        """Return the rows that the case holds now, in the order of the file."""
        rows = [row for row, _ in (*self.inserted, *self.updated, *self.unchanged)]
        return sorted(rows, key=lambda row: row.source.line_no)

    def compute_digest(self) -> bytes:
        """Return a SHA-256 of the line, the result and the codes of every row.

        It is equal for a check and the import after it if each row had the same result, for the same reasons.
        """
        by_result = {"imported": self.inserted, "unchanged": self.unchanged, "updated": self.updated}
        rows: list[tuple[int, str, list[str]]] = [
            (row.source.line_no, result, [change.code.value for change in row.changes])
            for result, accepted in by_result.items()
            for row, _ in accepted
        ]
        rows += (
            (row.source.line_no, "rejected", [each.code.value for each in errors]) for row, errors in self.rejected
        )
        return hashlib.sha256(repr(sorted(rows)).encode()).digest()


def write_results(
    transaction: Session,
    tenant_id: str,
    chunk: ImportChunks,
    layout: Layout,
    results: RowResults,
    named_files: Mapping[str, int],
) -> ChunkOutcome:
    """Write the rejections, warnings, their counts and name occurrences; return the outcome with its events.

    `named_files` are the counts of `count_named_files`.
    """
    rows = results.list_accepted()
    warnings = [_build_warning(chunk, row, seq, change) for row in rows for seq, change in enumerate(row.changes)]
    rejections = list(_build_rejections(chunk, layout, results.rejected))
    insert_new(transaction, "import_rejections", RejectionRow._fields, rejections)
    insert_new(transaction, "import_warnings", WarningRow._fields, warnings)
    count_chunk(transaction, chunk, list_kinds(rejections, warnings))
    occurrences = [(chunk.import_id, chunk.chunk_no, seq, *each) for seq, each in enumerate(list_occurrences(results))]
    insert_new(transaction, "import_name_occurrences", NAME_COLUMNS, occurrences)
    write_unchanged(transaction, chunk, [exhibit_id for _, exhibit_id in results.unchanged])
    counts = Counts(
        *(len(results.inserted), len(results.unchanged), len(results.updated)),
        *(len(results.rejected), len(warnings)),
        **named_files,
    )
    digest = None if chunk.check_digest is None else results.compute_digest()
    return ChunkOutcome(ChunkStatus.DONE, counts, list(_build_events(tenant_id, chunk, rows)), digest)


def write_unchanged(transaction: Session, chunk: ImportChunks, exhibit_ids: Sequence[int]) -> None:
    """Store which exhibits rows of the chunk found unchanged: nothing else of such rows is stored."""
    if exhibit_ids:
        row = (chunk.import_id, chunk.chunk_no, min(exhibit_ids), max(exhibit_ids), encode_ids(exhibit_ids))
        insert_new(transaction, "import_unchanged", _UNCHANGED_COLUMNS, [row])


def _build_rejections(
    chunk: ImportChunks, layout: Layout, rejected: Sequence[tuple[StorableRow, Sequence[RowError]]]
) -> Iterator[RejectionRow]:
    import_id, chunk_no = chunk.import_id, chunk.chunk_no
    for row, errors in rejected:
        source, control_number = row.source, _clean(row.control_number)
        place = (source.byte_start, source.byte_len, 1, find_original_line(source, layout))
        for seq, error in enumerate(errors):
            what = (_clean(error.column), error.code.value, error.message[:MAX_MESSAGE_CHARACTERS], control_number)
            yield RejectionRow(import_id, source.line_no, seq, chunk_no, *what, *place)


def _build_warning(chunk: ImportChunks, row: StorableRow, seq: int, change: ValueChange) -> WarningRow:
    source = row.source
    original, stored = _encode(change.original), _encode(change.stored)
    return WarningRow(
        *(chunk.import_id, source.line_no, seq, chunk.chunk_no),
        *(_clean(change.column), change.code.value, change.message[:MAX_MESSAGE_CHARACTERS], row.control_number),
        *(_keep(original), None if original is None else len(original), change.stored_bytes),
        *(source.byte_start, source.byte_len, _keep(stored)),
    )


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _keep(value: bytes | None) -> bytes | None:
    """Return a value that is short enough to be stored beside its warning, else None."""
    return value if value is not None and len(value) <= MAX_ORIGINAL_BYTES else None


def map_corrected(results: RowResults, layout: Layout) -> dict[int, int]:
    """Return the lines of accepted rows of a correction, by those that they replace in the import that it corrects."""
    lines = ((find_original_line(row.source, layout), row.source.line_no) for row in results.list_accepted())
    return {original: own for original, own in lines if original is not None}


def list_occurrences(results: RowResults) -> list[Occurrence]:
    """Return every spelling of a name in the accepted rows of a chunk, with the lowest line that has it."""
    rows = results.list_accepted()
    found: dict[tuple[str, str], Occurrence] = {}
    for kind in NAME_KINDS:
        for row in rows:
            for name in row.get_names(kind):
                if (kind.table, name.name) not in found:
                    where = (row.source.line_no, _clean(name.column))
                    found[kind.table, name.name] = Occurrence(kind.table, name.name, *where)
    return list(found.values())


def _build_events(tenant_id: str, chunk: ImportChunks, rows: Sequence[StorableRow]) -> Iterator[Event]:
    """Yield one event per warning code."""
    count: Counter[WarningCode | VolumeCode] = Counter()
    first: dict[WarningCode | VolumeCode, int] = {}
    for row in rows:
        for change in row.changes:
            count[change.code] += 1
            first.setdefault(change.code, row.source.line_no)
    for code in sorted(count):
        yield rows_changed(chunk.import_id, tenant_id, chunk.chunk_no, code, count[code], first[code])


def _clean(text: str | None) -> str | None:
    """Return the text as a report's column stores it: at most 255 characters, without surrogates."""
    return None if text is None else replace_surrogates(text[:MAX_COLUMN_CHARACTERS])
