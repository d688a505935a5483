"""Serialize transactions that change the custody periods of a device, by the device's row.

Guaranteed: transactions that change a device's periods under `exclusive_devices` run as if one after the other: each
sees what earlier ones committed, and nothing of later ones. There are two modes. `pessimistic` locks the devices.
`optimistic` reads their versions first and compares them last, so that of two concurrent transactions one fails and is
retried. Both modes increment the versions, which is why they can be mixed. The third and last attempt of an optimistic
transaction takes locks too, so that retries end. Several devices are locked or added in the order of their numbers.
A weaker mechanism is not enough under READ COMMITTED: no lock on a range of rows keeps another row out of it, and of
two statements that each check before they insert, neither sees the other's row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Select, select, text
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError

from core.errors import FinalConflictError
from shell.db.bulk_insert import insert_missing
from shell.db.retry import STALE_ATTEMPTS, attempt_number
from shell.db.session import session
from shell.settings import settings
from shell.tables.custody import Devices
from shell.utils.db_helpers import count_changed_rows, force_index, is_in

# The last attempt after a failed comparison takes the lock.
OPTIMISTIC_ATTEMPTS = STALE_ATTEMPTS - 1

# Locks in the order of the document. A scan, as the optimizer prefers for a small table, would wait for other devices.
_INCREMENT_VERSIONS = text("""
    UPDATE JSON_TABLE(:devices, '$[*]' COLUMNS (id BIGINT PATH '$[0]', version INT PATH '$[1]')) AS seen
    STRAIGHT_JOIN devices AS device FORCE INDEX (PRIMARY) ON device.id = seen.id
    SET device.version = device.version + 1
    WHERE device.version = seen.version
""")


def find_devices(transaction: Session, tenant_id: str, numbers: Sequence[int]) -> dict[int, int]:
    """Return the ids of the tenant's devices by number; omit numbers that no device has."""
    statement = select(Devices.number, Devices.id).where(Devices.tenant_id == tenant_id)
    return {row.number: row.id for row in transaction.execute(statement.where(is_in(Devices.number, numbers)))}


def find_or_add_devices(transaction: Session, tenant_id: str, numbers: Sequence[int]) -> dict[int, int]:
    """Return the ids of the tenant's devices by number; add the missing ones.

    They are added in a separate transaction, because only a committed row can serialize writers; call this before the
    transaction holds any lock. Takes one statement if all devices exist, otherwise two and one transaction with one
    statement. A device that remains without periods has no effect.
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
    """Return whether this attempt locks the devices; if not, what it read of them may be outdated when it ends."""
    return settings().custody_locking == "pessimistic" or attempt_number() > OPTIMISTIC_ATTEMPTS


@contextmanager
def exclusive_devices(transaction: Session, tenant_id: str, numbers: Iterable[int]) -> Iterator[None]:
    """Run the block as the only writer of the devices' periods, or fail.

    The block must read everything that its decisions depend on. Takes two statements for any number of devices, all of
    which must exist. Raises StaleDataError, to be retried, if another transaction changed a device's periods meanwhile.
    """
    ordered = sorted(set(numbers))
    versions = (_lock_versions if is_locking() else _read_versions)(transaction, tenant_id, ordered)
    if len(versions) != len(ordered):
        raise StaleDataError("a device to be locked does not exist")
    try:
        yield
    except FinalConflictError:
        # The decision rests on several reads. They are consistent only if no other transaction wrote between them.
        if not is_locking() and _read_versions(transaction, tenant_id, ordered) != versions:
            raise StaleDataError("another transaction changed the custody of a device") from None
        raise
    transaction.flush()
    incremented = transaction.execute(_INCREMENT_VERSIONS, {"devices": json.dumps(versions)})
    if count_changed_rows(incremented) != len(versions):
        raise StaleDataError("another transaction changed the custody of a device")


def _lock_versions(transaction: Session, tenant_id: str, numbers: Sequence[int]) -> list[tuple[int, int]]:
    return _list_versions(transaction, _select_versions(tenant_id, numbers).with_for_update())


def _read_versions(transaction: Session, tenant_id: str, numbers: Sequence[int]) -> list[tuple[int, int]]:
    return _list_versions(transaction, _select_versions(tenant_id, numbers))


def _select_versions(tenant_id: str, numbers: Sequence[int]) -> Select[int, int]:
    own = (Devices.tenant_id == tenant_id, is_in(Devices.number, numbers))
    statement = select(Devices.id, Devices.version).where(*own).order_by(Devices.number)
    return force_index(statement, Devices, "uq_devices_number")


def _list_versions(transaction: Session, statement: Select[int, int]) -> list[tuple[int, int]]:
    return [(row.id, row.version) for row in transaction.execute(statement)]
