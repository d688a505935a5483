"""Change exhibits: their fields, their custodians and their tags.

Guaranteed: a change of fields applies only to the version that the client saw; a value is stored exactly as sent, or
refused; a change of many exhibits applies to all of them or none. Every change of an exhibit increments its version and
writes a row of its history, in the same transaction. Exhibits are locked first, in the order of their ids, so that
callers who name the same ones in another order wait for each other and do not deadlock.
The transaction is the caller's: after a StaleDataError or deadlock, `retry_on_db_conflict` has to retry it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from datetime import date, datetime, time
from typing import NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from core.caller import Caller
from core.contracts.exhibits import Exhibit, ExhibitChange, ExhibitCustodians
from core.contracts.taggings import TaggingRequest, TaggingsMade, TaggingsRemoved
from core.errors import InvalidInputError, StaleVersionError
from core.exhibit_dates import DATE_FIELDS, Precision, change_precisions
from core.exhibit_history import Action, Change, Key, Kind, compare_fields, precision_field
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.case_state.fence import enter_case
from shell.custodian_ops import create_custodian_exhibits, lock_named_custodians
from shell.db.column_limits import column_limits
from shell.exhibits.cases import build_wall
from shell.exhibits.filters import exhibits_not_found
from shell.exhibits.history import Author, NewEntry, assert_links, read_fields, record_changes, write_entries
from shell.exhibits.property_changes import change_properties
from shell.exhibits.queries import describe_exhibit, list_exhibit_custodians, load_exhibit
from shell.exhibits.updates import delete_links
from shell.families.store import write_explicit
from shell.tables.cases import Cases
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.tables.name_kinds import CUSTODIANS
from shell.taggings_ops import create_np_taggings, delete_taggings, find_taggings, lock_named_tags
from shell.utils.db_helpers import acquire_lock_with_retry, force_index, is_in
from shell.utils.key_validation import key_error, validate_key
from shell.utils.named_rows import find_named, find_or_add_named


class LockedExhibits(NamedTuple):
    """Exhibits of one case that the transaction has locked, with the versions that it read then."""

    case_id: int
    versions: dict[int, int]


def patch_exhibit(
    transaction: Session, caller: Caller, exhibit_id: int, versions: Container[int], change: ExhibitChange
) -> Exhibit:
    """Change what the request names, if the exhibit is at one of `versions`; return the changed exhibit.

    The UPDATE compares and increments the version even if no value differs, and the next import treats the exhibit as
    changed. The row of its history names every field and property of the request. Raises NotFoundError,
    StaleVersionError with the current version, InvalidInputError for what its column cannot store unchanged, and
    SQLAlchemy's StaleDataError if another transaction changed the exhibit meanwhile.
    """
    enter_case(transaction, load_exhibit(transaction, caller, exhibit_id)[0].case_id)
    exhibit, case = load_exhibit(transaction, caller, exhibit_id)
    if exhibit.version not in versions:
        raise StaleVersionError(exhibit.version)
    _validate_texts(change)
    before = read_fields(exhibit)
    for field in _list_fields(change):
        setattr(exhibit, field, _to_column(getattr(change, field)))
    _set_precisions(exhibit, change)
    properties = change_properties(transaction, exhibit, change.properties) if change.properties else {}
    exhibit.row_hash = None
    # Without a net change there would be no UPDATE, and the version would not be compared.
    flag_modified(exhibit, "row_hash")
    transaction.flush()
    changes = {**compare_fields(before, read_fields(exhibit), _list_set_fields(change)), **properties}
    author = Author(Action.EDITED, caller.user_id)
    write_entries(transaction, author, [NewEntry(exhibit.id, exhibit.version, changes)])
    if "parent_control_number" in change.model_fields_set:
        write_explicit(transaction, exhibit.case_id, exhibit.id)
    summary = {"version": exhibit.version, "fields": len(change.model_fields_set)}
    record_act(transaction, caller, Act(ActKind.EXHIBIT_CHANGED, exhibit.id, exhibit.case_id, summary))
    return describe_exhibit(transaction, exhibit, case)


def _list_fields(change: ExhibitChange) -> set[str]:
    """Return the fields of the request that are columns."""
    return change.model_fields_set - {"properties"}


def _list_set_fields(change: ExhibitChange) -> Iterator[str]:
    """Yield the fields of the request, and those that are set with them."""
    yield from _list_fields(change)
    yield from (precision_field(name) for name in DATE_FIELDS if name in change.model_fields_set)
    if "document_date" in change.model_fields_set:
        yield "document_date_source"
    yield "row_hash"


def _set_precisions(exhibit: Exhibits, change: ExhibitChange) -> None:
    """Record whether the dates of the request are days or times without a zone, and that they come from no column."""
    names = [name for name in DATE_FIELDS if name in change.model_fields_set]
    precisions = {name: _find_precision(getattr(change, name)) for name in names}
    exhibit.date_precision = change_precisions(exhibit.date_precision, precisions)
    if "document_date" in names:
        exhibit.document_date_source = None


def _to_column(value: str | datetime | date | None) -> str | datetime | None:
    """Return a value of a request as its column holds it: a day as its midnight."""
    return value if isinstance(value, str | datetime | None) else datetime.combine(value, time())


def _find_precision(value: datetime | date | None) -> Precision:
    if value is None:
        return Precision.NONE
    return Precision.TIME if isinstance(value, datetime) else Precision.DAY


def add_custodians(transaction: Session, caller: Caller, exhibit_id: int, names: Sequence[str]) -> ExhibitCustodians:
    """Link custodians to the exhibit, by name; return all custodians of the exhibit.

    Names that are equal under the column's collation are one custodian. The history names all of them, also those that
    were linked already. The number of statements does not depend on the number of names. Raises NotFoundError, and
    InvalidInputError for a name that the column cannot store unchanged.
    """
    locked = _lock_exhibits(transaction, caller, [exhibit_id])
    custodians = lock_named_custodians(transaction, locked.case_id, names)
    existing = {each.id for each in list_exhibit_custodians(transaction, exhibit_id)}
    create_custodian_exhibits(transaction, [(exhibit_id, each) for each in custodians], caller.user_id)
    changes = {exhibit_id: assert_links(Kind.CUSTODIAN, custodians, existing)}
    record_changes(transaction, Author(Action.CUSTODIANS_ADDED, caller.user_id), locked.versions, changes)
    summary = {"custodians": len(custodians)}
    record_act(transaction, caller, Act(ActKind.EXHIBIT_CUSTODIANS_ADDED, exhibit_id, locked.case_id, summary))
    return ExhibitCustodians(exhibit_id=exhibit_id, custodians=list_exhibit_custodians(transaction, exhibit_id))


def remove_custodians(transaction: Session, caller: Caller, exhibit_id: int, names: Sequence[str]) -> ExhibitCustodians:
    """Unlink custodians from the exhibit, by name; return those that it still has.

    Names that it does not have are ignored; if it has none of them, it keeps its version and gets no row of history.
    Raises NotFoundError, and InvalidInputError for a name that the column cannot store unchanged.
    """
    locked = _lock_exhibits(transaction, caller, [exhibit_id])
    for name in names:
        validate_key(name, column_limits("custodians")["name"])
    named = {row.id for row in find_named(transaction, locked.case_id, {Custodians: names})[Custodians].values()}
    linked = sorted(named & {each.id for each in list_exhibit_custodians(transaction, exhibit_id)})
    removed = acquire_lock_with_retry(transaction, Custodians, linked, is_list_filter=True)
    delete_links(transaction, CUSTODIANS, [(exhibit_id, each) for each in linked])
    # The history of an earlier version has no action of its own for this, and its column no room for one.
    changes = {exhibit_id: {Key(Kind.CUSTODIAN, each.name): Change(True, False) for each in removed}} if removed else {}
    record_changes(transaction, Author(Action.EDITED, caller.user_id), locked.versions, changes)
    if removed:
        summary = {"custodians": len(removed)}
        record_act(transaction, caller, Act(ActKind.EXHIBIT_CUSTODIANS_REMOVED, exhibit_id, locked.case_id, summary))
    else:
        record_no_act(transaction)
    return ExhibitCustodians(exhibit_id=exhibit_id, custodians=list_exhibit_custodians(transaction, exhibit_id))


def add_taggings(transaction: Session, caller: Caller, request: TaggingRequest) -> TaggingsMade:
    """Add every tag to every exhibit; insert missing tags, and leave existing taggings unchanged.

    The history of every exhibit names all tags, also those that it had. `created` is exact, because the exhibits are
    locked. The number of statements is the same for up to 10,000 pairs, and grows by four for every 10,000 more, and by
    one for each megabyte of history. Raises NotFoundError with up to 20 exhibits that the tenant does not have, and
    InvalidInputError for exhibits of several cases or a tag that the column cannot store unchanged.
    """
    exhibit_ids = sorted(set(request.exhibit_ids))
    case_id, versions = _lock_exhibits(transaction, caller, exhibit_ids)
    # Add all tags before they are locked: a tag that another transaction adds and removes meanwhile could be found and
    # then be missing.
    find_or_add_named(transaction, Tags, case_id, request.tags)
    existing = find_taggings(transaction, exhibit_ids, lock_named_tags(transaction, case_id, request.tags))
    create_np_taggings(transaction, request.tags, exhibit_ids, {"case_id": case_id, "user_id": caller.user_id})
    tags = lock_named_tags(transaction, case_id, request.tags)
    changes = {each: assert_links(Kind.TAG, tags, existing.get(each, ())) for each in exhibit_ids}
    record_changes(transaction, Author(Action.TAGGED, caller.user_id), versions, changes)
    created = len(exhibit_ids) * len(tags) - sum(map(len, existing.values()))
    summary = {"exhibits": len(exhibit_ids), "tags": len(tags), "created": created}
    record_act(transaction, caller, Act(ActKind.EXHIBITS_TAGGED, case_id, case_id, summary))
    return TaggingsMade(exhibits=len(exhibit_ids), tags=len(tags), created=created)


def remove_taggings(transaction: Session, caller: Caller, request: TaggingRequest) -> TaggingsRemoved:
    """Remove every tag from every exhibit; ignore tags that the case does not have. Raises as `add_taggings` does.

    An exhibit that has none of the tags keeps its version and gets no row of history.
    """
    exhibit_ids = sorted(set(request.exhibit_ids))
    case_id, versions = _lock_exhibits(transaction, caller, exhibit_ids)
    tags = lock_named_tags(transaction, case_id, request.tags)
    existing = find_taggings(transaction, exhibit_ids, tags)
    removed = delete_taggings(transaction, exhibit_ids, tags)
    changes = {
        exhibit: {Key(Kind.TAG, tags[each]): Change(True, False) for each in tag_ids}
        for exhibit, tag_ids in existing.items()
    }
    record_changes(transaction, Author(Action.UNTAGGED, caller.user_id), versions, changes)
    if removed:
        summary = {"exhibits": len(existing), "tags": len(tags), "removed": removed}
        record_act(transaction, caller, Act(ActKind.EXHIBITS_UNTAGGED, case_id, case_id, summary))
    else:
        record_no_act(transaction)
    return TaggingsRemoved(removed=removed)


def _lock_exhibits(transaction: Session, caller: Caller, ids: Sequence[int]) -> LockedExhibits:
    """Lock the exhibits, whose ids are sorted, and return their case and versions.

    An exhibit never moves to another case, so the first read decides which rows may be locked: none of another tenant.
    """
    own = select(Exhibits.id, Exhibits.case_id).join(Cases, Cases.id == Exhibits.case_id)
    own = own.where(is_in(Exhibits.id, ids), Cases.tenant_id == caller.tenant_id, *build_wall(caller))
    cases = {row.id: row.case_id for row in transaction.execute(own)}
    if len(set(cases.values())) == 1:
        enter_case(transaction, next(iter(cases.values())))
    versions: dict[int, int] = {}
    if len(cases) == len(ids):
        versions = {row.id: row.version for row in transaction.execute(_select_for_update(ids))}
        cases = {exhibit: case for exhibit, case in cases.items() if exhibit in versions}
    missing = [exhibit for exhibit in ids if exhibit not in cases]
    if missing:
        raise exhibits_not_found(missing)
    if len(set(cases.values())) > 1:
        raise InvalidInputError("exhibitIds: the exhibits are of several cases; send a request for each case.")
    return LockedExhibits(cases[ids[0]], versions)


def _select_for_update(ids: Sequence[int]) -> Select[int, int, int]:
    """Return a SELECT that locks in the order of the primary key, and reads few columns: a row may hold 64 KB of text.

    By itself MySQL would scan the whole primary key for a list of half of a table, and wait for exhibits that others
    lock.
    """
    statement = select(Exhibits.id, Exhibits.case_id, Exhibits.version).where(is_in(Exhibits.id, ids))
    return force_index(statement.order_by(Exhibits.id).with_for_update(), Exhibits, "PRIMARY")


def _validate_texts(change: ExhibitChange) -> None:
    limits = column_limits("exhibits")
    for field in sorted(change.model_fields_set & limits.keys()):
        value = getattr(change, field)
        reason = key_error(value, limits[field]) if value is not None else None
        if reason:
            raise InvalidInputError(f"{type(change).model_fields[field].alias}: {reason[1]}")
