"""The arguments of `python -m benchmarks.custody`, and what its help says."""

from __future__ import annotations

import argparse
import math

from benchmarks.arguments import add_server, count
from benchmarks.custody.workload import ELEMENTS

_MOST_CLIENTS = 64
_DESCRIPTION = f"""\
Measures the two ways in which custody periods are recorded, CUSTODY_LOCKING pessimistic and optimistic: requests a
second, the median and the 99th percentile of how long one takes, deadlocks as the server counts them, retries, and the
overlaps that are left, of which there must be none.
A request records {ELEMENTS} periods in a transaction of its own, replayed as the application replays it, without HTTP
and idempotency. Under low contention it names devices out of a thousand, under high contention out of four. The two
ways take turns, with the same requests. Rates and times are medians over the rounds; what is counted is the total."""
_EPILOG = """\
examples:
  python -m benchmarks.custody
      both ways with 1, 4 and 16 clients on a private server; the table can be pasted into docs/performance.md
  python -m benchmarks.custody --clients 1,32 --rounds 9 --json
      other clients, more rounds; the result as one JSON object
  python -m benchmarks.custody --database-url "mysql+pymysql://user:password@host:3306/?charset=utf8mb4"
      on another MySQL 8+ or MariaDB 10.6+, in a schema that is made and dropped

Let nobody else use the server and the machine: deadlocks are counted for the whole server, and times are times.
exit status: 0 measured; 1 overlaps were found, or nothing could be measured; 2 wrong usage"""


def parser() -> argparse.ArgumentParser:
    """What reads the command line; it exits with 2 where that cannot be understood."""
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser("python -m benchmarks.custody", None, _DESCRIPTION, _EPILOG, formatter_class=keep)
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument(
        "--seconds", type=_seconds, default=1.5, metavar="S", help="for each cell of a round (default: %(default)s)"
    )
    made.add_argument("--rounds", type=count, default=5, metavar="N", help="how often (default: %(default)s)")
    made.add_argument(
        "--clients", type=_clients, default=[1, 4, 16], metavar="N,N", help="how many at once (default: 1,4,16)"
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
