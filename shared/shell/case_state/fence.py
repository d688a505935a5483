"""The fence of a case: each request that writes to it reads its status and its hold under a lock.

Guaranteed: what a request writes commits before the case is closed, held or purged, or not at all, because the row of
the case is locked before any other row, in shared mode: requests do not wait for each other, only for a change of the
case. A lock is never upgraded: what needs the case alone (`shell.exhibits.case_locks`) takes it so at the beginning.
Chunks, parts of undos, units and steps never lock the case. They keep to the generation of their import, volume or
production: work that had begun before the case was closed goes on to its end.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import FinalConflictError, NameTakenError, WrongStateError
from core.statuses import CaseStatus
from shell.utils.idempotency import keep_case

_READ = "SELECT name, status, held_at IS NOT NULL AS is_held FROM cases WHERE id = :case_id"
_SHARED = text(f"{_READ} LOCK IN SHARE MODE")
_ALONE = text(f"{_READ} FOR UPDATE")
FORMER_NAME = "This is a former name of a case; use its present one, as GET /cases lists it."
_REFUSALS = {
    CaseStatus.CLOSED: "The case is closed and takes no changes and no new work; reopen it first.",
    CaseStatus.PURGING: "The case is being purged, which cannot be stopped; nothing of it can be changed.",
    CaseStatus.PURGED: "The case is purged; only its record and its certificate are left.",
}


class Entry(StrEnum):
    """What a request does to a case.

    CHANGE writes to it or starts work, which a closed case refuses. REMOVE also deletes something, which a hold
    refuses. READ reads it, or ends work: a closed case allows both.
    """

    CHANGE = "change"
    REMOVE = "remove"
    READ = "read"


def enter_case(transaction: Session, case_id: int, entry: Entry = Entry.CHANGE, *, alone: bool = False) -> None:
    """Lock the case's row until the transaction ends, shared or `alone`, and note the case for the key's response.

    To be called before any other row is locked, for a case that the caller may see. Raises WrongStateError, with what
    to do, if the case does not allow the entry.
    """
    _enter(transaction, case_id, entry, alone=alone)


def enter_named_case(transaction: Session, case_id: int, name: str) -> None:
    """Enter a case for a change that was found by its name. Raises NameTakenError if it was renamed meanwhile."""
    if _enter(transaction, case_id, Entry.CHANGE, alone=False) != name:
        raise NameTakenError(FORMER_NAME)


def _enter(transaction: Session, case_id: int, entry: Entry, *, alone: bool) -> str | None:
    keep_case(transaction, case_id)
    found = transaction.execute(_ALONE if alone else _SHARED, {"case_id": case_id}).one_or_none()
    if found is None:
        return None
    refusal = find_refusal(CaseStatus(found.status), entry, is_held=bool(found.is_held))
    if refusal is not None:
        raise refusal
    return str(found.name)


def find_refusal(status: CaseStatus, entry: Entry, *, is_held: bool) -> FinalConflictError | None:
    """Return why a case refuses an entry, None if it allows it."""
    if status is not CaseStatus.OPEN and not (status is CaseStatus.CLOSED and entry is Entry.READ):
        return WrongStateError(_REFUSALS[status])
    if is_held and entry is Entry.REMOVE:
        return WrongStateError("The case is under a legal hold: nothing of it can be removed until the hold is lifted.")
    return None
