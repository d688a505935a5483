"""Write and read the history of exhibits.

Guaranteed: a writer that holds the locks of its exhibits writes their new versions and one row for each of them in its
own transaction, so that both or neither exist; a version is written once, by the primary key.
Not guaranteed: that a writer calls this module. `exhibits.version` is 1 and the number of rows; a difference means that
one did not. The history of an exhibit that an undo removed stays: entries do not mean that the exhibit exists.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.exhibit_history import (
    RECORDED_COLUMNS,
    Action,
    Change,
    Changes,
    Entry,
    Key,
    Kind,
    Stated,
    decode_changes,
    decode_stated,
    describe_fields,
    encode_changes,
    encode_stated,
)
from shell.db.bulk_insert import insert_new
from shell.tables.exhibits import Exhibits
from shell.tables.history import ExhibitChanges
from shell.utils.db_helpers import is_in

_COLUMNS = (
    *("exhibit_id", "version", "action", "user_id", "import_id", "line_no", "undo_no", "changes", "stated"),
    "tagging_job_id",
)
# Finds every exhibit by its primary key, whatever the number of ids: a scan would wait for locks on other exhibits.
_RAISE_VERSIONS = text("""
    UPDATE JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS changed
    STRAIGHT_JOIN exhibits AS exhibit FORCE INDEX (PRIMARY) ON exhibit.id = changed.id
    SET exhibit.version = exhibit.version + 1
""")


class Author(NamedTuple):
    """Who makes a change, and by what.

    `import_id` is that of an overlay, with `undo_no` that of an import being undone; `job_id` is a tagging job.
    """

    action: Action
    user_id: str
    import_id: int | None = None
    undo_no: int | None = None
    job_id: int | None = None


class NewEntry(NamedTuple):
    """A row to write: the exhibit's version after the change; for an overlay the file's line and what it states."""

    exhibit_id: int
    version: int
    changes: Changes
    line_no: int | None = None
    stated: Stated | None = None


class EncodedEntry(NamedTuple):
    """A row to write like a NewEntry, with its changes and what it states as they are stored."""

    exhibit_id: int
    version: int
    line_no: int | None
    changes: bytes
    stated: bytes | None


def read_fields(exhibit: Exhibits) -> dict[str, str | None]:
    """Return the fields of the exhibit as the history stores them."""
    return describe_fields({name: getattr(exhibit, name) for name in RECORDED_COLUMNS})


def assert_links(kind: Kind, names: Mapping[int, str], existing: Container[int]) -> Changes:
    """Return the changes of a request that the links exist; `existing` are the ids of those that existed before."""
    return {Key(kind, name): Change(each in existing, True) for each, name in names.items()}


def record_changes(
    transaction: Session, author: Author, versions: Mapping[int, int], changes: Mapping[int, Changes]
) -> None:
    """Increment the version of each exhibit that has changes, and write its row: two statements, up to a megabyte.

    The transaction has locked the exhibits; `versions` are those that it read with the lock.
    """
    ordered = sorted(changes)
    raise_versions(transaction, ordered)
    write_entries(transaction, author, [NewEntry(each, versions[each] + 1, changes[each]) for each in ordered])


def raise_versions(transaction: Session, exhibit_ids: Sequence[int]) -> None:
    """Increment the versions of exhibits that the transaction has locked, in one statement."""
    if exhibit_ids:
        transaction.execute(_RAISE_VERSIONS, {"ids": json.dumps(exhibit_ids)})


def write_entries(transaction: Session, author: Author, entries: Sequence[NewEntry]) -> None:
    """Insert one row for each entry, in one statement for each megabyte.

    The transaction has locked the exhibits and has written, or will write, the versions. Raises SQLAlchemy's
    IntegrityError if an exhibit has a row of that version.
    """
    encoded = (
        EncodedEntry(
            *(each.exhibit_id, each.version, each.line_no, encode_changes(each.changes)),
            None if each.stated is None else encode_stated(each.stated),
        )
        for each in entries
    )
    write_encoded(transaction, author, encoded)


def write_encoded(transaction: Session, author: Author, entries: Iterable[EncodedEntry]) -> None:
    """Do what `write_entries` does with entries that are encoded already."""
    action, user_id, import_id, undo_no, job_id = author
    rows = [
        (exhibit_id, version, action.value, user_id, import_id, line_no, undo_no, changes, stated, job_id)
        for exhibit_id, version, line_no, changes, stated in entries
    ]
    insert_new(transaction, ExhibitChanges.__tablename__, _COLUMNS, rows)


def iterate_histories(reading: Session, exhibit_ids: Sequence[int]) -> Iterator[tuple[int, list[Entry]]]:
    """Yield each exhibit with its history in the order of versions, empty for an exhibit without changes.

    The rows of all are held as they are stored; they are decompressed for one exhibit after the other. Whether other
    transactions add to them meanwhile depends on the caller's locks.
    """
    if not exhibit_ids:
        return
    statement = select(ExhibitChanges).where(is_in(ExhibitChanges.exhibit_id, exhibit_ids))
    rows = reading.scalars(statement.order_by(ExhibitChanges.exhibit_id, ExhibitChanges.version))
    without = set(exhibit_ids)
    for exhibit_id, group in groupby(rows, lambda row: row.exhibit_id):
        without.discard(exhibit_id)
        yield exhibit_id, list(map(build_entry, group))
    yield from ((exhibit_id, []) for exhibit_id in sorted(without))


def build_entry(row: ExhibitChanges) -> Entry:
    """Return the row as an entry. Raises ValueError if its changes are damaged."""
    return Entry(
        version=row.version,
        action=Action(row.action),
        user_id=row.user_id,
        changes=decode_changes(row.changes),
        import_id=row.import_id,
        line_no=row.line_no,
        undo_no=row.undo_no,
        created_at=row.created_at_gmt,
        stated=None if row.stated is None else decode_stated(row.stated),
    )
