"""A model of a large import on Aurora and Lambda, computed from processor times measured on another machine.

Nothing here was measured on AWS. ASSUMPTIONS says what is assumed; docs/operations.md has the same prices.
"""

from __future__ import annotations

from dataclasses import dataclass

# The number of functions and the largest capacity of each Size, as in template.yaml.
SIZES = {"small": (4, 4), "standard": (8, 16), "large": (32, 64)}
ROW_BYTES, CHUNK_ROWS = 570, 2_000
FUNCTION_CPUS, FUNCTION_GB, GB_SECOND = 1_024 / 1_769, 1.0, 0.0000133
UNIT_CPUS, DATABASE_SHARE, UNIT_HOUR = 0.25, 0.7, 0.12
IO_BYTES, IO_PRICE = 4_096, 0.20e-6
# Round trips of a chunk's statements, and its COMMITs.
STATEMENTS, ROUND_TRIP_S, COMMITS, COMMIT_S = 16, 0.001, 3, 0.005
SPLIT_BYTES_S = 40e6
ASSUMPTIONS = f"""\
- A processor of Lambda or Aurora is as fast as one of the measured machine. A function of 1,024 MB has 0.58 of one (AWS
  Lambda, Configure Lambda function memory: 1,769 MB are one), a capacity unit 0.25 (8 units have the memory of an
  r6g.large, which has 2).
- Nothing overlaps in a function: its processor time, that of the server, {STATEMENTS} round trips of
  {ROUND_TRIP_S * 1e3:.0f} ms and {COMMITS} COMMITs of {COMMIT_S * 1e3:.0f} ms per {CHUNK_ROWS:,} rows add up.
- Imports use at most {DATABASE_SHARE:.0%} of the database's processors, and it has the units for that.
- Chunks of one import change its row one after another, for two round trips and a COMMIT each.
- A row has {ROW_BYTES} bytes. A file is split, at {SPLIT_BYTES_S / 1e6:.0f} MB/s, before its first chunk is imported.
- List prices in US dollars: {GB_SECOND:.7f} per GB-second, {UNIT_HOUR} per unit and hour, {IO_PRICE * 1e6:.2f} per
  million writes of {IO_BYTES // 1024} KB of redo log. Storage, S3 and SQS are not included."""


@dataclass(frozen=True)
class Estimate:
    """An import into a stack of that size: chunks per second as rows, and the whole import's hours and cost."""

    size: str
    functions: int
    rows_per_s: float
    hours: float
    units: float
    dollars: float
    limit: str

    def format(self) -> list[str]:
        """Return the estimate as cells of a table."""
        numbers = [f"{self.rows_per_s:,.0f}", f"{self.hours:.1f}", f"{self.units:.1f}", f"{self.dollars:.0f}"]
        return [self.size, str(self.functions), *numbers, self.limit]


def estimate(rows: int, server_us: float, worker_us: float, redo_bytes: float) -> list[Estimate]:
    """Return an estimate for each size from microseconds of processor time and bytes of redo log per row."""
    return [_estimate(size, rows, server_us, worker_us, redo_bytes) for size in SIZES]


def _estimate(size: str, rows: int, server_us: float, worker_us: float, redo_bytes: float) -> Estimate:
    functions, most_units = SIZES[size]
    waiting_s = (STATEMENTS * ROUND_TRIP_S + COMMITS * COMMIT_S) / CHUNK_ROWS
    row_s = worker_us / 1e6 / FUNCTION_CPUS + server_us / 1e6 + waiting_s
    limits = {
        "functions": functions / row_s,
        "the database's capacity": most_units * UNIT_CPUS * DATABASE_SHARE / (server_us / 1e6),
        "the row of the import": CHUNK_ROWS / (2 * ROUND_TRIP_S + COMMIT_S),
    }
    limit = min(limits, key=lambda name: limits[name])
    rate = limits[limit]
    split_s, chunks_s = rows * ROW_BYTES / SPLIT_BYTES_S, rows / rate
    units = rate * server_us / 1e6 / UNIT_CPUS / DATABASE_SHARE
    function_s = split_s + functions * chunks_s
    dollars = function_s * FUNCTION_GB * GB_SECOND + units * chunks_s / 3600 * UNIT_HOUR
    dollars += rows * redo_bytes / IO_BYTES * IO_PRICE
    slowest = limit if chunks_s > split_s else "splitting"
    return Estimate(size, functions, round(rate), (split_s + chunks_s) / 3600, units, dollars, slowest)
