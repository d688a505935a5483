"""Warn, at the end of an import, of what its columns amount to: those without any effect, and what is said of others.

Guaranteed: the warnings are a function of the facts that the chunks have stored; those of an earlier attempt or
generation are replaced. If the facts of some rows are missing, nothing is said that these could disprove.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.imports.columns.facts import ColumnFacts, merge_facts, read_facts
from core.imports.columns.warnings import ColumnWarning, list_warnings
from core.load_file.layout import Layout
from core.statuses import ImportKind
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.imports.state.progress import WarningRow
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

CHUNKS_PER_PAGE = 1_000
# The warnings of the file that the split writes are numbered from 0; a file has at most 10,000 columns.
_FIRST_SEQ, _LAST_SEQ = 600_000, 699_999
_MAX_COLUMN_CHARACTERS, _MAX_CHARACTERS = 255, 1000
# Those of an earlier split of the file may still be there, under numbers that no chunk has.
_PAGE = text(
    "SELECT c.chunk_no, f.facts FROM import_chunks AS c LEFT JOIN import_column_facts AS f "
    "ON f.import_id = c.import_id AND f.chunk_no = c.chunk_no "
    "WHERE c.import_id = :import_id AND c.chunk_no > :after AND c.status = 'done' ORDER BY c.chunk_no LIMIT :most"
)
_DELETE = text(
    "DELETE FROM import_warnings WHERE import_id = :import_id AND line_no = 0 AND seq BETWEEN :first AND :last"
)


class _Page(NamedTuple):
    """The facts of some chunks, whether none is missing, and the last chunk; None at the end."""

    facts: ColumnFacts
    is_complete: bool
    last: int | None


def find_column_warnings(import_record: Imports) -> list[ColumnWarning]:
    """Return the warnings of an import of rows that has no chunk left; none for another import."""
    if import_record.kind != ImportKind.ROWS:
        return []
    page = _Page({}, True, 0)
    while page.last is not None:
        page = _read_page(import_record.id, page)
    if import_record.layout is None:
        return []
    return list_warnings(Layout.from_json(import_record.layout), page.facts, is_complete=page.is_complete)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(import_id: int, before: _Page) -> _Page:
    with session() as reading:
        values = {"import_id": import_id, "after": before.last, "most": CHUNKS_PER_PAGE}
        rows = reading.execute(_PAGE, values).all()
    texts = [row.facts for row in rows if row.facts is not None]
    facts = merge_facts((before.facts, *read_facts(texts)))
    is_complete = before.is_complete and len(texts) == len(rows)
    return _Page(facts, is_complete, rows[-1].chunk_no if len(rows) == CHUNKS_PER_PAGE else None)


def store_column_warnings(transaction: Session, import_id: int, warnings: Sequence[ColumnWarning]) -> None:
    """Write the warnings in place of those of an earlier attempt; the caller holds the lock on the import's row."""
    transaction.execute(_DELETE, {"import_id": import_id, "first": _FIRST_SEQ, "last": _LAST_SEQ})
    rows = [
        WarningRow(
            *(import_id, 0, seq, 0, each.column[:_MAX_COLUMN_CHARACTERS], each.code.value),
            each.message[:_MAX_CHARACTERS],
        )
        for seq, each in enumerate(warnings, start=_FIRST_SEQ)
    ]
    insert_new(transaction, "import_warnings", WarningRow._fields, rows)
