"""Find the rows of an import that are each other's parents by what they state, at its end.

Guaranteed: what the check before it finds (`shell.imports.checks.family_references`). A bounded number of statements is
read at a time; of the rows, only those are kept, up to `MOST_ROWS`, that name another document and that another row may
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import text

from core.families.cycles import MOST_ROWS, FamilyCycle, StatingRow, find_cycles
from core.families.kinds import FamilyKind, Stated
from shell.db.session import session
from shell.families.reading import find_numbers_named
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

STATEMENTS_TOGETHER = 2_000
_WINDOW = text(
    "SELECT s.id, s.line_no, s.kind, s.key_text, e.control_number, e.bates_begin "
    "FROM family_statements AS s FORCE INDEX (ix_family_statements_import) "
    "STRAIGHT_JOIN exhibits AS e FORCE INDEX (PRIMARY) ON e.id = s.exhibit_id "
    "WHERE s.import_id = :import_id AND s.line_no >= :line_no AND (s.line_no > :line_no OR s.id > :id) "
    "AND s.kind <> 'parent' AND s.key_text IS NOT NULL ORDER BY s.line_no, s.id LIMIT :most"
)


def find_family_cycles(import_record: Imports) -> list[FamilyCycle]:
    """Return the cycles of rows, in the order of the file."""
    found: dict[int, StatingRow] = {}
    place: tuple[int, int] | None = (0, 0)
    while place is not None and len(found) < MOST_ROWS:
        rows, place = _read_window(import_record, place)
        for each in rows:
            before = found.get(each.line_no)
            found[each.line_no] = each._replace(stated=[*(before.stated if before else ()), *each.stated])
    return find_cycles(list(found.values())[:MOST_ROWS])


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_window(import_record: Imports, after: tuple[int, int]) -> tuple[Sequence[StatingRow], tuple[int, int] | None]:
    """Return the rows of the next statements that can be in a cycle, and where to go on, None at the end."""
    values = {"import_id": import_record.id, "line_no": after[0], "id": after[1], "most": STATEMENTS_TOGETHER}
    with session() as reading:
        statements = reading.execute(_WINDOW, values).all()
        rows = [row for row in _build_rows(statements) if row.named]
        numbers = {number for row in rows for number in row.numbers}
        named = find_numbers_named(reading, import_record.case_id, import_record.id, numbers)
    following = (statements[-1].line_no, statements[-1].id) if len(statements) == STATEMENTS_TOGETHER else None
    return [row for row in rows if not named.isdisjoint(row.numbers)], following


def _build_rows(statements: Iterable[Any]) -> list[StatingRow]:
    by_row = groupby(statements, key=lambda each: (each.line_no, each.control_number, each.bates_begin))
    return [
        StatingRow(*row, [Stated(FamilyKind(each.kind), each.key_text) for each in stated]) for row, stated in by_row
    ]
