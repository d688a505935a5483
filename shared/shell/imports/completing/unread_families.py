"""Find what the file of an import states about families and the case cannot follow, at the end of the import.

Guaranteed: all statements of the import are looked at, in the order of the file, a bounded number at a time; what is
stored replaces what an earlier attempt found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import WarningCode
from core.families.cycles import FamilyCycle
from core.families.kinds import FamilyKind
from core.families.statements import states_families
from core.families.unread import MAX_SAMPLES, KindCount, Listed, describe_cycles, describe_listed, describe_unread
from core.load_file.layout import Layout
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.families.reading import find_existing
from shell.imports.completing.family_cycles import find_family_cycles
from shell.imports.state.progress import WarningRow
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

STATEMENTS_PER_WINDOW = 5_000
# The warnings of the file that the split writes are numbered from 0.
_FIRST_SEQ = 850_000
_WINDOW = text(
    "SELECT id, kind, key_text, line_no FROM family_statements FORCE INDEX (ix_family_statements_import) "
    "WHERE import_id = :import_id AND line_no >= :line_no AND (line_no > :line_no OR id > :id) "
    "AND kind IN ('begin', 'range', 'members') AND key_text IS NOT NULL ORDER BY line_no, id LIMIT :most"
)
_LISTED = text(
    "SELECT key_text, MIN(line_no) AS first_line, MAX(line_no) AS last_line, COUNT(*) OVER () AS found "
    "FROM family_statements FORCE INDEX (ix_family_statements_import) "
    "WHERE import_id = :import_id AND kind = 'members' AND key_text IS NOT NULL "
    "GROUP BY key_hash, key_text HAVING MIN(line_no) < MAX(line_no) ORDER BY first_line, key_text LIMIT :most"
)
_DELETE = text(
    "DELETE FROM import_warnings WHERE import_id = :import_id AND line_no = 0 "
    "AND code IN ('FAMILY_NOT_READ', 'FAMILY_CONFLICT')"
)

Counts = dict[FamilyKind, KindCount]


class Unread(NamedTuple):
    """How many values of each kind name no document, the first documents that several rows list, and the cycles."""

    counts: Counts
    listed: Sequence[Listed]
    cycles: Sequence[FamilyCycle]


def find_unread(import_record: Imports) -> Unread | None:
    """Return what cannot be followed; None if the file has no column of families."""
    layout = Layout.from_json(import_record.layout) if import_record.layout else None
    if layout is None or not states_families(layout):
        return None
    counts: Counts = {}
    place: tuple[int, int] | None = (0, 0)
    while place is not None:
        place = _count_window(import_record, place, counts)
    return Unread(counts, _find_listed(import_record), find_family_cycles(import_record))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_listed(import_record: Imports) -> list[Listed]:
    with session() as reading:
        values = {"import_id": import_record.id, "most": MAX_SAMPLES}
        return [Listed(*row) for row in reading.execute(_LISTED, values)]


def _count_window(import_record: Imports, after: tuple[int, int], counts: Counts) -> tuple[int, int] | None:
    """Count the next statements after a line and id; return where to go on, None at the end."""
    rows, existing = _read_window(import_record, after)
    for row in rows:
        count = counts.setdefault(FamilyKind(row.kind), KindCount())
        count.named += 1
        if row.key_text not in existing:
            count.add_missing(row.key_text, row.line_no)
    return (rows[-1].line_no, rows[-1].id) if len(rows) == STATEMENTS_PER_WINDOW else None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_window(import_record: Imports, after: tuple[int, int]) -> tuple[Sequence[Any], set[str]]:
    """Return statements, and those of their keys that documents of the case have."""
    place = {"import_id": import_record.id, "line_no": after[0], "id": after[1], "most": STATEMENTS_PER_WINDOW}
    with session() as reading:
        rows = reading.execute(_WINDOW, place).all()
        return rows, find_existing(reading, import_record.case_id, {row.key_text for row in rows})


def store_unread(transaction: Session, import_record: Imports, found: Unread) -> None:
    """Write a warning for each column, in place of those of an earlier attempt; the caller holds the import's lock."""
    transaction.execute(_DELETE, {"import_id": import_record.id})
    titles = Layout.from_json(import_record.layout or "{}").titles
    warnings = [(WarningCode.FAMILY_NOT_READ, each) for each in describe_unread(found.counts, titles)]
    conflicts = [*describe_listed(found.listed, titles), *describe_cycles(found.cycles, titles)]
    warnings += ((WarningCode.FAMILY_CONFLICT, each) for each in conflicts)
    rows = [
        WarningRow(import_record.id, 0, seq, 0, column, code.value, message)
        for seq, (code, (column, message)) in enumerate(warnings, start=_FIRST_SEQ)
    ]
    insert_new(transaction, "import_warnings", WarningRow._fields, rows)
