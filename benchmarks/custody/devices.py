"""The devices of the benchmark, and the check of their periods for overlaps."""

from __future__ import annotations

from benchmarks.database import Database

# If no periods overlap, each begins at or after the end of the one before it.
_OVERLAPS = """
    SELECT COUNT(*) FROM (
      SELECT begin_at, LAG(end_at) OVER (PARTITION BY device_id ORDER BY begin_at, end_at) AS previous_end
      FROM custody_periods JOIN devices ON devices.id = device_id WHERE tenant_id = :tenant
    ) AS each_period WHERE previous_end > begin_at
"""
_DEVICES = """
    INSERT INTO devices (tenant_id, number)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
    SELECT :tenant, n FROM numbers
"""


def overlaps(database: Database, tenant: str) -> int:
    """Return the number of a tenant's periods that begin before an earlier one of the same device ends."""
    return int(database.query(_OVERLAPS, tenant=tenant)[0][0])


def add_devices(database: Database, tenant: str, count: int) -> None:
    """Add devices numbered from 1 to `count`, without periods."""
    database.query(_DEVICES, tenant=tenant, count=count)
