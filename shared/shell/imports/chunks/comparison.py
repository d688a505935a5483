"""Compare rows with the exhibits that the case holds under their control numbers.

Guaranteed: it only reads. The import and the check of a file before it decide here which rows are unchanged and which
are rejected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from core.errors import ConflictError
from core.imports.conflicts import describe_missing_link
from core.load_file.rows import Name
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.conflicts import explain_conflicts, find_origins
from shell.imports.chunks.exhibit_store import StoredExhibit, find_missing_links
from shell.imports.chunks.results import RowResults
from shell.imports.rows.coercion import StorableRow
from shell.tables.name_kinds import NAME_KINDS, NameKind

CHANGED_MEANWHILE = "An exhibit or name of the case changed while the chunk was prepared; the chunk is imported again."


class CaseComparison:
    """Compares rows of a chunk with exhibits of its case, and adds them to `results`."""

    def __init__(self, chunk_input: ChunkInput, results: RowResults) -> None:
        self._input, self._results = chunk_input, results

    def compare(self, transaction: Session, rows: Sequence[StorableRow], stored: Mapping[str, StoredExhibit]) -> None:
        """Sort the rows by what the case holds under their number: this line, the same values, or other values.

        Raises ConflictError for a row whose number is not among `stored`.
        """
        equal: list[tuple[StorableRow, int]] = []
        differing: list[tuple[StorableRow, int]] = []
        for row in rows:
            exhibit = stored.get(str(row.control_number))
            if exhibit is None:
                raise ConflictError(CHANGED_MEANWHILE)
            if (exhibit.import_id, exhibit.line_no) == (self._input.import_record.id, row.source.line_no):
                self._results.inserted.append((row, exhibit.id))
            elif self._input.layout.load_mode.is_overlay:
                # Created since the chunk looked for the exhibits to be changed: the next attempt finds it.
                raise ConflictError(CHANGED_MEANWHILE)
            elif row.is_equal(exhibit.row_hash):
                equal.append((row, exhibit.id))
            else:
                differing.append((row, exhibit.id))
        if differing:
            conflicts = explain_conflicts(transaction, self._input.import_record, self._input.layout, differing)
            self._results.rejected += conflicts
        self._compare_links(transaction, equal)

    def _compare_links(self, transaction: Session, equal: Sequence[tuple[StorableRow, int]]) -> None:
        missing = find_missing_links(transaction, {kind: build_links(self._input, kind, equal) for kind in NAME_KINDS})
        self._results.unchanged += [(row, exhibit_id) for row, exhibit_id in equal if exhibit_id not in missing]
        origins = find_origins(transaction, self._input.import_record, list(missing))
        for row, exhibit_id in equal:
            if exhibit_id in missing:
                name = self._find_name(row, missing[exhibit_id])
                self._results.rejected.append((row, [describe_missing_link(*name, origins[exhibit_id])]))

    def _find_name(self, row: StorableRow, links: set[tuple[NameKind, int]]) -> Name:
        """Return the row's first custodian or tag among the links."""
        names = ((kind, name) for kind in NAME_KINDS for name in row.get_names(kind))
        found = self._input.found_names
        return next(name for kind, name in names if (kind, found[kind.model][name.name].id) in links)


def build_links(
    chunk_input: ChunkInput, kind: NameKind, rows: Sequence[tuple[StorableRow, int]]
) -> list[tuple[int, int]]:
    """Return pairs of an exhibit's id and that of its custodian or tag.

    Raises ConflictError for a name that was not found.
    """
    ids = {name: found.id for name, found in chunk_input.found_names[kind.model].items()}
    try:
        return [(exhibit_id, ids[name.name]) for row, exhibit_id in rows for name in row.get_names(kind)]
    except KeyError as error:
        raise ConflictError(CHANGED_MEANWHILE) from error
