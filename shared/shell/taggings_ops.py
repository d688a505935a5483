"""Tags of a case, and which exhibits carry them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from shell.tables import Taggings, Tags
from shell.utils.bulk_insert import insert_ignore_checked, insert_missing
from shell.utils.column_limits import column_limits
from shell.utils.db_helpers import insert_or_get, retry_on_db_conflict
from shell.utils.keys import refuse_unstorable
from shell.utils.named_rows import find_named

LINK_COLUMNS = ("exhibit_id", "tag_id", "user_id")


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
    wanted = sorted(set(tags))
    for name in wanted:
        refuse_unstorable(name, column_limits("tags")["name"])
    found = find_named(session, case_id, {Tags: wanted})[Tags]
    missing = [(case_id, name) for name in wanted if name not in found]
    if missing:
        insert_missing(session, Tags, ("case_id", "name"), missing, key=2)
        found = find_named(session, case_id, {Tags: wanted})[Tags]
    pairs = {(exhibit, row.id) for exhibit in set(exhibit_ids) for row in found.values()}
    rows = [(exhibit, tag, user_id) for exhibit, tag in pairs]
    insert_ignore_checked(session, Taggings, LINK_COLUMNS, rows, key=2)


def link_tags(session: Session, links: Iterable[tuple[int, int]], user_id: str) -> None:
    """Tag imported exhibits; locks no tag, for a tag on every row must not serialise the chunks."""
    rows = [(exhibit, tag, user_id) for exhibit, tag in links]
    insert_missing(session, Taggings, LINK_COLUMNS, rows, key=2)
