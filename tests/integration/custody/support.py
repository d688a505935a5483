"""What the tests of custody share: moments, requests, the two ways of locking, and the audit of what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from core.caller import Caller
from core.contracts.custody import NewPeriod, RecordedCustodyPeriods
from shell.custody.commands import add_periods
from tests.support.database import done
from tests.support.queried import Queried

CALLER = Caller(tenant_id="acme", user_id="ada")
STRANGER = Caller(tenant_id="other", user_id="eve")
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
    """A moment of the tests' day, or after it, as a client writes it."""
    return (DAY + timedelta(hours=hour)).isoformat()


def wanted(device_id: int, begin: float, end: float | None, **more: Any) -> dict[str, Any]:
    """An element of a request: a device from one hour to another; None: still held."""
    return {"deviceId": device_id, "begin": at(begin), "end": None if end is None else at(end), **more}


def periods(*elements: dict[str, Any]) -> list[NewPeriod]:
    """Elements as the op takes them."""
    return _PERIODS.validate_python(list(elements))


def add(*elements: dict[str, Any]) -> RecordedCustodyPeriods:
    """Record periods."""
    return done(add_periods, CALLER, periods(*elements))


def overlaps(where: Queried) -> Sequence[Any]:
    """All that overlap, seen from a connection of its own."""
    return where.query(OVERLAPS)
