"""Delete the custodians and tags that an import created and that nothing references.

Guaranteed: a name that something references, or that an API request took over, is never deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from shell.tables.imports import Imports
from shell.tables.name_kinds import NAME_KINDS, NameKind

LARGEST_ID = 2**63 - 1


def delete_unused_names(transaction: Session, import_record: Imports) -> None:
    """Delete all names that this import created and that nothing references."""
    for kind in NAME_KINDS:
        delete_unused(transaction, kind, import_record.id, find_unused(transaction, kind, import_record.id))


def find_window(reading: Session, kind: NameKind, import_id: int, after: int, names: int) -> tuple[int, int]:
    """Return the highest id of the next `names` names that the import created, by id after `after`, and their number.

    Both are 0 if there are none.
    """
    # Only the index on import_id is read.
    statement = text(f"""
        SELECT COALESCE(MAX(id), 0), COUNT(*) FROM (
          SELECT id FROM {kind.table} WHERE import_id = :import_id AND id > :after ORDER BY id LIMIT :names
        ) AS names
    """)  # noqa: S608 - our tables
    last, found = reading.execute(statement, {"import_id": import_id, "after": after, "names": names}).one()
    return int(last), int(found)


def find_unused(
    reading: Session, kind: NameKind, import_id: int, after: int = 0, last: int = LARGEST_ID
) -> Sequence[int]:
    """Return the sorted ids, after `after` and up to `last`, of this import's names that nothing references."""
    statement = text(
        f"SELECT id FROM {kind.table} WHERE import_id = :import_id AND id > :after AND id <= :last "  # noqa: S608
        f"AND {_is_unused(kind)}"
    )
    return sorted(reading.execute(statement, {"import_id": import_id, "after": after, "last": last}).scalars())


def delete_unused(transaction: Session, kind: NameKind, import_id: int, ids: Sequence[int]) -> None:
    """Delete those of the names that are still this import's and that nothing references.

    Locks them before it checks again: another transaction that links to a name holds a shared lock on it until its
    commit, and an API request may have taken the name over, so that it does not belong to the import any more.
    """
    if not ids:
        return
    # By primary key: a scan of a small table would wait for locks on unrelated names.
    rows = f"FROM {kind.table} FORCE INDEX (PRIMARY) WHERE id IN :ids AND import_id = :import_id"
    lock = text(f"SELECT id {rows} ORDER BY id FOR UPDATE")
    delete = text(f"DELETE {kind.table} {rows} AND {_is_unused(kind)}")
    for each in (lock, delete):
        values = {"ids": ids, "import_id": import_id}
        transaction.execute(each.bindparams(bindparam("ids", expanding=True)), values)


def _is_unused(kind: NameKind) -> str:
    references = [
        f"SELECT 1 FROM {table} WHERE {table}.{kind.key_column} = {kind.table}.id"  # noqa: S608
        for table in kind.referencing_tables
    ]
    return " AND ".join(f"NOT EXISTS ({reference})" for reference in references)
