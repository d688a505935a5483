"""`python -m benchmarks.contention`: workers that import one file into one case, compared with the published pattern.

Exit codes: 0 measured, 1 the application had deadlocks or missing rows or the benchmark failed, 2 wrong usage.
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
from benchmarks.baseline import MeasuredRatios, add_baseline, follow_up
from benchmarks.database import Database, temporary_database
from benchmarks.imports.application import temporary_application
from benchmarks.imports.comparison import Comparison, Size, write_hot_file
from benchmarks.imports.contention_figures import Contender, Rounds, eight_to_two, ratio, report, table
from benchmarks.imports.contention_worker import ContentionWorker
from benchmarks.output import DONE, FAILED, run_command, run_measurement
from benchmarks.processes import Workers

_MOST_WORKERS, _MOST_ROWS = 64, 1_000_000
_LEGEND = "each cell: application / pattern; in parentheses the application's rows/s as a multiple of the pattern's"
_SHARE = Size.PATTERN_SHARE
_DESCRIPTION = f"""\
Measures workers that import the chunks of one load file into one case, with a few custodians and tags on every row:
rows per second, the median and the 99th percentile of the time of a chunk, the server's counters of deadlocks and row
lock waits, retried transactions and redelivered chunks.
The application's handler fetches, checks and accounts for the rows, with S3 and SQS on this machine. The published
pattern gets finished rows: it gets or inserts each name in a SAVEPOINT, locks custodians and tags in the order of the
rows, and makes up to five attempts. It imports one row in {_SHARE}, because it is slower; rates are based on the rows
that each of them imports. The two run in turns, in each round with a new case or new tables. Rates and times are
medians over the rounds, the ratio is the median of the rounds' ratios, and counts are totals."""
_EPILOG = """\
examples:
  python -m benchmarks.contention
      1 to 16 workers on a private server; prints a Markdown table for docs/performance.md
  python -m benchmarks.contention --workers 2,8 --rounds 9 --json
      other numbers of workers, more rounds; the result as one JSON object
  python -m benchmarks.contention --database-url "mysql+pymysql://user:password@host:3306/?charset=utf8mb4"
      on another MySQL 8+ or MariaDB 10.6+, in temporary schemas

Run it on an otherwise idle server and machine: deadlocks are counted for the whole server, and load changes the times.
exit status: 0 measured; 1 the application had deadlocks or missing rows, or the benchmark failed; 2 wrong usage"""


def main(
    arguments: Sequence[str] | None = None,
    database: Callable[[str | None], AbstractContextManager[Database]] = temporary_database,
) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)
    return run_measurement(
        lambda: _report(options, *_measure(options, database)), "the schemas on the server are removed"
    )


def _report(options: argparse.Namespace, server: str, comparison: Comparison) -> int:
    rounds, size = comparison.rounds, comparison.size
    sizes = {"rows": size.rows, "pattern_rows": size.pattern_rows, "chunk_rows": size.chunk_rows}
    result: dict[str, object] = {"server": server, "rounds": options.rounds, **sizes, **report(rounds)}
    print(json.dumps(result, indent=2) if options.json else _format(server, rounds))
    ratios = {f"vs_pattern_{n}": ratio(rounds, (n, Contender.OURS), (n, Contender.PATTERN)) for n in options.workers}
    sizes = {"rows": options.rows, "chunk_rows": options.chunk_rows}
    follow_up(MeasuredRatios("contention", {**ratios, "eight_to_two": eight_to_two(rounds)}, sizes, server), options)
    return _check_result(rounds, comparison.missing)


def _measure(
    options: argparse.Namespace, database: Callable[[str | None], AbstractContextManager[Database]]
) -> tuple[str, Comparison]:
    worker, size = ContentionWorker(), Size(options.rows, options.chunk_rows)
    workers = Workers(max(options.workers), worker.prepare)
    # The workers end before the schema is dropped: a worker in a transaction would block that.
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        database(options.database_url) as measured,
        temporary_application(measured) as application,
        closing(workers),
    ):
        comparison = Comparison(worker, workers, application, write_hot_file(Path(folder), size), size)
        comparison.warm_up(max(options.workers))
        for number in range(options.rounds):
            for line in comparison.round(options.workers, number):
                print(f"round {number + 1} of {options.rounds}: {line}", file=sys.stderr)
        return measured.server(), comparison


def _format(server: str, rounds: Rounds) -> str:
    return f"{server}; {_LEGEND}\n\n{table(rounds)}{_format_scaling(rounds)}"


def _format_scaling(rounds: Rounds) -> str:
    """Return a line with the rate of 8 workers relative to 2; empty where these were not measured."""
    times = eight_to_two(rounds)
    return "" if times is None else f"\n\nThe application with 8 workers: {times:.2f} times the rows/s of 2 workers."


def _check_result(rounds: Rounds, missing: int) -> int:
    """Return the exit code; print errors for deadlocks and missing rows of the application."""
    ours = [figures for (_, contender), figures in rounds.items() if contender is Contender.OURS]
    deadlocks = sum(each.deadlocks for figures in ours for each in figures)
    if deadlocks:
        print(f"error: {deadlocks} deadlocks during the application's imports", file=sys.stderr)
    if missing:
        print(f"error: {missing} rows or links of the application are missing or duplicated", file=sys.stderr)
    return FAILED if deadlocks or missing else DONE


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.contention", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_baseline(made)
    made.add_argument(
        "--workers",
        type=parse_workers,
        default=[1, 2, 4, 8, 16],
        metavar="N,N",
        help="numbers of workers, measured one after another (default: 1,2,4,8,16)",
    )
    made.add_argument(
        "--rows", type=number(1, _MOST_ROWS), default=8_000, metavar="N", help="rows of the file (default: %(default)s)"
    )
    made.add_argument(
        "--chunk-rows", type=count, default=200, metavar="N", help="rows per chunk (default: %(default)s)"
    )
    made.add_argument("--rounds", type=count, default=3, metavar="N", help="number of rounds (default: %(default)s)")
    add_server(made)
    return made


def parse_workers(text: str) -> list[int]:
    """Return the numbers of workers in "1,2,4", sorted; the type of an argument."""
    counts = sorted({count(each) for each in text.split(",")})
    if counts[-1] > _MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r}: give numbers from 1 to {_MOST_WORKERS}, as in 1,2,4")
    return counts


if __name__ == "__main__":
    run_command(main)
