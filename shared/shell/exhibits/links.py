"""Link exhibits to custodians and tags, by statements for any number of them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import ConflictError
from shell.db.bulk_insert import insert_missing
from shell.db.errors import error_number
from shell.tables.name_kinds import NameKind

NO_SUCH_PARENT = 1452


def insert_links(transaction: Session, kind: NameKind, links: Iterable[tuple[int, int]], user_id: str) -> None:
    """Link exhibits to custodians or tags; `links` are pairs of exhibit id and name id.

    Locks no custodian and no tag: a lock on a name that is on every row would serialize the chunks. Raises
    ConflictError if one was deleted meanwhile.
    """
    rows = [(exhibit_id, name_id, user_id) for exhibit_id, name_id in links]
    try:
        insert_missing(transaction, kind.link_table, kind.link_columns, rows, key=2)
    except IntegrityError as error:
        if error_number(error) == NO_SUCH_PARENT:
            raise ConflictError("A custodian or tag was deleted while the chunk was written.") from error
        raise
