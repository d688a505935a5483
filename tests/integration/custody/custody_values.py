"""What the tests of custody share: timestamps, requests, the two ways of locking, and what they look at afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import event

from core.caller import Caller
from core.contracts.custody import NewPeriod, RecordedCustodyPeriods
from shell.custody.commands import add_periods
from shell.db.session import engine
from shell.exhibits.commands import add_custodians
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.database.committed_state import Queried
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import matter

CALLER = Caller(tenant_id="acme", user_id="ada")
STRANGER = Caller(tenant_id="other", user_id="eve")
ME, THEM = (Client(each.tenant_id, each.user_id) for each in (CALLER, STRANGER))
PERIODS, CHANGES, TRANSFERS = "/custody-periods", "/custody-changes", "/custody-transfers"
WAYS = ("pessimistic", "optimistic")
DAY = datetime(2026, 11, 21, tzinfo=UTC)
_PERIODS = TypeAdapter(list[NewPeriod])

# Of periods that do not overlap, each begins where the one before it ends, or later.
OVERLAPS = """
    SELECT device_id, begin_at, before_it FROM (
      SELECT device_id, begin_at, LAG(end_at) OVER (PARTITION BY device_id ORDER BY begin_at, end_at) AS before_it
      FROM custody_periods
    ) AS each_period WHERE before_it > begin_at
"""


def at(hour: float) -> str:
    """A timestamp of the tests' day, or after it, as a client writes it."""
    return (DAY + timedelta(hours=hour)).isoformat()


def utc(hour: float) -> str:
    """The same as the API returns it."""
    return at(hour).replace("+00:00", "Z")


def requested_period(device_id: int, begin: float, end: float | None, **more: Any) -> dict[str, Any]:
    """An element of a request: a device from one hour to another; None: still held."""
    return {"deviceId": device_id, "begin": at(begin), "end": None if end is None else at(end), **more}


def periods(*elements: dict[str, Any]) -> list[NewPeriod]:
    """Elements as the operation takes them."""
    return _PERIODS.validate_python(list(elements))


def add(*elements: dict[str, Any]) -> RecordedCustodyPeriods:
    """Record periods."""
    return done(add_periods, CALLER, periods(*elements))


def custodian(world: World, name: str, by: Caller = CALLER) -> int:
    """The id of a custodian whom the tenant has."""
    exhibit = matter(world, 1, tenant=by.tenant_id, name=name).exhibits[0]
    return done(add_custodians, by, exhibit, [name]).custodians[0].id


def overlaps(where: Queried) -> Sequence[Any]:
    """All that overlap, seen from a separate connection."""
    return where.query(OVERLAPS)


@contextmanager
def statements_sent() -> Iterator[list[tuple[str, Any]]]:
    """What the application sends to the server during the block, with its parameters."""
    found: list[tuple[str, Any]] = []
    listen = (engine(), "before_cursor_execute", lambda _c, _k, sql, values, _x, _m: found.append((sql, values)))
    event.listen(*listen)
    try:
        yield found
    finally:
        event.remove(*listen)
