"""Find what keeps documents of an import, and delete documents, by statements for all documents of a part.

Statements with a thousand values contain them as literals of `shell.db.sql_literals`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from shell.db.sql_literals import execute_literal, format_match
from shell.tables.imports import Imports

# So many generations of a family are read. Real ones have few; a server stops at a thousand, MariaDB silently.
GENERATIONS = 50
_COLUMNS = "child.id, child.control_number, child.parent_control_number, child.import_id, child.version"
# Not those that the undo removes: created by the import, not changed, not produced, and without attachments.
_MAY_STAY = """
    NOT {is_known} AND (child.import_id <> {import_id} OR child.version > 1
      OR EXISTS (SELECT 1 FROM exhibits AS next WHERE next.case_id = {case_id}
                 AND next.parent_control_number = child.control_number)
      OR EXISTS (SELECT 1 FROM production_documents AS produced WHERE produced.exhibit_id = child.id
                 AND produced.status <> 'void'))
"""
# The index alone is read to find them. Attachments of other imports stay: theirs are not needed.
_DESCENDANTS = f"""
    WITH RECURSIVE family AS (
      SELECT {_COLUMNS}, 1 AS generation
      FROM exhibits AS found FORCE INDEX (ix_exhibits_parent) STRAIGHT_JOIN exhibits AS child ON child.id = found.id
      WHERE found.case_id = {{case_id}} AND {{has_parent}} AND {_MAY_STAY}
      UNION
      SELECT {_COLUMNS}, family.generation + 1
      FROM family STRAIGHT_JOIN exhibits AS child FORCE INDEX (ix_exhibits_parent)
        ON child.case_id = {{case_id}} AND child.parent_control_number = family.control_number
      WHERE family.import_id = {{import_id}} AND family.generation < {GENERATIONS} AND {_MAY_STAY}
    )
    SELECT * FROM family
"""  # noqa: S608 - constants
_DELETE = """
    DELETE gone FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS ids
    STRAIGHT_JOIN {table} AS gone FORCE INDEX (PRIMARY) ON gone.{column} = ids.id
"""


class Attachment(NamedTuple):
    """An exhibit with a parent, of which `parent` is the control number; `generation` is 1 for those of a part."""

    id: int
    control_number: str
    parent: str
    import_id: int
    version: int
    generation: int


def find_descendants(
    reading: Session, import_record: Imports, parents: Set[str], known: Sequence[int]
) -> list[Attachment]:
    """Return the attachments of these parents and, if the import created them, theirs, for up to GENERATIONS.

    One statement, whatever the depth. Left out are those with the ids `known`, at least one, and those that an undo of
    the import certainly removes.
    """
    values = {"case_id": import_record.case_id, "import_id": import_record.id}
    has_parent = format_match("found.parent_control_number", sorted(parents))
    is_known = format_match("child.id", sorted(known))
    statement = _DESCENDANTS.format(**values, has_parent=has_parent, is_known=is_known)
    found: Any = execute_literal(reading.connection(), statement, "SELECT exhibits")
    descendants = {child.id: child for child in map(Attachment._make, found)}
    # The database also finds parents of other case or padding.
    numbers = parents | {child.control_number for child in descendants.values()}
    return [child for child in descendants.values() if child.parent in numbers]


def find_versions(reading: Session, case_id: int, exhibit_ids: Sequence[int]) -> dict[int, int]:
    """Return the versions of exhibits of the case."""
    if not exhibit_ids:
        return {}
    where = f"case_id = {case_id} AND {format_match('id', exhibit_ids)}"
    statement = f"SELECT id, version FROM exhibits FORCE INDEX (PRIMARY) WHERE {where}"  # noqa: S608 - literals
    found: Any = execute_literal(reading.connection(), statement, "SELECT exhibits")
    return {int(exhibit_id): int(version) for exhibit_id, version in found}


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


def find_history_bytes(reading: Session, exhibit_ids: Sequence[int]) -> dict[int, int]:
    """Return the bytes of the stored history of exhibits, by exhibit; an exhibit without changes is left out."""
    if not exhibit_ids:
        return {}
    statement = (
        "SELECT exhibit_id, SUM(LENGTH(changes) + COALESCE(LENGTH(stated), 0)) FROM exhibit_changes "  # noqa: S608 - literals
        f"WHERE {format_match('exhibit_id', exhibit_ids)} GROUP BY exhibit_id"
    )
    found: Any = execute_literal(reading.connection(), statement, "SELECT exhibit_changes")
    return {int(exhibit_id): int(size) for exhibit_id, size in found}


def delete_rows(transaction: Session, table: str, column: str, ids: Sequence[int]) -> None:
    """Delete the rows of a table whose column, the first one of its primary key, has one of the values.

    One statement, which locks no other row: for a list of much of a table the server would scan it, and wait for
    transactions on documents of other parts and cases.
    """
    if ids:
        statement = text(_DELETE.format(table=table, column=column))
        transaction.execute(statement, {"ids": json.dumps(ids)})
