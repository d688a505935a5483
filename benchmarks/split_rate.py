"""`python -m benchmarks.split_rate`: speed of the splitting pass compared with csv.reader, and its memory.

Exit codes: 0 measured, 1 failed, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from benchmarks.arguments import count, number
from benchmarks.baseline import MeasuredRatios, add_baseline, follow_up
from benchmarks.errors import BenchmarkError
from benchmarks.imports.load_file import Shape
from benchmarks.imports.range_server import serve_file
from benchmarks.output import DONE, run_command, run_measurement, table

ROOT = Path(__file__).parents[1]
SMALLER = 10
SCALE_ROWS = 1_000_000
_TIMEOUT_S = 600
_REQUIRED = (
    *("BUCKET", "IMPORT_REQUESTS_QUEUE_URL", "IMPORT_CHUNKS_QUEUE_URL", "IMPORT_COMPLETIONS_QUEUE_URL"),
    "OUTBOX_WAKE_QUEUE_URL",
    "PRODUCTION_CHECKS_QUEUE_URL",
)
_ENVIRONMENT = {
    **dict.fromkeys((*_REQUIRED, "EVENTS_TOPIC_ARN"), "none"),
    **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "none"),
    "AWS_DEFAULT_REGION": "us-east-1",
}
_DESCRIPTION = f"""\
Measures the splitting pass, which reads an upload before anything is imported: it finds the records, the chunks and
their hashes, the file's hash, duplicate ids and the date order. The file is read over HTTP from this machine, in the
ranges that are requested from S3; the client is connected before the measurement starts.
vs_csv_reader compares it with csv.reader (strict, the same delimiter and qualifier), which reads the same bytes from a
local file and drops the records. vs_csv_in_memory compares it with csv.reader on lines that are already text in memory,
so that only the splitting pass includes reading, decoding and splitting into lines. Every pass runs in a new process,
and the two run in turns; the results are medians of the runs' ratios. peak_mb is the peak memory of splitting above
that of the imported modules; it is also measured on a file with a {SMALLER}th of the rows, because it must not grow
with the file."""
_EPILOG = """\
examples:
  python -m benchmarks.split_rate
      three runs, about half a minute; prints a Markdown table for docs/performance.md
  python -m benchmarks.split_rate --rows 50000 --columns 20 --text 200 --runs 9 --json
      longer rows, more runs; the result as one JSON object
  python -m benchmarks.split_rate --scale
      a million rows; several minutes, 700 MB of disk

Run it on an otherwise idle machine.
exit status: 0 measured; 1 failed; 2 wrong usage; 130 interrupted"""
Measured = dict[str, float]


@dataclass(frozen=True)
class MeasuredFile:
    """One file with the measurements of splitting and of reading it, by run."""

    path: Path
    rows: int
    splits: list[Measured] = field(default_factory=list)
    reads: list[Measured] = field(default_factory=list)

    def measure(self, *, read_first: bool) -> None:
        """Measure one more run. Raises BenchmarkError unless every row is found."""
        passes: list[Callable[[], None]] = [self._split, self._read]
        for each in reversed(passes) if read_first else passes:
            each()

    def _split(self) -> None:
        with serve_file(self.path) as address:
            self.splits.append(_run_pass(self.rows, {"AWS_ENDPOINT_URL": address}, "split"))

    def _read(self) -> None:
        self.reads.append(_run_pass(self.rows, {}, "csv", str(self.path)))

    @property
    def peak_mb(self) -> float:
        """Return the peak memory above that of the imported modules, in megabytes."""
        return round(median(each["peak"] - each["before"] for each in self.splits) / 1e6, 1)

    def ratio(self, time: str) -> float:
        """Return the speed of the split as a multiple of the reader's: the median of the runs' ratios."""
        both = zip(self.splits, self.reads, strict=True)
        return round(median(read[time] / split["seconds"] for split, read in both), 3)

    @property
    def mb_per_s(self) -> float:
        """Return the speed of the split in megabytes per second."""
        return round(self.path.stat().st_size / 1e6 / median(each["seconds"] for each in self.splits), 1)


def main(
    arguments: Sequence[str] | None = None,
    measure_both: Callable[[Shape, int, Path], dict[str, float]] | None = None,
) -> int:
    """Run the benchmark, print the result and return the exit code."""
    options = _parser().parse_args(arguments)
    shape = Shape(SCALE_ROWS if options.scale else options.rows, options.columns, text=options.text)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            result = (measure_both or measure_files)(shape, options.runs, Path(folder))
        row = ["splitting", *map(str, result.values())]
        print(json.dumps(result) if options.json else table(["", *result], [row]))
        ratios = {name: value for name, value in result.items() if name.startswith("vs_")}
        sizes = {"rows": shape.rows, "columns": shape.columns, "text": shape.text}
        follow_up(MeasuredRatios("split_rate", ratios, sizes), options)
        return DONE

    return run_measurement(measure)


def measure_files(shape: Shape, runs: int, folder: Path) -> dict[str, float]:
    """Measure both files in every run, and print a line per run on standard error."""
    large = _write_file(shape, folder / "large.dat")
    small = _write_file(replace(shape, rows=max(1, shape.rows // SMALLER)), folder / "small.dat")
    for run_no in range(runs):
        large.measure(read_first=bool(run_no % 2))
        small.measure(read_first=bool(run_no % 2))
        print(f"run {run_no + 1} of {runs}", file=sys.stderr)
    return {
        "vs_csv_reader": large.ratio("seconds"),
        "vs_csv_in_memory": large.ratio("reading_s"),
        "mb_per_s": large.mb_per_s,
        "peak_mb": large.peak_mb,
        "peak_mb_small": small.peak_mb,
        "rows": large.rows,
        "bytes": large.path.stat().st_size,
        "rows_small": small.rows,
        "runs": runs,
    }


def _write_file(shape: Shape, path: Path) -> MeasuredFile:
    print(f"writing {shape.rows} rows", file=sys.stderr)
    shape.write(path)
    return MeasuredFile(path, shape.rows)


def _run_pass(rows: int, environment: dict[str, str], *arguments: str) -> Measured:
    command = [sys.executable, "-m", "benchmarks.imports.one_pass", *arguments]
    variables = {**_ENVIRONMENT, **os.environ, **environment}
    try:
        done = subprocess.run(  # noqa: S603 - our own module and file
            command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as exc:
        raise BenchmarkError(f"a pass took longer than {_TIMEOUT_S} s") from exc
    if done.returncode:
        raise BenchmarkError(f"a pass failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    result: Measured = json.loads(done.stdout.splitlines()[-1])
    if result["rows_seen"] != rows:
        raise BenchmarkError(f"{arguments[0]} found {result['rows_seen']} rows of {rows}")
    return result


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(
        "python -m benchmarks.split_rate", None, _DESCRIPTION, _EPILOG, formatter_class=keep, allow_abbrev=False
    )
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_baseline(made)
    for name, least, most, default, meaning in (
        ("rows", 1, 20_000_000, 300_000, f"rows of the larger file; the smaller one has a {SMALLER}th"),
        ("columns", 0, 200, Shape().columns, "columns with properties, in addition to ten others"),
        ("text", 1, 10_000, Shape().text, "characters of long values"),
    ):
        description = f"{meaning} (default: {default})"
        made.add_argument(f"--{name}", type=number(least, most), default=default, metavar="N", help=description)
    made.add_argument("--runs", type=count, default=3, metavar="N", help="number of runs (default: %(default)s)")
    made.add_argument("--scale", action="store_true", help=f"use {SCALE_ROWS} rows instead of --rows")
    return made


if __name__ == "__main__":
    run_command(main)
