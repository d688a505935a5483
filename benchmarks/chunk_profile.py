"""`python -m benchmarks.chunk_profile`: the time of each stage of a chunk's import.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.arguments import add_server, count, number
from benchmarks.database import temporary_database
from benchmarks.imports.application import Application, temporary_application
from benchmarks.imports.load_file import Shape
from benchmarks.output import DONE, run_command, run_measurement, table
from shell.db import bulk_insert, session
from shell.imports.chunks import chunk_source, row_reader, write_or_check, writer
from shell.imports.chunks.comparison import CaseComparison
from shell.imports.twins import writer as twin_writer

_DESCRIPTION = """\
Imports a load file as python -m benchmarks.import_rate does, and measures the stages of a chunk: microseconds per row
of wall-clock time and of processor time of its thread. The difference is the time of waiting for the database, S3 and
the other thread: one reads the next chunk while one writes. "All handlers" is the processor time of both. An indented
stage is a part of the stage above it. Then the same file is imported again."""
_EPILOG = """\
examples:
  python -m benchmarks.chunk_profile
      on a private server; prints a Markdown table for docs/performance.md
  python -m benchmarks.chunk_profile --rows 50000 --database-url "mysql+pymysql://user:password@host:3306/?charset=utf8mb4"
      more rows, on another MySQL 8+ or MariaDB 10.6+, in a temporary schema

exit status: 0 measured; 1 failed; 2 wrong usage; 130 interrupted"""
# Each stage: its printed name, and the module or class and the name of its function.
STAGES: Sequence[tuple[str, Any, str]] = (
    ("find the import and the chunk", chunk_source, "_load"),
    ("read, parse and coerce the rows", row_reader, "read_rows"),
    ("  fetch, check, decode, csv", row_reader, "_read_records"),
    ("  columnar: values, names, dates, hashes", row_reader, "columnar_rows"),
    ("  look up exhibits and names, format values", row_reader, "read_case"),
    ("write", write_or_check, "write_chunk"),
    ("  insert exhibits", writer, "insert_exhibits"),
    ("  insert links to custodians and tags", writer, "insert_links"),
    ("  compare links of unchanged rows", CaseComparison, "_compare_links"),
    ("  verify and count a chunk that is there already", twin_writer, "complete_by_twin"),
    ("  rejections, warnings, occurrences", writer, "write_results"),
    ("  complete the chunk", writer, "complete_chunk"),
    ("of which converting values to literals", bulk_insert, "format_row_literals"),
    ("of which COMMIT", session, "_commit"),
)


@dataclass
class StageTime:
    """The seconds of one stage, summed over all chunks of an import."""

    wall: float = 0.0
    processor: float = 0.0


Profile = dict[str, StageTime]


@contextmanager
def measure_stages(profile: Profile) -> Iterator[None]:
    """Add the time of the stages in the block to the profile."""
    with ExitStack() as stack:
        for stage, owner, name in STAGES:
            original = getattr(owner, name)
            setattr(owner, name, _measure(original, profile.setdefault(stage, StageTime())))
            stack.callback(setattr, owner, name, original)
        yield


def _measure(function: Callable[..., Any], total: StageTime) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        wall, processor = time.perf_counter(), time.thread_time()
        try:
            return function(*arguments, **named)
        finally:
            total.wall += time.perf_counter() - wall
            total.processor += time.thread_time() - processor

    return timed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)

    def measure() -> int:
        with (
            tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
            temporary_database(options.database_url) as database,
        ):
            path = Path(folder) / "load.dat"
            Shape(rows=options.rows).write(path)
            with temporary_application(database) as application:
                runs = [_run(application, path, each) for each in range(options.runs)]
            server = database.server()
        stages = {stage: _get_figures(runs, stage, options.rows) for stage in runs[0][0]}
        print(json.dumps({"server": server, "stages": stages}, indent=2) if options.json else _format(server, stages))
        return DONE

    return run_measurement(measure, "the schemas on the server are removed")


def _run(application: Application, path: Path, number: int) -> tuple[Profile, Profile]:
    """Import the file twice into one case and return both profiles."""
    profiles: list[Profile] = []
    for label in ("first", "again"):
        profile: Profile = {"all handlers of chunks": StageTime()}
        with measure_stages(profile):
            import_id, start_s = application.start(application.upload(path, f"run {number}"))
            processor = time.process_time()
            done = application.finish(import_id, start_s)
        profile["all handlers of chunks"] = StageTime(sum(done.chunks_s), time.process_time() - processor)
        profiles.append(profile)
        print(f"run {number + 1}, {label}: {start_s + sum(done.chunks_s):.2f} s", file=sys.stderr)
    return profiles[0], profiles[1]


def _get_figures(runs: Sequence[tuple[Profile, Profile]], stage: str, rows: int) -> list[float]:
    """Return the medians of wall and processor time in the first and the second import, in microseconds per row."""
    times = [[run[index][stage] for run in runs] for index in (0, 1)]
    seconds = [median(getattr(each, clock) for each in group) for group in times for clock in ("wall", "processor")]
    return [round(each * 1e6 / rows, 1) for each in seconds]


def _format(server: str, stages: dict[str, list[float]]) -> str:
    head = ["microseconds per row", "first: wall", "processor", "again: wall", "processor"]
    rows = [[stage.replace("  ", "- "), *(f"{each:.1f}" for each in figures)] for stage, figures in stages.items()]
    return f"{server}\n\n{table(head, rows)}"


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.chunk_profile", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    made.add_argument(
        "--rows", type=number(1, 1_000_000), default=20_000, metavar="N", help="rows of the file (default: %(default)s)"
    )
    made.add_argument("--runs", type=count, default=3, metavar="N", help="number of runs (default: %(default)s)")
    add_server(made)
    return made


if __name__ == "__main__":
    run_command(main)
