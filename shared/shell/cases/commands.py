"""Rename, close, reopen and hold cases, and request their purge.

Guaranteed: each change is decided and recorded under the exclusive lock on the case's row, so `case_changes` is a
history that is possible one after the other; no work of a request commits between the decision and its commit
(`shell.case_state.fence`). A case has never both a hold and a requested purge: what comes second is refused, or
withdraws the first. From the commit of a hold on, nothing of the case is removed.
"""

from __future__ import annotations

from collections.abc import Container

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts import cases as schemas
from core.errors import ForbiddenError, InvalidInputError, NameTakenError, StaleVersionError, WrongStateError
from core.statuses import CaseChange, CaseStatus
from shell.activity_log import record_no_act
from shell.case_state.changes import record_change
from shell.case_state.fence import FORMER_NAME, Entry, find_refusal
from shell.case_state.names import add_former, find_former, remove_former
from shell.cases.obstacles import find_removal, find_work
from shell.db.column_limits import column_limits
from shell.exhibits.case_list import describe_cases
from shell.exhibits.cases import find_case_id, load_case
from shell.tables.cases import Cases
from shell.utils.idempotency import keep_case
from shell.utils.key_validation import validate_key

_NAME_TAKEN = "You have a case with this name already; choose another name."


def patch_case(
    transaction: Session, caller: Caller, case_id: int, versions: Container[int], change: schemas.CaseChange
) -> schemas.CaseSummary:
    """Change what the request names, if the case is at one of `versions`; return the changed case.

    What is so already stays unchanged, and is not recorded. A hold withdraws a requested purge. Raises NotFoundError,
    StaleVersionError with the current version, NameTakenError, InvalidInputError for a name that the column cannot
    store, ForbiddenError for a name that the caller is not limited to, and WrongStateError if the case is being purged,
    if it is to be reopened although its purge is requested, and if it is to be held while something of it is removed.
    """
    case = _lock_case(transaction, caller, case_id)
    if case.version not in versions:
        raise StaleVersionError(case.version)
    record_no_act(transaction)
    if "hold" in change.model_fields_set:
        _hold(transaction, caller, case, change.hold)
    if change.status is not None:
        _set_status(transaction, caller, case, CaseStatus(change.status))
    if change.name is not None:
        _rename(transaction, caller, case, change.name)
    return _describe(transaction, case)


def request_purge(
    transaction: Session, caller: Caller, case_id: int, request: schemas.PurgeRequest
) -> schemas.CaseSummary:
    """Close the case, and have it purged from a day on; requested again, only the day changes.

    Raises NotFoundError, InvalidInputError unless the name is confirmed, and WrongStateError, with what is in the way,
    if the case is held, or work of it has not ended.
    """
    case = _lock_case(transaction, caller, case_id)
    if request.confirm != case.name:
        raise InvalidInputError("confirm: this is not the name of the case; send the name as GET /cases lists it.")
    if case.held_at is not None:
        raise WrongStateError("The case is under a legal hold; lift it first.")
    work = find_work(transaction, case.tenant_id, case_id)
    if work is not None:
        raise WrongStateError(f"{work} has not ended; wait until it has, or cancel it. Then request the purge.")
    record_no_act(transaction)
    _set_status(transaction, caller, case, CaseStatus.CLOSED)
    today = transaction.execute(select(func.utc_date())).scalar_one()
    after = request.after or case.purge_after or today
    if case.purge_after != after:
        case.purge_after, case.purge_requested_by = after, caller.user_id
        case.purge_requested_at = func.now(6)
        details = {"after": after.isoformat()}
        record_change(transaction, case, CaseChange.PURGE_REQUESTED, caller.user_id, details)
    return _describe(transaction, case)


def withdraw_purge(transaction: Session, caller: Caller, case_id: int) -> schemas.CaseSummary:
    """Withdraw the requested purge of a case, which stays closed; without a request nothing changes.

    Raises NotFoundError, and WrongStateError once the purge has begun.
    """
    case = _lock_case(transaction, caller, case_id)
    record_no_act(transaction)
    _withdraw(transaction, caller, case)
    return _describe(transaction, case)


def _lock_case(transaction: Session, caller: Caller, case_id: int) -> Cases:
    """Lock the case and return it. Raises NotFoundError, and WrongStateError once its purge has begun."""
    load_case(transaction, caller, case_id)
    keep_case(transaction, case_id)
    locking = select(Cases).where(Cases.id == case_id).with_for_update().execution_options(populate_existing=True)
    case = transaction.scalars(locking).one()
    refusal = find_refusal(CaseStatus(case.status), Entry.READ, is_held=False)
    if refusal is not None:
        raise refusal
    return case


def _set_status(transaction: Session, caller: Caller, case: Cases, status: CaseStatus) -> None:
    if case.status == status:
        return
    if case.purge_requested_at is not None:
        raise WrongStateError("The purge of the case is requested; withdraw it first, then reopen the case.")
    case.status = status.value
    kind = CaseChange.CLOSED if status is CaseStatus.CLOSED else CaseChange.REOPENED
    record_change(transaction, case, kind, caller.user_id)


def _hold(transaction: Session, caller: Caller, case: Cases, hold: schemas.NewHold | None) -> None:
    if hold is None:
        if case.held_at is not None:
            case.hold_reason = case.held_by = case.held_at = None
            record_change(transaction, case, CaseChange.LIFTED, caller.user_id)
        return
    if case.held_at is not None and case.hold_reason == hold.reason:
        return
    removal = find_removal(transaction, case.tenant_id, case.id)
    if removal is not None:
        raise WrongStateError(f"{removal} has not ended; place the hold when it has.")
    _withdraw(transaction, caller, case)
    case.hold_reason, case.held_by, case.held_at = hold.reason, caller.user_id, func.now(6)
    record_change(transaction, case, CaseChange.HELD, caller.user_id, note=hold.reason)


def _withdraw(transaction: Session, caller: Caller, case: Cases) -> None:
    if case.purge_requested_at is not None:
        case.purge_after = case.purge_requested_by = case.purge_requested_at = None
        record_change(transaction, case, CaseChange.PURGE_WITHDRAWN, caller.user_id)


def _rename(transaction: Session, caller: Caller, case: Cases, name: str) -> None:
    """Give the case another name, and keep the former one for late uploads."""
    if name == case.name:
        return
    if caller.cases is not None and name not in caller.cases:
        raise ForbiddenError("Your token is limited to cases, and this name is none of theirs; use another token.")
    validate_key(name, column_limits("cases")["name"])
    if find_case_id(transaction, caller.tenant_id, name) is not None:
        raise NameTakenError(_NAME_TAKEN)
    remove_former(transaction, case.id, name)
    former_id = add_former(transaction, case.id, case.name)
    case.name = name
    transaction.flush()
    # After the update: the renaming that frees the name has committed then, with its alias.
    former = find_former(transaction, caller.tenant_id, name)
    if former is not None and not former.is_purged:
        raise NameTakenError(FORMER_NAME)
    record_change(transaction, case, CaseChange.RENAMED, caller.user_id, {"aliasId": former_id})


def _describe(transaction: Session, case: Cases) -> schemas.CaseSummary:
    transaction.flush()
    transaction.refresh(case)
    return describe_cases(transaction, [case])[0]
