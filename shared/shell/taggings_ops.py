"""Link tags of a case to its exhibits.

`create_taggings` and `create_np_taggings` keep the interface of the published pattern. They neither raise the version
of an exhibit nor write its history: their callers in `shell.exhibits` do, in the same transaction.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.errors import ConflictError
from shell.db.bulk_insert import insert_ignore_checked
from shell.db.column_limits import column_limits
from shell.tables.custodians_tags import Tags
from shell.tables.links import Taggings
from shell.utils.db_helpers import count_changed_rows, force_index, insert_or_get, retry_on_db_conflict
from shell.utils.key_validation import validate_key
from shell.utils.named_rows import find_named, find_or_add_named

_LINK_COLUMNS = ("exhibit_id", "tag_id", "user_id")
# Finds every pair by its primary key. Two IN lists of 1,000 exhibits and 50 tags are more ranges than the memory of
# MySQL's range optimizer allows: it would read the whole table, and a DELETE would lock it.
_PAIRS = """
    FROM JSON_TABLE(:exhibits, '$[*]' COLUMNS (id BIGINT PATH '$')) AS exhibit
    STRAIGHT_JOIN JSON_TABLE(:tags, '$[*]' COLUMNS (id BIGINT PATH '$')) AS tag
    STRAIGHT_JOIN taggings AS pair FORCE INDEX (PRIMARY) ON pair.exhibit_id = exhibit.id AND pair.tag_id = tag.id
"""
_FIND_PAIRS = text(f"SELECT pair.exhibit_id, pair.tag_id {_PAIRS}")
_DELETE_PAIRS = text(f"DELETE pair {_PAIRS}")


@retry_on_db_conflict
def create_taggings(session: Session, exhibit_id: int, tag_id: int, user_id: str) -> bool:
    """Tag one exhibit and return True; return False if it already has the tag.

    Raises the database's error if the exhibit or the tag does not exist. A SAVEPOINT keeps the caller's transaction
    usable.
    """
    key = {"exhibit_id": exhibit_id, "tag_id": tag_id}
    _tagging, created = insert_or_get(session, Taggings, key, {"user_id": user_id}, unique_key="PRIMARY")
    return created


@retry_on_db_conflict
def create_np_taggings(
    session: Session, tags: Sequence[str], exhibit_ids: Iterable[int], import_attributes: Mapping[str, Any]
) -> None:
    r"""Add every tag to every exhibit; insert missing tags, and leave existing taggings unchanged.

    The name of a nested tag is its full path, `Hot\Really Hot`. `import_attributes` holds `case_id` and `user_id`.
    Takes three statements for new tags and two for the taggings, for any number of them. Raises InvalidInputError for
    a name that the column cannot store unchanged, and for ids that do not exist.
    """
    case_id, user_id = import_attributes["case_id"], import_attributes["user_id"]
    found = find_or_add_named(session, Tags, case_id, tags)
    pairs = {(exhibit, row.id) for exhibit in set(exhibit_ids) for row in found.values()}
    rows = [(exhibit, tag, user_id) for exhibit, tag in pairs]
    insert_ignore_checked(session, "taggings", _LINK_COLUMNS, rows, key=2)


def lock_named_tags(transaction: Session, case_id: int, names: Sequence[str]) -> dict[int, str]:
    """Lock the case's tags with these names in shared mode and return their stored names by id; omit names without one.

    None of them can be deleted until the transaction ends. Takes two statements. Raises InvalidInputError for a name
    that the column cannot store unchanged, and ConflictError, to be retried, if the end of an import removed a tag
    between the read and the lock.
    """
    for name in names:
        validate_key(name, column_limits("tags")["name"])
    tags = {row.id: row.name for row in find_named(transaction, case_id, {Tags: names})[Tags].values()}
    # Shared, like the locks of the foreign key: transactions that tag other exhibits do not wait.
    # A scan, which the optimizer prefers for a small table, would wait for unrelated tags of open transactions. MySQL
    # would scan the primary key too, if the id were the only column.
    locking = select(Tags.id, Tags.case_id).where(Tags.id.in_(tags)).order_by(Tags.id).with_for_update(read=True)
    locking = force_index(locking, Tags, "PRIMARY")
    if tags and len(transaction.scalars(locking).all()) < len(tags):
        raise ConflictError("A tag was removed while exhibits were tagged with it.")
    return tags


def find_taggings(transaction: Session, exhibit_ids: Sequence[int], tag_ids: Collection[int]) -> dict[int, list[int]]:
    """Return the pairs that exist, as the ids of the tags by exhibit, in one statement; omit exhibits without one."""
    found: dict[int, list[int]] = {}
    for exhibit_id, tag_id in transaction.execute(_FIND_PAIRS, _pair_parameters(exhibit_ids, tag_ids)):
        found.setdefault(exhibit_id, []).append(tag_id)
    return found


def delete_taggings(transaction: Session, exhibit_ids: Sequence[int], tag_ids: Collection[int]) -> int:
    """Delete the pairs that exist and return how many, in one statement, which locks no other pair."""
    return count_changed_rows(transaction.execute(_DELETE_PAIRS, _pair_parameters(exhibit_ids, tag_ids)))


def _pair_parameters(exhibit_ids: Sequence[int], tag_ids: Collection[int]) -> dict[str, str]:
    return {"exhibits": json.dumps(exhibit_ids), "tags": json.dumps(sorted(tag_ids))}
