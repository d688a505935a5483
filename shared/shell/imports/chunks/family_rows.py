"""What the rows of a chunk state about families, as it is stored with them.

Guaranteed: an import and the check before it list the same statements of each row. A row that is new states nothing if
it has a parent of its own; a row that is unchanged states something only if nothing is stated about its exhibit, as of
exhibits that versions without statements have stored. An overlay also states what its blank cells withdraw, if blanks
clear, and that the parent was set or emptied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session

from core.families.kinds import FamilyKind, Stated
from core.families.statements import FamilyColumns, states_families
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout
from core.load_mode import Blanks
from shell.families.store import RowStatement, find_with_statements, write_statements
from shell.imports.chunks.results import RowResults
from shell.imports.rows.coercion import StorableRow
from shell.tables.imports import Imports


def write_families(transaction: Session, import_record: Imports, layout: Layout, results: RowResults) -> None:
    """Store what the rows of a chunk state: at most two statements, none if the file states no families."""
    statements = list_statements(transaction, import_record, layout, results)
    if statements:
        write_statements(transaction, import_record.case_id, statements)


def list_statements(
    reading: Session, import_record: Imports, layout: Layout, results: RowResults
) -> list[RowStatement]:
    """Return what the rows state about their exhibits, in the order of the file; new exhibits of a check have id 0."""
    stating, has_parents = states_families(layout), bool(layout.find_columns("parent_control_number"))
    columns = _Columns(layout)
    rows: list[tuple[StorableRow, int, list[Stated]]] = []
    if stating:
        rows += ((row, exhibit, columns.state_new(row)) for row, exhibit in results.inserted)
        known = find_with_statements(reading, import_record.case_id, {exhibit for _, exhibit in results.unchanged})
        others = [each for each in results.unchanged if each[1] not in known]
        rows += ((row, exhibit, columns.state_new(row)) for row, exhibit in others)
    if stating or has_parents:
        rows += ((row, exhibit, list(columns.state_overlaid(row))) for row, exhibit in results.updated)
    rows.sort(key=lambda each: each[0].source.line_no)
    return [
        RowStatement(exhibit, stated, import_record.id, row.source.line_no)
        for row, exhibit, found in rows
        for stated in found
    ]


class _Columns:
    """The columns of families and parents of a file, and what blank cells do."""

    def __init__(self, layout: Layout) -> None:
        self._families, self._parents = FamilyColumns(layout), layout.find_columns("parent_control_number")
        self._clears = layout.load_mode.blanks is Blanks.CLEAR

    def state_new(self, row: StorableRow) -> list[Stated]:
        """Return what the row of a new document states; that it is the first of its family needs no statement."""
        cells, number = row.source.cells or (), str(row.control_number)
        if self._names_parent(cells):
            return []
        stated = self._families.list_stated(cells, number)
        # In a list, the number can also be the Bates number of another document.
        return [each for each in stated if each.key and (each.key != number or each.kind is FamilyKind.MEMBERS)]

    def state_overlaid(self, row: StorableRow) -> Iterator[Stated]:
        """Yield what the row of an overlay states, first that it sets or empties the parent."""
        cells = row.source.cells or ()
        names_parent = self._names_parent(cells)
        if names_parent or (self._clears and self._parents):
            yield Stated(FamilyKind.PARENT, None)
        if not names_parent:
            stated = self._families.list_stated(cells, str(row.control_number))
            yield from (each for each in stated if self._clears or each.key)

    def _names_parent(self, cells: Sequence[str]) -> bool:
        return any(cells[index].strip(ASCII_WHITESPACE) for index in self._parents)
