"""`python -m benchmarks.contention`: workers that import one file into one case, and the published pattern's.

Exit codes: 0 measured, 1 a deadlock or missing rows of ours or nothing measured, 2 the command was called wrongly.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

from benchmarks.arguments import add_server, count, number
from benchmarks.database import Database, own_database
from benchmarks.imports.application import own_application
from benchmarks.imports.contending import Contender
from benchmarks.imports.contention_figures import Rounds, Side, eight_to_two, report, table
from benchmarks.imports.contest import Contest, Size, hot_file
from benchmarks.processes import Workers
from benchmarks.telling import DONE, FAILED, ending, run

_MOST_WORKERS, _MOST_ROWS = 64, 1_000_000
_BOTH = "in each cell ours / the pattern; in brackets our rows a second as a multiple of the pattern's"
_OF = Size.PATTERN_SHARE
_DESCRIPTION = f"""\
Measures workers that import the chunks of one load file into one case, with a few custodians and tags that are on every
row: rows a second, the median and the 99th percentile of how long a chunk takes, and, as the server counts them,
deadlocks and waits for row locks; transactions that were replayed, and chunks that had to be delivered again.
Ours is the application's handler, which fetches, checks and accounts for the rows; its S3 and SQS run on this machine
too. The pattern is given finished rows: it takes each name with an INSERT in a SAVEPOINT, locks custodians and tags in
the order in which it meets them, and tries up to five times. It gets one row in {_OF}, for it takes longer; a rate is
of the rows that each was given. The two take turns, in each round with a fresh case or fresh tables. Rates and times
are medians over the rounds, the ratio is the median of the rounds' ratios; what is counted is the total."""
_EPILOG = """\
examples:
  python -m benchmarks.contention
      1 to 16 workers on a private server; the table can be pasted into docs/performance.md
  python -m benchmarks.contention --workers 2,8 --rounds 9 --json
      other workers, more rounds; the result as one JSON object
  python -m benchmarks.contention --database-url "mysql+pymysql://user:password@host:3306/?charset=utf8mb4"
      on another MySQL 8+ or MariaDB 10.6+, in schemas that are made and dropped

Let nobody else use the server and the machine: deadlocks are counted for the whole server, and times are times.
exit status: 0 measured; 1 a deadlock of ours, rows that are missing, or nothing could be measured; 2 wrong usage"""


def main(
    arguments: Sequence[str] | None = None,
    database: Callable[[str | None], AbstractContextManager[Database]] = own_database,
) -> int:
    """Measure and print; gives the exit code."""
    options = _parser().parse_args(arguments)
    return ending(lambda: _told(options, *_measured(options, database)), "what was made on the server is removed")


def _told(options: argparse.Namespace, server: str, contest: Contest) -> int:
    rounds, size = contest.rounds, contest.size
    sizes = {"rows": size.rows, "pattern_rows": size.pattern_rows, "chunk_rows": size.chunk_rows}
    said: dict[str, object] = {"server": server, "rounds": options.rounds, **sizes, **report(rounds)}
    print(json.dumps(said, indent=2) if options.json else f"{server}; {_BOTH}\n\n{table(rounds)}{_held(rounds)}")
    return _judged(rounds, contest.missing)


def _measured(
    options: argparse.Namespace, database: Callable[[str | None], AbstractContextManager[Database]]
) -> tuple[str, Contest]:
    contender, size = Contender(), Size(options.rows, options.chunk_rows)
    workers = Workers(max(options.workers), contender.prepare)
    # The workers end before the schema is dropped: one that is in a transaction would hold it.
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        database(options.database_url) as measured,
        own_application(measured) as application,
        closing(workers),
    ):
        contest = Contest(contender, workers, application, hot_file(Path(folder), size), size)
        contest.warm_up(max(options.workers))
        for number in range(options.rounds):
            for line in contest.round(options.workers, number):
                print(f"round {number + 1} of {options.rounds}: {line}", file=sys.stderr)
        return measured.server(), contest


def _held(rounds: Rounds) -> str:
    """Whether more workers are as fast, as a line behind the table; nothing where that was not measured."""
    times = eight_to_two(rounds)
    return "" if times is None else f"\n\nOurs with 8 workers: {times:.2f} times the rows a second of 2."


def _judged(rounds: Rounds, missing: int) -> int:
    """The exit code; says what must never happen."""
    deadlocks = sum(each.deadlocks for (_, side), figures in rounds.items() if side is Side.OURS for each in figures)
    if deadlocks:
        print(f"error: the server counted {deadlocks} deadlocks while ours imported", file=sys.stderr)
    if missing:
        print(f"error: {missing} rows or links of ours are missing, or there are too many", file=sys.stderr)
    return FAILED if deadlocks or missing else DONE


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser("python -m benchmarks.contention", None, _DESCRIPTION, _EPILOG, formatter_class=keep)
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument(
        "--workers",
        type=_workers,
        default=[1, 2, 4, 8, 16],
        metavar="N,N",
        help="how many at once, measured one after another (default: 1,2,4,8,16)",
    )
    made.add_argument(
        "--rows", type=number(1, _MOST_ROWS), default=8_000, metavar="N", help="of the file (default: %(default)s)"
    )
    made.add_argument("--chunk-rows", type=count, default=200, metavar="N", help="of a chunk (default: %(default)s)")
    made.add_argument("--rounds", type=count, default=3, metavar="N", help="how often (default: %(default)s)")
    add_server(made)
    return made


def _workers(text: str) -> list[int]:
    counts = sorted({count(each) for each in text.split(",")})
    if counts[-1] > _MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r}: give numbers from 1 to {_MOST_WORKERS}, as in 1,2,4")
    return counts


if __name__ == "__main__":
    run(main)
