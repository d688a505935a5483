"""Evidence devices: the rows on which everybody meets who writes the custody periods of one.

Guaranteed: of all transactions that change a device's periods and go through `serialised`, each sees what those before
it committed and nothing of those after it, whichever way each of them takes: `pessimistic` locks the devices;
`optimistic` reads their versions first and compares them last, so that of two who overlap in time one fails and is
replayed. Both raise the versions, which is what lets them be mixed. The third and last attempt of an optimistic unit
locks as well, so that nobody is outrun for ever. Whoever locks or adds several devices does so in the order of their
numbers.
Under READ COMMITTED nothing less will do: no lock on a range of rows keeps another row out of it, and of two statements
that each look before they insert, neither sees the other's row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Select, select, text
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError

from core.errors import FinalConflictError
from shell.settings import settings
from shell.tables.custody import Devices
from shell.utils.bulk_insert import insert_missing
from shell.utils.db_helpers import among, changed_rows, forced
from shell.utils.db_session import session
from shell.utils.replaying import STALE_ATTEMPTS, attempt_number

# The last attempt after a failed comparison takes the lock.
OPTIMISTIC_ATTEMPTS = STALE_ATTEMPTS - 1

# In the order of the document; a scan of a small table would wait for devices that nobody asked about.
_RAISE = text("""
    UPDATE JSON_TABLE(:devices, '$[*]' COLUMNS (id BIGINT PATH '$[0]', version INT PATH '$[1]')) AS held
    STRAIGHT_JOIN devices AS device FORCE INDEX (PRIMARY) ON device.id = held.id
    SET device.version = device.version + 1
    WHERE device.version = held.version
""")


def find_devices(transaction: Session, tenant_id: str, numbers: Sequence[int]) -> dict[int, int]:
    """The ids of the tenant's devices of these numbers, by number; a number that no device has is missing."""
    wanted = select(Devices.number, Devices.id).where(Devices.tenant_id == tenant_id)
    return {row.number: row.id for row in transaction.execute(wanted.where(among(Devices.number, numbers)))}


def find_or_add_devices(transaction: Session, tenant_id: str, numbers: Sequence[int]) -> dict[int, int]:
    """The ids of the tenant's devices of these numbers, by number; those that there are not are added.

    They are added in a transaction of their own, for a row that is not committed cannot be met on; call it before the
    transaction holds any lock. One statement where all of them are there, and two and a transaction of one where not. A
    device without periods means nothing.
    """
    found = find_devices(transaction, tenant_id, numbers)
    missing = sorted(set(numbers) - found.keys())
    if missing:
        _add(tenant_id, missing)
        found = find_devices(transaction, tenant_id, numbers)
    return found


def _add(tenant_id: str, numbers: Sequence[int]) -> None:
    with session() as adding:
        rows = [(tenant_id, number) for number in numbers]
        insert_missing(adding, "devices", ("tenant_id", "number"), rows, key=2)


def is_locking() -> bool:
    """Whether this attempt holds devices by locks; if not, what it read of them may be outdated when it ends."""
    return settings().custody_locking == "pessimistic" or attempt_number() > OPTIMISTIC_ATTEMPTS


@contextmanager
def serialised(transaction: Session, tenant_id: str, numbers: Iterable[int]) -> Iterator[None]:
    """Everything in the block is done as if nobody else changed the devices' periods meanwhile, or not at all.

    What decides is read in the block. Two statements for any number of devices, all of which must be there. Raises
    StaleDataError, to be replayed, where somebody else did.
    """
    wanted = sorted(set(numbers))
    versions = (_locked if is_locking() else _read)(transaction, tenant_id, wanted)
    if len(versions) != len(wanted):
        raise StaleDataError("a device is not there to be met on")
    try:
        yield
    except FinalConflictError:
        # It was decided by several readings, which are of one moment only if nobody wrote between them.
        if not is_locking() and _read(transaction, tenant_id, wanted) != versions:
            raise StaleDataError("another transaction changed the custody of a device") from None
        raise
    transaction.flush()
    if changed_rows(transaction.execute(_RAISE, {"devices": json.dumps(versions)})) != len(versions):
        raise StaleDataError("another transaction changed the custody of a device")


def _locked(transaction: Session, tenant_id: str, numbers: Sequence[int]) -> list[tuple[int, int]]:
    return _versions(transaction, _by_number(tenant_id, numbers).with_for_update())


def _read(transaction: Session, tenant_id: str, numbers: Sequence[int]) -> list[tuple[int, int]]:
    return _versions(transaction, _by_number(tenant_id, numbers))


def _by_number(tenant_id: str, numbers: Sequence[int]) -> Select[int, int]:
    mine = (Devices.tenant_id == tenant_id, among(Devices.number, numbers))
    wanted = select(Devices.id, Devices.version).where(*mine).order_by(Devices.number)
    return forced(wanted, Devices, "uq_devices_number")


def _versions(transaction: Session, wanted: Select[int, int]) -> list[tuple[int, int]]:
    return [(row.id, row.version) for row in transaction.execute(wanted)]
