"""Changing exhibits: their fields, who held them, and their tags.

Guaranteed: a change of fields is made to the version that the client saw, or not at all; a value is stored exactly as
it came, or refused; what many exhibits are to get, all of them get or none; exhibits are locked first and in the order
of their ids, so that callers who name the same ones in another order wait for each other and do not deadlock.
The transaction is the caller's. A StaleDataError or deadlock in it means that `retry_on_db_conflict` has to replay it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Select, select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from core.caller import Caller
from core.contracts.exhibits import (
    Exhibit,
    ExhibitChange,
    ExhibitCustodians,
    TaggingRequest,
    TaggingsMade,
    TaggingsRemoved,
)
from core.errors import InvalidInputError, StaleVersionError
from shell.custodian_ops import create_custodian_exhibits, lock_named_custodians
from shell.exhibit_query_ops import custodians_of, described, load_exhibit
from shell.matching_ops import not_found
from shell.tables.cases import Cases
from shell.tables.exhibits import Exhibits
from shell.tables.names import Tags
from shell.taggings_ops import count_taggings, create_np_taggings, delete_taggings, keep_named_tags
from shell.utils.column_limits import column_limits
from shell.utils.db_helpers import among, forced
from shell.utils.keys import refuse_unstorable, unstorable
from shell.utils.named_rows import find_or_add_named


def patch_exhibit(
    transaction: Session, caller: Caller, exhibit_id: int, versions: frozenset[int], change: ExhibitChange
) -> Exhibit:
    """Change the fields that the request names, if the exhibit is at one of `versions`; returns it as it is then.

    The UPDATE compares the version and raises it, also where no value differs; an import will not take the exhibit
    for unchanged. Raises NotFoundError, StaleVersionError with the version to be read again, InvalidInputError for a
    text that its column cannot hold as it is, and SQLAlchemy's StaleDataError where another change came in between.
    """
    exhibit, case = load_exhibit(transaction, caller, exhibit_id)
    if exhibit.version not in versions:
        raise StaleVersionError(exhibit.version)
    _refuse_unstorable_texts(change)
    for field in change.model_fields_set:
        setattr(exhibit, field, getattr(change, field))
    exhibit.row_hash = None
    # Without a net change there would be no UPDATE, and nothing would compare the version.
    flag_modified(exhibit, "row_hash")
    transaction.flush()
    return described(transaction, exhibit, case)


def add_custodians(transaction: Session, caller: Caller, exhibit_id: int, names: Sequence[str]) -> ExhibitCustodians:
    """Add to those who held the exhibit; returns all of them.

    Names that the database collates equal are one. The number of statements does not depend on that of names. Raises
    NotFoundError, and InvalidInputError for a name that the column cannot hold as it is.
    """
    _refuse_unstorable_user(caller, "custodian_exhibits")
    case_id = _lock_exhibits(transaction, caller, [exhibit_id])
    custodians = lock_named_custodians(transaction, case_id, names)
    create_custodian_exhibits(transaction, [(exhibit_id, each) for each in custodians], caller.user_id)
    return ExhibitCustodians(exhibit_id=exhibit_id, custodians=custodians_of(transaction, exhibit_id))


def add_taggings(transaction: Session, caller: Caller, request: TaggingRequest) -> TaggingsMade:
    """Give every exhibit every tag; tags that the case lacks are added, taggings that exist stay as they are.

    `created` is exact: nobody else tags these exhibits while they are locked. The number of statements is the same for
    up to 10,000 pairs, and grows by four for every 10,000 more. Raises NotFoundError naming up to 20 exhibits that
    the tenant does not have, InvalidInputError for exhibits of several cases or a tag that cannot be stored.
    """
    _refuse_unstorable_user(caller, "taggings")
    exhibits = sorted(set(request.exhibit_ids))
    case_id = _lock_exhibits(transaction, caller, exhibits)
    # First, so that all of them are kept: one that somebody else adds and removes meanwhile would be found and be gone.
    find_or_add_named(transaction, Tags, case_id, request.tags)
    before = count_taggings(transaction, exhibits, keep_named_tags(transaction, case_id, request.tags))
    create_np_taggings(transaction, request.tags, exhibits, {"case_id": case_id, "user_id": caller.user_id})
    tags = keep_named_tags(transaction, case_id, request.tags)
    return TaggingsMade(exhibits=len(exhibits), tags=len(tags), created=len(exhibits) * len(tags) - before)


def remove_taggings(transaction: Session, caller: Caller, request: TaggingRequest) -> TaggingsRemoved:
    """Take every tag from every exhibit; a tag that the case lacks is on none. Errors as of `add_taggings`."""
    exhibits = sorted(set(request.exhibit_ids))
    case_id = _lock_exhibits(transaction, caller, exhibits)
    tags = keep_named_tags(transaction, case_id, request.tags)
    return TaggingsRemoved(removed=delete_taggings(transaction, exhibits, tags))


def _lock_exhibits(transaction: Session, caller: Caller, ids: Sequence[int]) -> int:
    """Lock the exhibits, which are sorted, and return their case.

    An exhibit never moves to another case, so that what may be locked is known before: another tenant's rows are not.
    """
    mine = select(Exhibits.id, Exhibits.case_id).join(Cases, Cases.id == Exhibits.case_id)
    mine = mine.where(among(Exhibits.id, ids), Cases.tenant_id == caller.tenant_id)
    cases = {row.id: row.case_id for row in transaction.execute(mine)}
    if len(cases) == len(ids):
        locked = set(transaction.scalars(_locking(ids)))
        cases = {exhibit: case for exhibit, case in cases.items() if exhibit in locked}
    missing = [exhibit for exhibit in ids if exhibit not in cases]
    if missing:
        raise not_found(missing)
    if len(set(cases.values())) > 1:
        raise InvalidInputError("exhibitIds: the exhibits are of several cases; send a request for each case")
    return int(cases[ids[0]])


def _locking(ids: Sequence[int]) -> Select[int]:
    """Off the primary key, which is the order of the locks; nothing but ids, for an exhibit may have 64 KB of text."""
    wanted = select(Exhibits.id).where(among(Exhibits.id, ids)).order_by(Exhibits.id).with_for_update()
    return forced(wanted, Exhibits, "PRIMARY")


def _refuse_unstorable_texts(change: ExhibitChange) -> None:
    limits = column_limits("exhibits")
    for field in sorted(change.model_fields_set & limits.keys()):
        value = getattr(change, field)
        reason = unstorable(value, limits[field]) if value is not None else None
        if reason:
            raise InvalidInputError(f"{type(change).model_fields[field].alias}: {reason[1]}")


def _refuse_unstorable_user(caller: Caller, table: str) -> None:
    refuse_unstorable(caller.user_id, column_limits(table)["user_id"])
