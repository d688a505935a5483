"""The import and its baselines, measured in turns.

Guaranteed: each run measures every contender once, in an order that rotates; all of them leave the same number of rows
in each table; a ratio is the median of the runs' ratios, because the speed of a machine changes. Of the import the
handlers are timed, of a baseline everything except creating its tables and preparing its rows.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.database import Database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, ImportRun
from benchmarks.imports.baselines import Baseline, FinishedRows, load_data, orm_tutorial, pattern_bulk, time_baseline
from benchmarks.output import table as markdown

OURS, AGAIN = "ours", "reimport"
BASELINES: Mapping[str, Baseline] = {"load_data": load_data, "pattern_bulk": pattern_bulk, "orm": orm_tutorial}
_LABELS = {
    OURS: "the import (handlers, from the file)",
    AGAIN: "import of the same file again",
    "load_data": "LOAD DATA of finished rows",
    "pattern_bulk": "bulk code of the published pattern",
    "orm": "SQLAlchemy's ORM, an object per row",
}
_LINKS = (
    "SELECT (SELECT COUNT(*) FROM custodian_exhibits JOIN exhibits ON exhibits.id = exhibit_id WHERE import_id = :id), "
    "(SELECT COUNT(*) FROM taggings JOIN exhibits ON exhibits.id = exhibit_id WHERE import_id = :id)"
)


@dataclass(frozen=True)
class Run:
    """The seconds of each contender in one run; of the import also those of its parts."""

    seconds: Mapping[str, float]
    start_s: float
    chunks_s: float


@dataclass
class Contenders:
    """One file, imported into a new case in each run, and the baselines that write its rows."""

    application: Application
    path: Path
    folder: Path
    baselines: Mapping[str, Baseline] = field(default_factory=lambda: BASELINES)
    cases: int = 0

    def runs(self, count: int) -> list[Run]:
        """Measure `count` runs and print a line per run on standard error.

        An import before the first run gives the baselines their rows.
        """
        finished = self._read_rows(self._import_first().import_id)
        runs = []
        for number in range(count):
            runs.append(self._run(number, finished))
            times = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in runs[-1].seconds.items())
            print(f"run {number + 1} of {count}: {times}", file=sys.stderr)
        return runs

    def _read_rows(self, import_id: int) -> FinishedRows:
        finished = FinishedRows.read(self.application.database, import_id, self.folder)
        # The garbage collector must not scan these rows during a measurement.
        gc.collect()
        gc.freeze()
        return finished

    def _run(self, number: int, finished: FinishedRows) -> Run:
        imported: list[ImportRun] = []

        def import_it() -> float:
            imported.append(self._import_first())
            _check_counts(self.application.database, imported[0], finished)
            return imported[0].seconds

        def build_timer(baseline: Baseline) -> Callable[[], float]:
            return lambda: time_baseline(baseline, self.application.database, finished)

        contenders = {
            OURS: import_it,
            AGAIN: self._import_again,
            **{name: build_timer(baseline) for name, baseline in self.baselines.items()},
        }
        seconds = {}
        for name in rotate(list(contenders), number):
            gc.collect()
            seconds[name] = contenders[name]()
        return Run({name: seconds[name] for name in contenders}, imported[0].start_s, sum(imported[0].chunks_s))

    def _import_first(self) -> ImportRun:
        """Import the file into a new case."""
        self.cases += 1
        done = self.application.run(self.path, f"run {self.cases}")
        if done.imported != done.rows:
            raise BenchmarkError(f"{done.unchanged} of {done.rows} rows already existed")
        return done

    def _import_again(self) -> float:
        """Import the file again into the last case."""
        done = self.application.run(self.path, f"run {self.cases}")
        if done.unchanged != done.rows:
            raise BenchmarkError(f"{done.imported} of {done.rows} existing rows were imported again")
        return done.seconds


def rotate(names: Sequence[str], number: int) -> list[str]:
    """Return the names in the order of a run: in as many runs as names, each name is first once."""
    first = number % len(names)
    return [*names[first:], *names[:first]]


def _check_counts(database: Database, imported: ImportRun, finished: FinishedRows) -> None:
    links = [len(finished.rows[table]) for table in ("custodian_exhibits", "taggings")]
    counts = list(database.query(_LINKS, id=imported.import_id)[0])
    if [imported.imported, *counts] != [len(finished.rows["exhibits"]), *links]:
        raise BenchmarkError(
            f"an import left {imported.imported} exhibits and {counts} links, but the first one {links} links"
        )


def report(runs: Sequence[Run], rows: int) -> dict[str, object]:
    """Return the medians, and the medians of the ratios."""
    return {
        **{f"vs_{name}": round(_ratio(runs, name), 4) for name in runs[0].seconds if name not in (OURS, AGAIN)},
        "reimport": round(_ratio(runs, AGAIN), 4),
        "rows_per_s": {name: round(rows / _median(runs, name), 1) for name in runs[0].seconds},
        "us_per_row": {
            "start_import": round(median(run.start_s for run in runs) * 1e6 / rows, 2),
            "chunks": round(median(run.chunks_s for run in runs) * 1e6 / rows, 2),
        },
    }


def table(runs: Sequence[Run], rows: int) -> str:
    """Return a Markdown table with a row per contender."""
    lines = [
        [
            _LABELS.get(name, name),
            f"{rows / _median(runs, name):,.0f}",
            f"{_median(runs, name) * 1e6 / rows:.0f}",
            f"{_ratio(runs, name):.2f}",
        ]
        for name in runs[0].seconds
    ]
    return markdown(["", "rows/s", "us per row", "the import's rate as a multiple"], lines)


def _ratio(runs: Sequence[Run], name: str) -> float:
    """Return the import's rate as a multiple of that contender's."""
    return median(run.seconds[name] / run.seconds[OURS] for run in runs)


def _median(runs: Sequence[Run], name: str) -> float:
    return median(run.seconds[name] for run in runs)
