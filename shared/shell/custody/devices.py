"""List a tenant's devices with their holders, and label them.

Guaranteed: data of another tenant is not found; a page takes four statements, whatever the number of periods; pages
follow the tenant's own numbers. A label belongs to no period: it neither raises the version of a device nor waits for
one that another request has read, so of two requests the last one decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, String, and_, bindparam, cast, func, or_, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.custody import Device, DeviceLabel, DevicePage
from core.errors import NotFoundError
from core.pagination import decode_cursor, paginate
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.custody.device_locks import find_or_add_devices
from shell.db.session import session
from shell.exhibits.cases import require_whole_tenant
from shell.tables.custody import Devices
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

_COUNT_PERIODS = text(
    "SELECT device_id, COUNT(*) AS periods FROM custody_periods WHERE device_id IN :ids GROUP BY device_id"
).bindparams(bindparam("ids", expanding=True))
# Of a device's periods, which do not overlap, one at most.
_HOLDERS = text(
    "SELECT p.device_id, p.begin_at, p.custodian_id, c.name FROM custody_periods AS p "
    "FORCE INDEX (ix_custody_periods_overlap) LEFT JOIN custodians AS c ON c.id = p.custodian_id "
    "WHERE p.device_id IN :ids AND p.end_at > NOW(6) AND p.begin_at <= NOW(6)"
).bindparams(bindparam("ids", expanding=True))
_LAST_CHANGES = text(
    "SELECT last.device_id, change_.changed_at FROM "
    "(SELECT device_id, MAX(id) AS id FROM custody_changes WHERE device_id IN :ids GROUP BY device_id) AS last "
    "STRAIGHT_JOIN custody_changes AS change_ ON change_.id = last.id"
).bindparams(bindparam("ids", expanding=True))
_LABEL = text(
    "UPDATE devices SET label = :label WHERE id = :id AND NOT (CAST(label AS BINARY) <=> CAST(:label AS BINARY))"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_devices(caller: Caller, search: str | None, limit: int, after: str | None) -> DevicePage:
    """Return a page of the tenant's devices that match every word of `search`, in the order of their numbers.

    Raises ForbiddenError for a caller who is limited to cases, and InvalidInputError for a cursor that this API did not
    issue.
    """
    require_whole_tenant(caller)
    statement = select(Devices).where(Devices.tenant_id == caller.tenant_id)
    if after is not None:
        statement = statement.where(Devices.number > decode_cursor(after, (int,))[0])
    if search is not None:
        statement = statement.where(and_(*map(_match, search.split())))
    with session() as reading:
        rows = reading.scalars(statement.order_by(Devices.number).limit(limit + 1)).all()
        page, following = paginate(rows, limit, lambda row: (row.number,))
        return DevicePage(items=_describe(reading, page), next=following)


def label_device(transaction: Session, caller: Caller, number: int, body: DeviceLabel) -> Device:
    """Label a device, or remove its label, and return it; add a device that is not known.

    The activity does not contain the label. Setting the label that the device has changes nothing.
    Raises ForbiddenError for a caller who is limited to cases.
    """
    require_whole_tenant(caller)
    device_id = find_or_add_devices(transaction, caller.tenant_id, [number])[number]
    if count_changed_rows(transaction.execute(_LABEL, {"id": device_id, "label": body.label})):
        record_act(transaction, caller, Act(ActKind.DEVICE_LABELLED, number, None))
    else:
        record_no_act(transaction)
    row = transaction.get(Devices, device_id, populate_existing=True)
    if row is None:
        raise NotFoundError(f"You have no device {number}.")
    return _describe(transaction, [row])[0]


def _match(word: str) -> ColumnElement[bool]:
    """Return the condition that the word is part of the label, or the beginning of the number."""
    label = func.coalesce(Devices.label, "")
    by_label = label.contains(word, autoescape=True)
    return or_(by_label, cast(Devices.number, String(20)).startswith(word)) if word.isdecimal() else by_label


def _describe(reading: Session, devices: Sequence[Devices]) -> list[Device]:
    ids = [each.id for each in devices]
    periods, holders, changes = (_by_device(reading, each, ids) for each in (_COUNT_PERIODS, _HOLDERS, _LAST_CHANGES))
    return [
        Device(
            device_id=each.number,
            label=each.label,
            is_held=each.id in holders,
            since=holders[each.id].begin_at if each.id in holders else None,
            holder_id=holders[each.id].custodian_id if each.id in holders else None,
            holder=holders[each.id].name if each.id in holders else None,
            periods=periods[each.id].periods if each.id in periods else 0,
            last_change_at=changes[each.id].changed_at if each.id in changes else None,
        )
        for each in devices
    ]


def _by_device(reading: Session, statement: Any, ids: Sequence[int]) -> Mapping[int, Any]:
    return {row.device_id: row for row in reading.execute(statement, {"ids": ids})} if ids else {}
