"""What a cell costs in a month, in US dollars, by the prices of docs/operations.md, "What it costs"."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.imports.aurora_model import FUNCTION_GB, GB_SECOND, UNIT_HOUR

# Endpoints, alarms, key, secrets, dashboard and metric, polling, scheduled functions and logs.
IDLE = {"small": 29 + 9 + 6 + 3 + 1, "standard": 58 + 9 + 6 + 3 + 1, "large": 58 + 9 + 6 + 3 + 3}
# A standby has the capacity of the database, and costs as much.
INSTANCES = {"small": 1, "standard": 1, "large": 2}
# For a million rows: storage for a month, four requests of I/O per row, S3, and SQS with the rest.
_STORAGE, _IO, _S3, _QUEUES = 0.20, 0.80, 0.03, 0.03


@dataclass(frozen=True)
class Bill:
    """A month of a cell: what it costs idle, its database, its functions, and what its rows cost by themselves."""

    idle: float
    database: float
    functions: float
    rows: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.idle + self.database + self.functions + self.rows


def compute_bill(size: str, unit_s: float, function_s: float, rows: int) -> Bill:
    """Return the bill of a cell that used so many seconds of a capacity unit and of its functions."""
    return Bill(
        idle=IDLE[size],
        database=INSTANCES[size] * unit_s / 3_600 * UNIT_HOUR,
        functions=function_s * FUNCTION_GB * GB_SECOND,
        rows=rows / 1e6 * (_STORAGE + _IO + _S3 + _QUEUES),
    )
