"""Find what keeps documents of an import, and delete documents, by statements for all documents of a part.

Statements with a thousand values contain them as literals of `shell.db.sql_literals`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from shell.db.sql_literals import execute_literal, format_match
from shell.tables.imports import Imports

# Not those that the undo removes: created by the import, not changed, not produced, and without attachments.
_CHILDREN = """
    SELECT child.id, child.control_number, child.parent_control_number, child.import_id, child.version
    FROM exhibits AS found FORCE INDEX (ix_exhibits_parent) STRAIGHT_JOIN exhibits AS child ON child.id = found.id
    WHERE found.case_id = {case_id} AND {has_parent} AND NOT {is_known}
      AND (child.import_id <> {import_id} OR child.version > 1
        OR EXISTS (SELECT 1 FROM exhibits AS next WHERE next.case_id = {case_id}
                   AND next.parent_control_number = child.control_number)
        OR EXISTS (SELECT 1 FROM production_documents AS produced WHERE produced.exhibit_id = child.id
                   AND produced.status <> 'void'))
"""

_DELETE = """
    DELETE gone FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS ids
    STRAIGHT_JOIN {table} AS gone FORCE INDEX (PRIMARY) ON gone.{column} = ids.id
"""


class Attachment(NamedTuple):
    """An exhibit with a parent; `parent` is the control number of that."""

    id: int
    control_number: str
    parent: str
    import_id: int
    version: int


def find_attachments(
    reading: Session, import_record: Imports, parents: Collection[str], known: Sequence[int]
) -> list[Attachment]:
    """Return the attachments of these parents, without those that an undo of the import certainly removes.

    Those with the ids `known`, at least one, are left out, too; the index alone is read to find them.
    """
    values = {"case_id": import_record.case_id, "import_id": import_record.id}
    has_parent = format_match("found.parent_control_number", sorted(parents))
    statement = _CHILDREN.format(**values, has_parent=has_parent, is_known=format_match("found.id", sorted(known)))
    found: Any = execute_literal(reading.connection(), statement, "SELECT exhibits")
    return [child for child in map(Attachment._make, found) if child.parent in parents]


def find_productions(reading: Session, exhibit_ids: Sequence[int]) -> dict[int, int]:
    """Return a production for each of the exhibits that has Bates numbers which are not void."""
    if not exhibit_ids:
        return {}
    statement = (
        "SELECT exhibit_id, MIN(production_id) FROM production_documents "  # noqa: S608 - literals
        f"WHERE {format_match('exhibit_id', exhibit_ids)} AND status <> 'void' GROUP BY exhibit_id"
    )
    found: Any = execute_literal(reading.connection(), statement, "SELECT production_documents")
    return {int(exhibit_id): int(production) for exhibit_id, production in found}


def delete_rows(transaction: Session, table: str, column: str, ids: Sequence[int]) -> None:
    """Delete the rows of a table whose column, the first one of its primary key, has one of the values.

    One statement, which locks no other row: for a list of much of a table the server would scan it, and wait for
    transactions on documents of other parts and cases.
    """
    if ids:
        statement = text(_DELETE.format(table=table, column=column))
        transaction.execute(statement, {"ids": json.dumps(ids)})
