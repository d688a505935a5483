"""`python -m benchmarks.scale_out`: the rate of an import by more and more workers, and a model of it on Aurora.

Exit codes: 0 measured, 1 there were deadlocks or the benchmark failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict
from pathlib import Path

from benchmarks.arguments import add_server, count, number
from benchmarks.contention import parse_workers
from benchmarks.database import Database, temporary_database
from benchmarks.imports.application import temporary_application
from benchmarks.imports.aurora_model import ASSUMPTIONS, Estimate, estimate
from benchmarks.imports.invocation import BATCH_SIZE
from benchmarks.imports.load_file import Shape
from benchmarks.imports.scale_out_figures import Figures, combine
from benchmarks.imports.scale_out_worker import Measurement, ScaleOutWorker
from benchmarks.imports.server import buffer_pool, buffer_pool_mb
from benchmarks.output import DONE, FAILED, run_command, run_measurement, table
from benchmarks.processes import Workers

_MODELLED_ROWS = 100_000_000
_DESCRIPTION = f"""\
Imports the chunks of one load file into one case by several processes that call the application's handler as Lambda
does, up to {BATCH_SIZE} chunks in an invocation, and prints for each number of workers: rows per second, the
processor time of a row on the server and in the workers, the processors that each of them used, the redo log that a row
writes, deadlocks and row lock waits. Rates are medians over the rounds. Workers and server share the processors of this
machine: when these are used up, more workers cannot be faster.

Then it computes from the processor times, which do not depend on the number of processors, what an import of
{_MODELLED_ROWS:,} rows takes on Aurora and Lambda; the assumptions are printed."""
_EPILOG = """\
examples:
  python -m benchmarks.scale_out --workers 1,2,4,8
      on a private server, about five minutes; prints Markdown tables for docs/performance.md
  python -m benchmarks.scale_out --rows 40000 --rounds 1 --json
      a shorter run; one JSON object
  python -m benchmarks.scale_out --database-url "mysql+pymysql://user:password@host:3306/?charset=utf8mb4"
      on another MySQL 8+ or MariaDB 10.6+ on this machine, in a temporary schema

exit status: 0 measured; 1 there were deadlocks, or the benchmark failed; 2 wrong usage; 130 interrupted"""
Databases = Callable[[str | None], AbstractContextManager[Database]]


def main(arguments: Sequence[str] | None = None, database: Databases = temporary_database) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        server, figures = _measure(options, database)
        estimates = _estimate(figures)
        if options.json:
            result = {"workers": {count: asdict(each) for count, each in figures.items()}}
            model = {"rows": _MODELLED_ROWS, "sizes": [asdict(each) for each in estimates]}
            print(json.dumps({**server, "rows": options.rows, **result, "model": model}, indent=2))
        else:
            print(f"{server['server']}, {options.rows} rows\n\n{_format(figures)}\n\n{_format_model(estimates)}")
        return _check_result(figures)

    return run_measurement(measure, "the schemas on the server are removed")


def _measure(options: argparse.Namespace, database: Databases) -> tuple[Mapping[str, object], Mapping[int, Figures]]:
    worker = ScaleOutWorker()
    workers = Workers(max(options.workers), worker.prepare)
    # The workers end before the schema is dropped: a worker in a transaction would block that.
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        database(options.database_url) as measured,
        buffer_pool(measured, options.buffer_pool),
        temporary_application(measured) as application,
        closing(workers),
    ):
        path = Path(folder) / "load.dat"
        Shape(rows=options.rows).write(path)
        measurement = Measurement(application, worker, workers, path)
        measurement.warm_up(max(options.workers))
        rounds: dict[int, list[Figures]] = {}
        for round_no in range(options.rounds):
            for number_of_workers in options.workers:
                figures = measurement.run(number_of_workers)
                rounds.setdefault(number_of_workers, []).append(figures)
                line = f"{number_of_workers} workers: {figures.rows_per_s:.0f} rows/s, {figures.deadlocks} deadlocks"
                print(f"round {round_no + 1} of {options.rounds}: {line}", file=sys.stderr)
        server = {"server": measured.server(), "buffer_pool_mb": buffer_pool_mb(measured)}
        return server, {each: combine(figures) for each, figures in rounds.items()}


def _estimate(figures: Mapping[int, Figures]) -> list[Estimate]:
    """Return the model's estimates from the figures of the most workers; none without those of the server."""
    measured = figures[max(figures)]
    if measured.server_us is None:
        return []
    return estimate(_MODELLED_ROWS, measured.server_us, measured.worker_us, measured.redo_bytes)


def _check_result(figures: Mapping[int, Figures]) -> int:
    deadlocks = sum(each.deadlocks for each in figures.values())
    if deadlocks:
        print(f"error: {deadlocks} deadlocks", file=sys.stderr)
    return FAILED if deadlocks else DONE


def _format(figures: Mapping[int, Figures]) -> str:
    head = ["workers", "rows/s", "server us/row", "workers us/row", "processors: server", "workers"]
    head += ["redo bytes/row", "deadlocks", "lock waits"]
    return table(head, [[str(workers), *each.format()] for workers, each in figures.items()])


def _format_model(estimates: Sequence[Estimate]) -> str:
    if not estimates:
        return "No model: the server is on another machine, and its processor time is not known."
    head = ["Size", "functions", "rows/s", "hours", "capacity units", "US dollars", "the first limit"]
    rows = table(head, [each.format() for each in estimates])
    return f"{_MODELLED_ROWS:,} rows on Aurora, computed:\n\n{rows}\n\n{ASSUMPTIONS}"


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.scale_out", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument(
        "--workers",
        type=parse_workers,
        default=[1, 2, 4, 8],
        metavar="N,N",
        help="numbers of workers, measured one after another (default: 1,2,4,8)",
    )
    made.add_argument(
        "--rows",
        type=number(1, 10_000_000),
        default=160_000,
        metavar="N",
        help="rows of the file (default: %(default)s)",
    )
    made.add_argument("--rounds", type=count, default=3, metavar="N", help="number of rounds (default: %(default)s)")
    made.add_argument(
        "--buffer-pool",
        type=number(5, 1_000_000),
        default=1_024,
        metavar="MB",
        help="size of InnoDB's buffer pool during the benchmark (default: %(default)s)",
    )
    add_server(made)
    return made


if __name__ == "__main__":
    run_command(main)
