"""Custodians of a case, and which exhibits they held.

`create_custodian_exhibits` and `insert_or_get_custodian` are the interface kept for callers of the published pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from core.errors import ConflictError, InvalidInputError
from shell.tables.exhibits import Exhibits
from shell.tables.names import Custodians
from shell.utils.bulk_insert import insert_missing
from shell.utils.column_limits import column_limits
from shell.utils.db_helpers import acquire_lock_with_retry, insert_or_get, retry_on_db_conflict
from shell.utils.keys import refuse_unstorable
from shell.utils.named_rows import find_or_add_named

LINK_COLUMNS = ("exhibit_id", "custodian_id", "user_id")


@retry_on_db_conflict
def create_custodian_exhibits(
    session: Session, exhibit_custodian_pairs: Iterable[tuple[int, int]], user_id: str
) -> None:
    """Link exhibits and custodians; links that exist stay as they are.

    Locks the exhibits, then the custodians, each in the order of their ids, so that callers with the same rows in
    another order wait for each other and do not deadlock. Raises InvalidInputError naming ids that do not exist.
    """
    pairs = sorted(set(exhibit_custodian_pairs))
    exhibits = {exhibit for exhibit, _ in pairs}
    custodians = {custodian for _, custodian in pairs}
    found = acquire_lock_with_retry(session, Exhibits, exhibits, is_list_filter=True)
    _refuse_missing("exhibits", exhibits - {row.id for row in found})
    held = acquire_lock_with_retry(session, Custodians, custodians, is_list_filter=True)
    _refuse_missing("custodians", custodians - {row.id for row in held})
    rows = [(exhibit, custodian, user_id) for exhibit, custodian in pairs]
    insert_missing(session, "custodian_exhibits", LINK_COLUMNS, rows, key=2)


@retry_on_db_conflict
def insert_or_get_custodian(session: Session, name: str, import_attributes: Mapping[str, Any]) -> Custodians:
    """The case's custodian of that name, added if there is none; names that the database collates equal are one.

    `import_attributes` holds `case_id`, and `import_id` and `line_no` where an import saw the name first.
    Raises InvalidInputError for a name that the column cannot hold as it is.
    """
    refuse_unstorable(name, column_limits("custodians")["name"])
    key = {"case_id": import_attributes["case_id"], "name": name}
    first_sight = {"import_id": import_attributes.get("import_id"), "line_no": import_attributes.get("line_no")}
    custodian, _created = insert_or_get(session, Custodians, key, first_sight, unique_key="uq_custodians_name")
    return custodian


def lock_named_custodians(transaction: Session, case_id: int, names: Iterable[str]) -> list[int]:
    """The ids of the case's custodians of these names, locked; those that the case lacks are added, in sorted order.

    Names that the database collates equal are one. At most four statements for any number of names. Raises
    InvalidInputError for a name that the column cannot hold as it is, and ConflictError (to be replayed) where the
    end of an import removed a custodian that was found a moment ago.
    """
    ids = sorted({row.id for row in find_or_add_named(transaction, Custodians, case_id, names).values()})
    if len(acquire_lock_with_retry(transaction, Custodians, ids, is_list_filter=True)) < len(ids):
        raise ConflictError("a custodian was removed while exhibits were linked to it")
    return ids


def link_custodians(transaction: Session, links: Iterable[tuple[int, int]], user_id: str) -> None:
    """Link imported exhibits; locks no custodian, for a name on every row must not serialise the chunks."""
    rows = [(exhibit, custodian, user_id) for exhibit, custodian in links]
    insert_missing(transaction, "custodian_exhibits", LINK_COLUMNS, rows, key=2)


def _refuse_missing(table: str, missing: set[int]) -> None:
    if missing:
        raise InvalidInputError(f"no such {table}: {', '.join(map(str, sorted(missing)[:20]))}")
