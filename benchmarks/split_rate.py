"""`python -m benchmarks.split_rate`: how fast the splitting pass is beside csv.reader alone, and in how much memory.

Exit codes: 0 measured, 1 nothing could be measured, 2 the command was called wrongly, 130 interrupted.
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
from benchmarks.errors import BenchmarkError
from benchmarks.imports.load_file import Shape
from benchmarks.imports.range_server import serving
from benchmarks.telling import DONE, ending, run, table

ROOT = Path(__file__).parents[1]
SMALLER = 10
SCALE_ROWS = 1_000_000
_TIMEOUT_S = 600
_REQUIRED = ("BUCKET", "IMPORT_REQUESTS_QUEUE_URL", "IMPORT_CHUNKS_QUEUE_URL", "OUTBOX_NUDGE_QUEUE_URL")
_ENVIRONMENT = {
    **dict.fromkeys((*_REQUIRED, "EVENTS_TOPIC_ARN"), "none"),
    **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "none"),
    "AWS_DEFAULT_REGION": "us-east-1",
}
_DESCRIPTION = f"""\
Measures the splitting pass, which goes over an upload before anything is imported: it finds the records, the chunks and
their hashes, the file's hash, repeated ids and the order of dates. The file comes over HTTP from this machine, by the
ranges that are asked of S3, and the client and its connection are there before the clock starts.
Beside it csv.reader reads the same bytes from a local file and drops the records (strict, the same delimiter and
qualifier): vs_csv_reader. vs_csv_in_memory is against what it takes for lines that are text in memory already, so that
reading, decoding and splitting into lines are at our expense alone. Every pass has a process of
its own, and the two take turns; what is told are the medians of the runs' own ratios. peak_mb is the most memory that
splitting takes above what the imports took; it is measured on a file with a {SMALLER}th of the rows too, for it must
not grow with the file."""
_EPILOG = """\
examples:
  python -m benchmarks.split_rate
      three runs, some half a minute; the table can be pasted into docs/performance.md
  python -m benchmarks.split_rate --rows 50000 --columns 20 --text 200 --runs 9 --json
      longer rows, more exactly; the result as one JSON object
  python -m benchmarks.split_rate --scale
      a million rows, some minutes and 700 MB of disk

Let nobody else use the machine: times are times.
exit status: 0 measured; 1 nothing could be measured; 2 wrong usage; 130 interrupted"""
Told = dict[str, float]


@dataclass(frozen=True)
class Side:
    """One file: what splitting it and reading it took, run by run."""

    path: Path
    rows: int
    splits: list[Told] = field(default_factory=list)
    reads: list[Told] = field(default_factory=list)

    def measure(self, *, read_first: bool) -> None:
        """One run more; raises BenchmarkError unless every row is found."""
        passes: list[Callable[[], None]] = [self._split, self._read]
        for each in reversed(passes) if read_first else passes:
            each()

    def _split(self) -> None:
        with serving(self.path) as address:
            self.splits.append(_passed(self.rows, {"AWS_ENDPOINT_URL": address}, "split"))

    def _read(self) -> None:
        self.reads.append(_passed(self.rows, {}, "csv", str(self.path)))

    @property
    def peak_mb(self) -> float:
        """Megabytes above the imports."""
        return round(median(told["peak"] - told["before"] for told in self.splits) / 1e6, 1)

    def ratio(self, what: str) -> float:
        """How many times as fast as the reader the split is: the median of the runs'."""
        both = zip(self.splits, self.reads, strict=True)
        return round(median(read[what] / split["seconds"] for split, read in both), 3)

    @property
    def mb_per_s(self) -> float:
        """Of the split."""
        return round(self.path.stat().st_size / 1e6 / median(told["seconds"] for told in self.splits), 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; gives the exit code."""
    options = _parser().parse_args(arguments)
    shape = Shape(SCALE_ROWS if options.scale else options.rows, options.columns, text=options.text)

    def measure() -> int:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            said = measured(shape, options.runs, Path(folder))
        shown = [["", *said], ["splitting", *map(str, said.values())]]
        print(json.dumps(said) if options.json else table(shown[0], shown[1:]))
        return DONE

    return ending(measure)


def measured(shape: Shape, runs: int, folder: Path) -> dict[str, float]:
    """So many runs of both files; a line on standard error for each."""
    large = _written(shape, folder / "large.dat")
    small = _written(replace(shape, rows=max(1, shape.rows // SMALLER)), folder / "small.dat")
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


def _written(shape: Shape, path: Path) -> Side:
    print(f"writing {shape.rows} rows", file=sys.stderr)
    shape.write(path)
    return Side(path, shape.rows)


def _passed(rows: int, environment: dict[str, str], *what: str) -> Told:
    command = [sys.executable, "-m", "benchmarks.imports.one_pass", *what]
    surroundings = {**_ENVIRONMENT, **os.environ, **environment}
    try:
        done = subprocess.run(  # noqa: S603 - our own module, and a file of ours
            command, cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as exc:
        raise BenchmarkError(f"a pass took longer than {_TIMEOUT_S} s") from exc
    if done.returncode:
        raise BenchmarkError(f"a pass failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    told: Told = json.loads(done.stdout.splitlines()[-1])
    if told["rows_seen"] != rows:
        raise BenchmarkError(f"{what[0]} found {told['rows_seen']} rows of {rows}")
    return told


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser("python -m benchmarks.split_rate", None, _DESCRIPTION, _EPILOG, formatter_class=keep)
    made.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    for name, least, most, default, meaning in (
        ("rows", 1, 20_000_000, 300_000, f"of the larger file; the other one has a {SMALLER}th"),
        ("columns", 0, 200, Shape().columns, "with properties, beside ten others"),
        ("text", 1, 10_000, Shape().text, "characters of a longer value"),
    ):
        said = f"{meaning} (default: {default})"
        made.add_argument(f"--{name}", type=number(least, most), default=default, metavar="N", help=said)
    made.add_argument("--runs", type=count, default=3, metavar="N", help="how often (default: %(default)s)")
    made.add_argument("--scale", action="store_true", help=f"{SCALE_ROWS} rows instead of --rows")
    return made


if __name__ == "__main__":
    run(main)
