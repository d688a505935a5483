"""The arguments and help texts of `python -m benchmarks.custody`."""

from __future__ import annotations

import argparse
import math

from benchmarks.arguments import add_server, count
from benchmarks.custody.workload import ELEMENTS

_MOST_CLIENTS = 64
_DESCRIPTION = f"""\
Compares the two locking strategies of custody periods (CUSTODY_LOCKING pessimistic and optimistic): requests/s, median
and 99th percentile of a request's time, the server's deadlock counter, retries, and overlapping periods, of which there
must be none.
A request records {ELEMENTS} periods in one transaction, retried as in the application, without HTTP and idempotency.
Under low contention it uses devices out of a thousand, under high contention out of four. The strategies run in turns,
with the same requests. Rates and times are medians over the rounds; counts are totals."""
_EPILOG = """\
examples:
  python -m benchmarks.custody
      both strategies with 1, 4 and 16 clients on a private server; prints a Markdown table for docs/performance.md
  python -m benchmarks.custody --clients 1,32 --rounds 9 --json
      other numbers of clients, more rounds; the result as one JSON object
  python -m benchmarks.custody --database-url "mysql+pymysql://user:password@host:3306/?charset=utf8mb4"
      on another MySQL 8+ or MariaDB 10.6+, in a temporary schema

Run it on an otherwise idle server and machine: deadlocks are counted for the whole server, and load changes the times.
exit status: 0 measured; 1 overlaps were found, or the benchmark failed; 2 wrong usage"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; it exits with 2 on wrong usage."""
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.custody", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument(
        "--seconds", type=_seconds, default=1.5, metavar="S", help="seconds per cell and round (default: %(default)s)"
    )
    made.add_argument("--rounds", type=count, default=5, metavar="N", help="number of rounds (default: %(default)s)")
    made.add_argument(
        "--clients",
        type=_clients,
        default=[1, 4, 16],
        metavar="N,N",
        help="numbers of clients (default: 1,4,16)",
    )
    add_server(made)
    return made


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 60:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds up to 60")
    return seconds


def _clients(text: str) -> list[int]:
    counts = sorted({count(each) for each in text.split(",")})
    if counts[-1] > _MOST_CLIENTS:
        raise argparse.ArgumentTypeError(f"{text!r}: give numbers from 1 to {_MOST_CLIENTS}, as in 1,4,16")
    return counts
