"""Reading custody: a device's periods, one of them, and everything that was ever done to them.

Guaranteed: what belongs to another tenant is not found, exactly as if there were no such thing; a page costs the same
number of statements however long the list; pages follow the order of time, and a device that has no periods has empty
ones.
Not guaranteed: that two pages show the same moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.custody import CustodyAction, CustodyChange, CustodyChangePage, CustodyPeriod, CustodyPeriodPage
from core.custody import given_end
from core.errors import NotFoundError
from core.paging import decode_cursor, not_ours, page_of
from shell.tables.custody import CustodyChanges, CustodyPeriods, Devices
from shell.tables.names import Custodians
from shell.utils.db_helpers import among, forced, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session


@retry_on_db_conflict(resolve=repeating_is_harmless)
def list_periods(
    caller: Caller, device_id: int, begin: datetime | None, end: datetime | None, limit: int, after: str | None
) -> CustodyPeriodPage:
    """A page of the device's periods that end after `begin` and begin before `end`, in their order.

    Raises InvalidInputError for a cursor that is not ours.
    """
    wanted = _described().where(Devices.tenant_id == caller.tenant_id, Devices.number == device_id)
    start = max(filter(None, (begin, _moment_of(after))), default=None)
    if start is not None:
        wanted = wanted.where(CustodyPeriods.end_at > start)
    if end is not None:
        wanted = wanted.where(CustodyPeriods.begin_at < end)
    wanted = forced(wanted, CustodyPeriods, "ix_custody_periods_overlap")
    with session() as reading:
        rows = reading.execute(wanted.order_by(CustodyPeriods.end_at).limit(limit + 1)).all()
    page, following = page_of(rows, limit, lambda row: (row.end_at.isoformat(),))
    return CustodyPeriodPage(items=list(map(_period, page)), next=following)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def list_changes(caller: Caller, device_id: int, limit: int, after: str | None) -> CustodyChangePage:
    """A page of all that was done to the device's periods, in the order in which it was done.

    Changes of one device are made one after the other, so that ids ascend as they are committed.
    Raises InvalidInputError for a cursor that is not ours.
    """
    start = 0 if after is None else decode_cursor(after, (int,))[0]
    mine = (Devices.tenant_id == caller.tenant_id, Devices.number == device_id, CustodyChanges.id > start)
    wanted = select(CustodyChanges).join(Devices, Devices.id == CustodyChanges.device_id).where(*mine)
    with session() as reading:
        rows = reading.scalars(wanted.order_by(CustodyChanges.id).limit(limit + 1)).all()
    page, following = page_of(rows, limit, lambda row: (row.id,))
    return CustodyChangePage(items=[_change(row, device_id) for row in page], next=following)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def get_period(caller: Caller, period_id: int) -> CustodyPeriod:
    """One period; raises NotFoundError."""
    with session() as reading:
        return described(reading, caller, [period_id])[0]


def load_period(reading: Session, caller: Caller, period_id: int) -> tuple[CustodyPeriods, int]:
    """The period as it is committed, to be changed, and its device's number; raises NotFoundError."""
    wanted = select(CustodyPeriods, Devices.number).join(Devices, Devices.id == CustodyPeriods.device_id)
    mine = wanted.where(CustodyPeriods.id == period_id, Devices.tenant_id == caller.tenant_id)
    found = reading.execute(mine.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise _not_found(period_id)
    return found[0], found[1]


def described(reading: Session, caller: Caller, ids: Sequence[int]) -> list[CustodyPeriod]:
    """The periods of these ids as the API gives them, in the order of the ids given; raises NotFoundError."""
    wanted = _described().where(among(CustodyPeriods.id, ids), Devices.tenant_id == caller.tenant_id)
    found = {row.id: _period(row) for row in reading.execute(wanted)}
    missing = [each for each in ids if each not in found]
    if missing:
        raise _not_found(missing[0])
    return [found[each] for each in ids]


def _described() -> Any:
    columns = (
        *(CustodyPeriods.id, Devices.number, CustodyPeriods.begin_at, CustodyPeriods.end_at),
        *(CustodyPeriods.custodian_id, Custodians.name.label("custodian"), CustodyPeriods.note, CustodyPeriods.version),
    )
    periods = select(*columns).join_from(CustodyPeriods, Devices, Devices.id == CustodyPeriods.device_id)
    return periods.outerjoin(Custodians, Custodians.id == CustodyPeriods.custodian_id)


def _period(row: Any) -> CustodyPeriod:
    return CustodyPeriod(
        id=row.id,
        device_id=row.number,
        begin=row.begin_at,
        end=given_end(row.end_at),
        custodian_id=row.custodian_id,
        custodian=row.custodian,
        note=row.note,
        version=row.version,
    )


def _change(row: CustodyChanges, device_id: int) -> CustodyChange:
    return CustodyChange(
        period_id=row.period_id,
        version=row.version,
        action=CustodyAction(row.action),
        user_id=row.user_id,
        changed_at=row.changed_at,
        device_id=device_id,
        begin=row.begin_at,
        end=given_end(row.end_at),
        custodian_id=row.custodian_id,
        note=row.note,
    )


def _moment_of(after: str | None) -> datetime | None:
    if after is None:
        return None
    text = str(decode_cursor(after, (str,))[0])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as exc:
        raise not_ours() from exc
    if moment.isoformat() != text or moment.tzinfo is not None:
        raise not_ours()
    return moment


def _not_found(period_id: int) -> NotFoundError:
    return NotFoundError(f"you have no custody period of the id {period_id}")
