"""Tags of a case, and which exhibits carry them.

`create_taggings` and `create_np_taggings` are the interface kept for callers of the published pattern.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.errors import ConflictError
from shell.tables.links import Taggings
from shell.tables.names import Tags
from shell.utils.bulk_insert import insert_ignore_checked, insert_missing
from shell.utils.column_limits import column_limits
from shell.utils.db_helpers import changed_rows, forced, insert_or_get, retry_on_db_conflict
from shell.utils.keys import refuse_unstorable
from shell.utils.named_rows import find_named, find_or_add_named

LINK_COLUMNS = ("exhibit_id", "tag_id", "user_id")
# Every pair by its primary key. As two IN lists, 1,000 exhibits and 50 tags are more ranges than MySQL's optimizer has
# memory for: it would read, and a DELETE lock, the whole table.
_PAIRS = """
    FROM JSON_TABLE(:exhibits, '$[*]' COLUMNS (id BIGINT PATH '$')) AS exhibit
    STRAIGHT_JOIN JSON_TABLE(:tags, '$[*]' COLUMNS (id BIGINT PATH '$')) AS tag
    STRAIGHT_JOIN taggings AS pair FORCE INDEX (PRIMARY) ON pair.exhibit_id = exhibit.id AND pair.tag_id = tag.id
"""
_COUNT_PAIRS = text(f"SELECT COUNT(*) {_PAIRS}")
_DELETE_PAIRS = text(f"DELETE pair {_PAIRS}")


@retry_on_db_conflict
def create_taggings(session: Session, exhibit_id: int, tag_id: int, user_id: str) -> bool:
    """Tag one exhibit; returns False if it carries the tag already.

    Raises the database's error if there is no such exhibit or tag: a SAVEPOINT keeps the caller's transaction whole.
    """
    key = {"exhibit_id": exhibit_id, "tag_id": tag_id}
    _tagging, created = insert_or_get(session, Taggings, key, {"user_id": user_id}, unique_key="PRIMARY")
    return created


@retry_on_db_conflict
def create_np_taggings(
    session: Session, tags: Sequence[str], exhibit_ids: Iterable[int], import_attributes: Mapping[str, Any]
) -> None:
    r"""Give every exhibit every tag; tags that the case lacks are added, taggings that exist stay as they are.

    A nested tag is named by its path, `Hot\Really Hot`. `import_attributes` holds `case_id` and `user_id`.
    Three statements for new tags and two for the taggings, whatever their number. Raises InvalidInputError for a
    name that the column cannot hold as it is, or ids that do not exist.
    """
    case_id, user_id = import_attributes["case_id"], import_attributes["user_id"]
    found = find_or_add_named(session, Tags, case_id, tags)
    pairs = {(exhibit, row.id) for exhibit in set(exhibit_ids) for row in found.values()}
    rows = [(exhibit, tag, user_id) for exhibit, tag in pairs]
    insert_ignore_checked(session, "taggings", LINK_COLUMNS, rows, key=2)


def keep_named_tags(transaction: Session, case_id: int, names: Sequence[str]) -> list[int]:
    """The ids of the tags that the names mean, none of which can be removed until the transaction ends.

    Names that no tag has are left out. Two statements. Raises InvalidInputError for a name that the column cannot
    hold as it is, and ConflictError (to be replayed) where the end of an import removed a tag a moment ago.
    """
    for name in names:
        refuse_unstorable(name, column_limits("tags")["name"])
    ids = sorted({row.id for row in find_named(transaction, case_id, {Tags: names})[Tags].values()})
    # Shared, as the foreign key's own locks are: those who tag other exhibits do not wait.
    kept = select(Tags.id).where(Tags.id.in_(ids)).order_by(Tags.id).with_for_update(read=True)
    # A scan of a small table would wait for tags that others add and nobody asked for.
    kept = forced(kept, Tags, "PRIMARY")
    if ids and len(transaction.scalars(kept).all()) < len(ids):
        raise ConflictError("a tag was removed while exhibits were tagged with it")
    return ids


def count_taggings(transaction: Session, exhibit_ids: Sequence[int], tag_ids: Sequence[int]) -> int:
    """How many of the pairs there are; one statement."""
    return int(transaction.execute(_COUNT_PAIRS, _lists(exhibit_ids, tag_ids)).scalar_one())


def delete_taggings(transaction: Session, exhibit_ids: Sequence[int], tag_ids: Sequence[int]) -> int:
    """Remove those of the pairs that are there; returns how many. One statement, which locks no other pair."""
    return changed_rows(transaction.execute(_DELETE_PAIRS, _lists(exhibit_ids, tag_ids)))


def _lists(exhibit_ids: Sequence[int], tag_ids: Sequence[int]) -> dict[str, str]:
    return {"exhibits": json.dumps(exhibit_ids), "tags": json.dumps(tag_ids)}


def link_tags(transaction: Session, links: Iterable[tuple[int, int]], user_id: str) -> None:
    """Tag imported exhibits; locks no tag, for a tag on every row must not serialise the chunks."""
    rows = [(exhibit, tag, user_id) for exhibit, tag in links]
    insert_missing(transaction, "taggings", LINK_COLUMNS, rows, key=2)
