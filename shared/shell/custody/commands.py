"""Record, correct, remove and transfer the custody of devices.

Guaranteed: the periods of a device never overlap, whatever runs concurrently; a request records all of its periods or
none; a change applies only to the version that the client saw; every change leaves a record of the result.
Locks are taken in one order: custodians, devices, periods. In optimistic mode, the devices' versions are compared last.
The transaction is the caller's: after a StaleDataError or deadlock, `retry_on_db_conflict` has to retry it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from core.caller import Caller
from core.contracts.custody import (
    CustodyAction,
    CustodyPeriod,
    CustodyTransfer,
    NewPeriod,
    NewTransfer,
    PeriodPatch,
    RecordedCustodyPeriods,
)
from core.custody import Span, to_stored_end
from core.errors import ConflictError, InvalidInputError, StaleVersionError, WrongStateError
from core.timestamps import format_timestamp
from shell.activity_log import Act, ActKind, record_act
from shell.case_state.fence import Entry
from shell.custody.device_locks import exclusive_devices, find_devices, find_or_add_devices
from shell.custody.period_writer import (
    NewPeriodRow,
    check_overlaps,
    enter_cases,
    insert_periods,
    lock_custodians,
    record_changes,
)
from shell.custody.queries import describe_periods, load_period
from shell.tables.custody import CustodyPeriods


def add_periods(transaction: Session, caller: Caller, periods: Sequence[NewPeriod]) -> RecordedCustodyPeriods:
    """Record periods of any number of devices, all or none; add devices that are not known.

    The number of statements does not depend on the number of periods. Raises OverlapError with every conflict, and
    InvalidInputError for custodians that the tenant does not have.
    """
    enter_cases(transaction, caller, [each.custodian_id for each in periods])
    devices = find_or_add_devices(transaction, caller.tenant_id, sorted({each.device_id for each in periods}))
    lock_custodians(transaction, caller, [each.custodian_id for each in periods])
    rows = [_build_row(index, each, devices[each.device_id]) for index, each in enumerate(periods)]
    with exclusive_devices(transaction, caller.tenant_id, devices):
        ids = insert_periods(transaction, caller, rows)
    counts = Counter(each.device_id for each in periods)
    record_act(
        transaction, caller, *(Act(ActKind.PERIODS_ADDED, each, None, {"periods": n}) for each, n in counts.items())
    )
    return RecordedCustodyPeriods(items=describe_periods(transaction, caller, ids))


def patch_period(
    transaction: Session, caller: Caller, period_id: int, versions: Container[int], change: PeriodPatch
) -> CustodyPeriod:
    """Change the fields that the request names, if the period is at one of `versions`; return the changed period.

    Raises NotFoundError, StaleVersionError with the current version, OverlapError, and InvalidInputError for an end
    that is not after the begin or a custodian that the tenant does not have.
    """
    enter_cases(transaction, caller, [change.custodian_id], period_id)
    lock_custodians(transaction, caller, [change.custodian_id])
    _, device_number = load_period(transaction, caller, period_id)
    with exclusive_devices(transaction, caller.tenant_id, [device_number]):
        period = _load_at_version(transaction, caller, period_id, versions)
        span = _build_changed_span(period, device_number, change)
        check_overlaps(transaction, [NewPeriodRow(span, period.device_id, None, None)], excluded_id=period_id)
        period.begin_at, period.end_at = span.begin, span.end
        for field in change.model_fields_set & {"custodian_id", "note"}:
            setattr(period, field, getattr(change, field))
        _write_and_record(transaction, caller, period)
    summary = {"periodId": period_id, "version": period.version}
    record_act(transaction, caller, Act(ActKind.PERIOD_CHANGED, device_number, None, summary))
    return describe_periods(transaction, caller, [period_id])[0]


def remove_period(transaction: Session, caller: Caller, period_id: int, versions: Container[int]) -> CustodyPeriod:
    """Remove a period that was recorded by mistake, and return it as it was. The record of its changes stays.

    Raises NotFoundError, and StaleVersionError with the current version.
    """
    enter_cases(transaction, caller, [], period_id, Entry.REMOVE)
    _, device_number = load_period(transaction, caller, period_id)
    with exclusive_devices(transaction, caller.tenant_id, [device_number]):
        period = _load_at_version(transaction, caller, period_id, versions)
        removed = describe_periods(transaction, caller, [period_id])[0]
        _write_and_record(transaction, caller, period, CustodyAction.REMOVED)
        transaction.delete(period)
    record_act(transaction, caller, Act(ActKind.PERIOD_REMOVED, device_number, None, {"periodId": period_id}))
    return removed


def transfer(transaction: Session, caller: Caller, body: NewTransfer) -> CustodyTransfer:
    """End the period in which the device is held at a timestamp, and begin the receiver's period there, or do neither.

    Raises WrongStateError if no period contains the timestamp, if the period begins at it, or if it is not the one
    that the request names; OverlapError if the receiver's period overlaps a later one; InvalidInputError for a
    custodian that the tenant does not have.
    """
    device_id = find_devices(transaction, caller.tenant_id, [body.device_id]).get(body.device_id)
    if device_id is None:
        raise _not_held(body)
    period_id = _find_period_to_end(transaction, device_id, body).id
    enter_cases(transaction, caller, [body.custodian_id], period_id)
    lock_custodians(transaction, caller, [body.custodian_id])
    with exclusive_devices(transaction, caller.tenant_id, [body.device_id]):
        ending = _find_period_to_end(transaction, device_id, body)
        if ending.id != period_id:
            raise ConflictError
        ending.end_at = body.at
        _write_and_record(transaction, caller, ending)
        span = Span(0, body.device_id, body.at, to_stored_end(body.end))
        row = NewPeriodRow(span, device_id, body.custodian_id, body.note)
        begun_ids = insert_periods(transaction, caller, [row], ended_id=ending.id)
    ended, begun = describe_periods(transaction, caller, [ending.id, *begun_ids])
    summary = {"endedPeriodId": ended.id, "begunPeriodId": begun.id}
    record_act(transaction, caller, Act(ActKind.DEVICE_TRANSFERRED, body.device_id, None, summary))
    return CustodyTransfer(ended=ended, begun=begun)


def _build_row(index: int, period: NewPeriod, device_id: int) -> NewPeriodRow:
    span = Span(index, period.device_id, period.begin, to_stored_end(period.end))
    return NewPeriodRow(span, device_id, period.custodian_id, period.note)


def _build_changed_span(period: CustodyPeriods, device_number: int, change: PeriodPatch) -> Span:
    begin = change.begin or period.begin_at
    end = to_stored_end(change.end) if "end" in change.model_fields_set else period.end_at
    if begin >= end:
        raise InvalidInputError("end must be after begin: a period includes its begin and excludes its end.")
    return Span(0, device_number, begin, end)


def _load_at_version(transaction: Session, caller: Caller, period_id: int, versions: Container[int]) -> CustodyPeriods:
    """Read the period again, now that no other transaction changes the device's periods."""
    period, _ = load_period(transaction, caller, period_id)
    if period.version not in versions:
        raise StaleVersionError(period.version)
    return period


def _find_period_to_end(transaction: Session, device_id: int, body: NewTransfer) -> CustodyPeriods:
    period = CustodyPeriods
    contains = (period.device_id == device_id, period.end_at > body.at, period.begin_at <= body.at)
    statement = select(period).where(*contains).execution_options(populate_existing=True)
    found = transaction.scalars(statement).one_or_none()
    if found is None:
        raise _not_held(body)
    if found.begin_at == body.at:
        raise WrongStateError(f"Period {found.id} begins at this timestamp; correct it with PATCH instead.")
    if body.from_period_id not in (None, found.id):
        raise WrongStateError(f"The device is held by period {found.id} then, not by the fromPeriodId of the request.")
    return found


def _not_held(body: NewTransfer) -> WrongStateError:
    at = format_timestamp(body.at)
    return WrongStateError(f"Device {body.device_id} has no holder at {at}; record a period instead.")


def _write_and_record(
    transaction: Session,
    caller: Caller,
    period: CustodyPeriods,
    action: CustodyAction = CustodyAction.CHANGED,
) -> None:
    # Without a net change there would be no UPDATE, and the version would not be compared.
    flag_modified(period, "note")
    transaction.flush()
    record_changes(transaction, caller, action, [period.id])
