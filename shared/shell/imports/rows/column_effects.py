"""The facts of a chunk's columns, which say at the end of the import whether a column had any effect.

Guaranteed: they are stored in the transaction of the chunk, once, and never changed; a retry of the import keeps those
of the chunks that it keeps. Those of a chunk that failed, or that the previous release imported, are missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from core.imports.columns.facts import ColumnCells, ColumnFacts, find_facts, merge_facts, write_facts
from core.load_file.layout import Layout
from core.load_file.rows import Row
from shell.db.bulk_insert import insert_new
from shell.imports.rows.columnar_rows import ColumnarRows
from shell.tables.chunks import ImportChunks

_COLUMNS = ("import_id", "chunk_no", "facts")


def find_column_facts(layout: Layout, columnar: ColumnarRows, rows: Sequence[Row]) -> ColumnFacts:
    """Return the facts of the regular rows and of those of the others that have no errors."""
    facts = find_facts(layout, columnar.list_cells())
    others = [row for row in rows if not row.errors]
    return merge_facts((facts, find_facts(layout, _list_cells(layout, others)))) if others else facts


def _list_cells(layout: Layout, rows: Sequence[Row]) -> ColumnCells:
    noted = {index for row in rows for index, _ in row.dates.notes}
    notes = {index: [dict(row.dates.notes).get(index) for row in rows] for index in noted}
    cells = [(row.source.cells or [])[: len(layout.names)] for row in rows]
    return ColumnCells([row.source.line_no for row in rows], list(zip(*cells, strict=True)), notes)


def insert_column_facts(transaction: Session, chunk: ImportChunks, facts: ColumnFacts) -> None:
    """Store the facts of a chunk that is imported; the caller holds the lock on its row."""
    insert_new(transaction, "import_column_facts", _COLUMNS, [(chunk.import_id, chunk.chunk_no, write_facts(facts))])
