"""Write what rows and requests state about families, and delete it with what stated it.

Guaranteed: one statement for the rows of a chunk; a delete finds its rows by keys alone and locks no other row. The
caller's transaction has the exhibits' locks, or has created them: the ids of the statements about one exhibit are in
the order of its changes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.families.kinds import FamilyKind, Stated, hash_key
from shell.db.bulk_insert import insert_new
from shell.db.sql_literals import execute_literal, format_match

MAX_KEY_CHARACTERS = 255
_TABLE = "family_statements"
_COLUMNS = ("case_id", "exhibit_id", "kind", "key_text", "key_hash", "import_id", "line_no")
_DELETE = text(
    "DELETE gone FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS ids "
    "STRAIGHT_JOIN family_statements AS gone FORCE INDEX (PRIMARY) ON gone.id = ids.id"
)
_OF_LINES = text(
    "SELECT id, exhibit_id FROM family_statements FORCE INDEX (ix_family_statements_import) "
    "WHERE import_id = :import_id AND line_no BETWEEN :first_line AND :last_line"
)


class RowStatement(NamedTuple):
    """What the row at a line of an import states about an exhibit; both are None for a request."""

    exhibit_id: int
    stated: Stated
    import_id: int | None = None
    line_no: int | None = None


def write_statements(transaction: Session, case_id: int, statements: Iterable[RowStatement]) -> None:
    """Insert statements about exhibits of the case, in their order."""
    insert_new(transaction, _TABLE, _COLUMNS, [_build_row(case_id, each) for each in statements])


def _build_row(case_id: int, statement: RowStatement) -> tuple[object, ...]:
    exhibit_id, (kind, key), *place = statement
    texts = (None, None) if key is None else (key[:MAX_KEY_CHARACTERS], hash_key(key))
    return (case_id, exhibit_id, kind.value, *texts, *place)


def write_explicit(transaction: Session, case_id: int, exhibit_id: int) -> None:
    """Record that a request set or emptied the parent of an exhibit: what rows stated before does not count."""
    write_statements(transaction, case_id, [RowStatement(exhibit_id, Stated(FamilyKind.PARENT, None))])


def find_with_statements(reading: Session, case_id: int, exhibit_ids: Collection[int]) -> set[int]:
    """Return those of the exhibits about which there is a statement."""
    if not exhibit_ids:
        return set()
    where = f"case_id = {case_id} AND {format_match('exhibit_id', sorted(exhibit_ids))}"
    statement = f"SELECT DISTINCT exhibit_id FROM {_TABLE} FORCE INDEX (ix_family_statements_exhibit) WHERE {where}"  # noqa: S608
    return {row[0] for row in execute_literal(reading.connection(), statement, f"SELECT {_TABLE}")}


def delete_of_lines(
    transaction: Session, import_id: int, first_line: int, last_line: int, kept: Collection[int]
) -> None:
    """Delete what these lines of an import state, but for that about the exhibits `kept`."""
    lines = {"import_id": import_id, "first_line": first_line, "last_line": last_line}
    found = transaction.execute(_OF_LINES, lines)
    _delete(transaction, [row.id for row in found if row.exhibit_id not in kept])


def delete_of_exhibits(transaction: Session, exhibit_ids: Sequence[int]) -> None:
    """Delete all statements about exhibits that the caller removes."""
    if exhibit_ids:
        where = format_match("exhibit_id", sorted(exhibit_ids))
        statement = f"SELECT id FROM {_TABLE} FORCE INDEX (ix_family_statements_exhibit) WHERE {where}"  # noqa: S608
        rows = execute_literal(transaction.connection(), statement, f"SELECT {_TABLE}")
        _delete(transaction, [row[0] for row in rows])


def _delete(transaction: Session, ids: Sequence[int]) -> None:
    if ids:
        transaction.execute(_DELETE, {"ids": json.dumps(sorted(ids))})
