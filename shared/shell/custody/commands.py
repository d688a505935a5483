"""Chain of custody: recording, correcting and removing who held a device, and handing it on.

Guaranteed: for a device no two periods overlap, whoever writes at once; a request's periods are all recorded or none;
a change is made to the version that the client saw, or not at all; every change leaves a record of what it left.
Custodians are locked first, then devices, then periods, each in one order; where versions are compared instead, devices
come last. The transaction is the caller's: a StaleDataError or deadlock in it means that `retry_on_db_conflict` has to
replay it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import flag_modified

from core.caller import Caller
from core.contracts.custody import (
    CustodyAction,
    CustodyPeriod,
    CustodyPeriods,
    CustodyTransfer,
    NewPeriod,
    NewTransfer,
    Revision,
)
from core.custody import Span, kept_end
from core.errors import InvalidInputError, StaleVersionError, WrongStateError
from core.moments import written
from shell.custody_query_ops import described, load_period
from shell.custody_writing_ops import WantedPeriod, insert_periods, keep_custodians, record_changes, refuse_overlaps
from shell.device_ops import find_devices, find_or_add_devices, serialised
from shell.tables.custody import CustodyPeriods as Periods


def add_periods(transaction: Session, caller: Caller, periods: Sequence[NewPeriod]) -> CustodyPeriods:
    """Record periods, of any number of devices, all or none; devices that are not known are added.

    The number of statements does not depend on that of periods. Raises OverlapError with every conflict, and
    InvalidInputError for custodians that the tenant does not have.
    """
    devices = find_or_add_devices(transaction, caller.tenant_id, sorted({each.device_id for each in periods}))
    keep_custodians(transaction, caller, [each.custodian_id for each in periods])
    wanted = [_wanted(place, each, devices[each.device_id]) for place, each in enumerate(periods)]
    with serialised(transaction, caller.tenant_id, devices):
        ids = insert_periods(transaction, caller, wanted)
    return CustodyPeriods(items=described(transaction, caller, ids))


def change_period(
    transaction: Session, caller: Caller, period_id: int, versions: frozenset[int], change: Revision
) -> CustodyPeriod:
    """Change what the request names, if the period is at one of `versions`; returns it as it is then.

    Raises NotFoundError, StaleVersionError with the version to be read again, OverlapError, and InvalidInputError for
    a period that would not end after its begin or a custodian that the tenant does not have.
    """
    keep_custodians(transaction, caller, [change.custodian_id])
    _, number = load_period(transaction, caller, period_id)
    with serialised(transaction, caller.tenant_id, [number]):
        period = _at_version(transaction, caller, period_id, versions)
        span = _revised(period, number, change)
        refuse_overlaps(transaction, [WantedPeriod(span, period.device_id, None, None)], but=period_id)
        period.begin_at, period.end_at = span.begin, span.end
        for field in change.model_fields_set & {"custodian_id", "note"}:
            setattr(period, field, getattr(change, field))
        _write(transaction, caller, period)
    return described(transaction, caller, [period_id])[0]


def remove_period(transaction: Session, caller: Caller, period_id: int, versions: frozenset[int]) -> CustodyPeriod:
    """Remove a period that should never have been recorded; returns it as it was. The record of it stays.

    Raises NotFoundError, and StaleVersionError with the version to be read again.
    """
    _, number = load_period(transaction, caller, period_id)
    with serialised(transaction, caller.tenant_id, [number]):
        period = _at_version(transaction, caller, period_id, versions)
        removed = described(transaction, caller, [period_id])[0]
        _write(transaction, caller, period, CustodyAction.REMOVED)
        transaction.delete(period)
    return removed


def transfer(transaction: Session, caller: Caller, body: NewTransfer) -> CustodyTransfer:
    """End the period in which the device is held at that moment, and begin the receiver's, in one.

    Raises WrongStateError if nobody holds the device then, if it has been held since that very moment, or by another
    period than the request names; OverlapError if the receiver's period overlaps a later one; InvalidInputError for a
    custodian that the tenant does not have.
    """
    keep_custodians(transaction, caller, [body.custodian_id])
    device = find_devices(transaction, caller.tenant_id, [body.device_id]).get(body.device_id)
    if device is None:
        raise _held_by_nobody(body)
    with serialised(transaction, caller.tenant_id, [body.device_id]):
        ending = _ending(transaction, device, body)
        ending.end_at = body.at
        _write(transaction, caller, ending)
        span = Span(0, body.device_id, body.at, kept_end(body.end))
        wanted = WantedPeriod(span, device, body.custodian_id, body.note)
        begun = insert_periods(transaction, caller, [wanted], ending=ending.id)
    ended, begins = described(transaction, caller, [ending.id, *begun])
    return CustodyTransfer(ended=ended, begun=begins)


def _wanted(place: int, period: NewPeriod, device: int) -> WantedPeriod:
    span = Span(place, period.device_id, period.begin, kept_end(period.end))
    return WantedPeriod(span, device, period.custodian_id, period.note)


def _revised(period: Periods, number: int, change: Revision) -> Span:
    begin = change.begin or period.begin_at
    end = kept_end(change.end) if "end" in change.model_fields_set else period.end_at
    if begin >= end:
        raise InvalidInputError("end must be after begin: a period holds its begin and not its end")
    return Span(0, number, begin, end)


def _at_version(transaction: Session, caller: Caller, period_id: int, versions: frozenset[int]) -> Periods:
    """Read again, now that nobody else changes the device's periods."""
    period, _ = load_period(transaction, caller, period_id)
    if period.version not in versions:
        raise StaleVersionError(period.version)
    return period


def _ending(transaction: Session, device: int, body: NewTransfer) -> Periods:
    period = Periods
    around = (period.device_id == device, period.end_at > body.at, period.begin_at <= body.at)
    wanted = select(period).where(*around).execution_options(populate_existing=True)
    found = transaction.scalars(wanted).one_or_none()
    if found is None:
        raise _held_by_nobody(body)
    if found.begin_at == body.at:
        raise WrongStateError(f"period {found.id} begins at that very moment; correct it with PATCH")
    if body.from_period_id not in (None, found.id):
        raise WrongStateError(f"at that moment it is period {found.id}, and not the fromPeriodId that you sent")
    return found


def _held_by_nobody(body: NewTransfer) -> WrongStateError:
    return WrongStateError(f"nobody holds device {body.device_id} at {written(body.at)}; record a period instead")


def _write(
    transaction: Session,
    caller: Caller,
    period: Periods,
    action: CustodyAction = CustodyAction.CHANGED,
) -> None:
    # Without a net change there would be no UPDATE, and nothing would compare the version.
    flag_modified(period, "note")
    transaction.flush()
    record_changes(transaction, caller, action, [period.id])
