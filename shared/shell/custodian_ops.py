"""Link custodians of a case to the exhibits they held.

`create_custodian_exhibits` and `insert_or_get_custodian` keep the interface of the published pattern. They neither
raise the version of an exhibit nor write its history: their callers in `shell.exhibits` do, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.orm import Session

from core.errors import ConflictError, InvalidInputError
from core.named_lists import format_ids
from shell.db.bulk_insert import insert_missing
from shell.db.column_limits import column_limits
from shell.tables.custodians_tags import Custodians
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import acquire_lock_with_retry, insert_or_get, retry_on_db_conflict
from shell.utils.key_validation import validate_key
from shell.utils.named_rows import find_or_add_named

_LINK_COLUMNS = ("exhibit_id", "custodian_id", "user_id")


@retry_on_db_conflict
def create_custodian_exhibits(
    session: Session, exhibit_custodian_pairs: Iterable[tuple[int, int]], user_id: str
) -> None:
    """Link exhibits and custodians; existing links stay unchanged.

    Locks the exhibits, then the custodians, each in ascending order of id, so that callers with the same rows in
    another order wait for each other and do not deadlock. Raises InvalidInputError with the ids that do not exist.
    """
    pairs = sorted(set(exhibit_custodian_pairs))
    exhibit_ids = {exhibit for exhibit, _ in pairs}
    custodian_ids = {custodian for _, custodian in pairs}
    exhibits = acquire_lock_with_retry(session, Exhibits, exhibit_ids, is_list_filter=True)
    _check_all_exist("exhibits", exhibit_ids - {row.id for row in exhibits})
    custodians = acquire_lock_with_retry(session, Custodians, custodian_ids, is_list_filter=True)
    _check_all_exist("custodians", custodian_ids - {row.id for row in custodians})
    rows = [(exhibit, custodian, user_id) for exhibit, custodian in pairs]
    insert_missing(session, "custodian_exhibits", _LINK_COLUMNS, rows, key=2)


@retry_on_db_conflict
def insert_or_get_custodian(session: Session, name: str, import_attributes: Mapping[str, Any]) -> Custodians:
    """Return the case's custodian with this name, and insert it if the case has none.

    Names that are equal under the column's collation are one custodian. `import_attributes` holds `case_id`, and
    `import_id` and `line_no` if the name first occurred in an import. Raises InvalidInputError for a name that the
    column cannot store unchanged.
    """
    validate_key(name, column_limits("custodians")["name"])
    key = {"case_id": import_attributes["case_id"], "name": name}
    first_occurrence = {"import_id": import_attributes.get("import_id"), "line_no": import_attributes.get("line_no")}
    custodian, _created = insert_or_get(session, Custodians, key, first_occurrence, unique_key="uq_custodians_name")
    return custodian


def lock_named_custodians(transaction: Session, case_id: int, names: Iterable[str]) -> dict[int, str]:
    """Lock the case's custodians with these names and return their stored names by id; insert those that are missing.

    New ones are inserted in sorted order. Names that are equal under the column's collation are one custodian. Takes at
    most four statements for any number of names. Raises InvalidInputError for a name that the column cannot store
    unchanged, and ConflictError, to be retried, if the end of an import removed a custodian between the read and the
    lock.
    """
    ids = sorted({row.id for row in find_or_add_named(transaction, Custodians, case_id, names).values()})
    locked = acquire_lock_with_retry(transaction, Custodians, ids, is_list_filter=True)
    if len(locked) < len(ids):
        raise ConflictError("A custodian was removed while exhibits were linked to it.")
    return {row.id: row.name for row in locked}


def _check_all_exist(table: str, missing: set[int]) -> None:
    if missing:
        raise InvalidInputError(f"{table} with these ids do not exist: {format_ids(sorted(missing))}.")
