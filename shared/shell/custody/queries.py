"""Read the custody periods of devices and the history of their changes.

Guaranteed: data of another tenant is not found, exactly as if it did not exist; the number of statements for a page
does not depend on the length of the list; pages are in chronological order; a device without periods has empty pages.
Not guaranteed: that two pages show the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.custody import CustodyAction, CustodyChange, CustodyChangePage, CustodyPeriod, CustodyPeriodPage
from core.contracts.queries import DeviceQuery, PeriodQuery
from core.custody import to_open_end
from core.errors import NotFoundError
from core.pagination import Window, build_cursor_error, build_page, open_window
from shell.db.keyset import select_window
from shell.db.session import session
from shell.tables.custodians_tags import Custodians
from shell.tables.custody import CustodyChanges, CustodyPeriods, Devices
from shell.utils.db_helpers import force_index, is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_periods(caller: Caller, query: PeriodQuery) -> CustodyPeriodPage:
    """Return a page of the device's periods that end after `begin` and begin before `end`, in chronological order.

    Raises InvalidInputError for a cursor that this API did not issue.
    """
    window = _open_window(query)
    statement = _select_periods().where(Devices.tenant_id == caller.tenant_id, Devices.number == query.device_id)
    if query.begin is not None:
        statement = statement.where(CustodyPeriods.end_at > query.begin)
    if query.end is not None:
        statement = statement.where(CustodyPeriods.begin_at < query.end)
    statement = force_index(statement, CustodyPeriods, "ix_custody_periods_overlap")
    with session() as reading:
        rows = reading.execute(select_window(statement, window, CustodyPeriods.end_at)).all()
    page = build_page(rows, window, lambda row: (row.end_at.isoformat(),))
    return CustodyPeriodPage(items=list(map(_describe_row, page.items)), next=page.next, prev=page.prev)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_changes(caller: Caller, query: DeviceQuery) -> CustodyChangePage:
    """Return a page of all changes of the device's periods, oldest first.

    The changes of one device are serialized, so that their ids ascend in the order of their commits. Raises
    InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int,))
    own = (Devices.tenant_id == caller.tenant_id, Devices.number == query.device_id)
    statement = select(CustodyChanges, Custodians.name).join(Devices, Devices.id == CustodyChanges.device_id)
    statement = statement.outerjoin(Custodians, Custodians.id == CustodyChanges.custodian_id).where(*own)
    with session() as reading:
        rows = reading.execute(select_window(statement, window, CustodyChanges.id)).all()
        page = build_page(rows, window, lambda row: (row[0].id,))
        names = read_user_names(reading, caller.tenant_id, [row[0].user_id for row in page.items])
    items = [_describe_change(row, query.device_id, names.get(row.user_id), name) for row, name in page.items]
    return CustodyChangePage(items=items, next=page.next, prev=page.prev)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_period(caller: Caller, period_id: int) -> CustodyPeriod:
    """Return one period. Raises NotFoundError."""
    with session() as reading:
        return describe_periods(reading, caller, [period_id])[0]


def load_period(reading: Session, caller: Caller, period_id: int) -> tuple[CustodyPeriods, int]:
    """Return the row of a period as committed, and its device's number. Raises NotFoundError."""
    statement = select(CustodyPeriods, Devices.number).join(Devices, Devices.id == CustodyPeriods.device_id)
    own = statement.where(CustodyPeriods.id == period_id, Devices.tenant_id == caller.tenant_id)
    found = reading.execute(own.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise _not_found(period_id)
    return found[0], found[1]


def describe_periods(reading: Session, caller: Caller, ids: Sequence[int]) -> list[CustodyPeriod]:
    """Return the periods as the API represents them, in the order of `ids`. Raises NotFoundError."""
    statement = _select_periods().where(is_in(CustodyPeriods.id, ids), Devices.tenant_id == caller.tenant_id)
    found = {row.id: _describe_row(row) for row in reading.execute(statement)}
    missing = [each for each in ids if each not in found]
    if missing:
        raise _not_found(missing[0])
    return [found[each] for each in ids]


def _select_periods() -> Any:
    columns = (
        *(CustodyPeriods.id, Devices.number, CustodyPeriods.begin_at, CustodyPeriods.end_at),
        *(CustodyPeriods.custodian_id, Custodians.name.label("custodian"), CustodyPeriods.note, CustodyPeriods.version),
    )
    periods = select(*columns).join_from(CustodyPeriods, Devices, Devices.id == CustodyPeriods.device_id)
    return periods.outerjoin(Custodians, Custodians.id == CustodyPeriods.custodian_id)


def _describe_row(row: Any) -> CustodyPeriod:
    return CustodyPeriod(
        id=row.id,
        device_id=row.number,
        begin=row.begin_at,
        end=to_open_end(row.end_at),
        custodian_id=row.custodian_id,
        custodian=row.custodian,
        note=row.note,
        version=row.version,
    )


def _describe_change(
    row: CustodyChanges, device_id: int, user_name: str | None, custodian: str | None
) -> CustodyChange:
    return CustodyChange(
        period_id=row.period_id,
        version=row.version,
        action=CustodyAction(row.action),
        user_id=row.user_id,
        user_name=user_name,
        changed_at=row.changed_at,
        device_id=device_id,
        begin=row.begin_at,
        end=to_open_end(row.end_at),
        custodian_id=row.custodian_id,
        custodian=custodian,
        note=row.note,
    )


def _open_window(query: PeriodQuery) -> Window:
    """Return the window, whose key is the end of a period. Raises InvalidInputError for any other cursor."""
    window = open_window(query, (str,))
    if window.start is None:
        return window
    [text] = window.start
    try:
        end = datetime.fromisoformat(text)
    except ValueError as exc:
        raise build_cursor_error() from exc
    if end.isoformat() != text or end.tzinfo is not None:
        raise build_cursor_error()
    return replace(window, start=(end,))


def _not_found(period_id: int) -> NotFoundError:
    return NotFoundError(f"You have no custody period with id {period_id}.")
