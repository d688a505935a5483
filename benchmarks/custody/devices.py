"""The devices that the clients ask for, and whether their periods are as they must be."""

from __future__ import annotations

from benchmarks.database import Database

# Of periods that do not overlap, each begins where the one before it ends, or later.
_OVERLAPS = """
    SELECT COUNT(*) FROM (
      SELECT begin_at, LAG(end_at) OVER (PARTITION BY device_id ORDER BY begin_at, end_at) AS before_it
      FROM custody_periods JOIN devices ON devices.id = device_id WHERE tenant_id = :tenant
    ) AS each_period WHERE before_it > begin_at
"""
_DEVICES = """
    INSERT INTO devices (tenant_id, number)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
    SELECT :tenant, n FROM numbers
"""


def overlaps(database: Database, tenant: str) -> int:
    """How many of a tenant's periods begin before one of the same device has ended."""
    return int(database.query(_OVERLAPS, tenant=tenant)[0][0])


def add_devices(database: Database, tenant: str, count: int) -> None:
    """Devices of these numbers from 1, without periods."""
    database.query(_DEVICES, tenant=tenant, count=count)
