"""The import and its baselines, measured in turns.

Guaranteed: each run measures every contender once, in an order that rotates; all of them leave the same number of rows
in each table; a ratio is the median of the runs' ratios, because the speed of a machine changes. Of the import
everything from the first handler's start to the last one's end is timed, of a baseline everything except creating its
tables and preparing its rows.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.database import Database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, ImportRun
from benchmarks.imports.baselines import Baseline, FinishedRows, load_data, measure_baseline, orm_tutorial, pattern_bulk
from benchmarks.imports.invocation import BATCH_SIZE
from benchmarks.imports.usage import Usage, measure_usage
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
    """What each contender took in one run; of the import also the seconds of its parts."""

    usages: Mapping[str, Usage]
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
        finished = self._read_rows(self._import_first()[0].import_id)
        runs = []
        for number in range(count):
            runs.append(self._run(number, finished))
            times = ", ".join(f"{name} {usage.seconds:.2f} s" for name, usage in runs[-1].usages.items())
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

        def import_it() -> Usage:
            done, usage = self._import_first()
            imported.append(done)
            _check_counts(self.application.database, done, finished)
            return usage

        contenders: dict[str, Callable[[], Usage]] = {
            OURS: import_it,
            AGAIN: self._import_again,
            **{
                name: partial(measure_baseline, baseline, self.application.database, finished)
                for name, baseline in self.baselines.items()
            },
        }
        usages = {}
        for name in rotate(list(contenders), number):
            gc.collect()
            usages[name] = contenders[name]()
        return Run({name: usages[name] for name in contenders}, imported[0].start_s, sum(imported[0].chunks_s))

    def _import_first(self) -> tuple[ImportRun, Usage]:
        """Import the file into a new case."""
        self.cases += 1
        done, usage = self._import()
        if done.imported != done.rows:
            raise BenchmarkError(f"{done.unchanged} of {done.rows} rows already existed")
        return done, usage

    def _import_again(self) -> Usage:
        """Import the file again into the last case."""
        done, usage = self._import()
        if done.unchanged != done.rows:
            raise BenchmarkError(f"{done.imported} of {done.rows} existing rows were imported again")
        return usage

    def _import(self) -> tuple[ImportRun, Usage]:
        request, done = self.application.upload(self.path, f"run {self.cases}"), list[ImportRun]()
        usage = measure_usage(
            self.application.database,
            lambda: done.append(self.application.finish(*self.application.start(request))),
        )
        return done[0], usage


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
    """Return the medians, and the medians of the ratios; figures of the server are None if it is on another machine."""
    names = list(runs[0].usages)
    server_vs_load_data = _get_server_ratio(runs, "load_data")
    return {
        **{f"vs_{name}": round(_ratio(runs, name), 4) for name in names if name not in (OURS, AGAIN)},
        "reimport": round(_ratio(runs, AGAIN), 4),
        "rows_per_s": {name: round(rows / _median(runs, name), 1) for name in names},
        "us_per_row": {
            "start_import": round(median(run.start_s for run in runs) * 1e6 / rows, 2),
            "chunks": round(median(run.chunks_s for run in runs) * 1e6 / rows, 2),
        },
        "server_cpu_us": {name: _get_server_us(runs, name, rows) for name in names},
        "server_cpu_vs_load_data": None if server_vs_load_data is None else round(server_vs_load_data, 4),
        "worker_cpu_us_per_row": round(median(run.usages[OURS].process_s for run in runs) * 1e6 / rows, 2),
        "pipelined": BATCH_SIZE > 1,
    }


def table(runs: Sequence[Run], rows: int) -> str:
    """Return a Markdown table with a row per contender."""
    lines = [
        [
            _LABELS.get(name, name),
            f"{rows / _median(runs, name):,.0f}",
            f"{_median(runs, name) * 1e6 / rows:.0f}",
            f"{_get_server_us(runs, name, rows) or '-'}",
            f"{_ratio(runs, name):.2f}",
        ]
        for name in runs[0].usages
    ]
    head = ["", "rows/s", "us per row", "of the server's processor", "the import's rate as a multiple"]
    return markdown(head, lines)


def _ratio(runs: Sequence[Run], name: str) -> float:
    """Return the import's rate as a multiple of that contender's."""
    return median(run.usages[name].seconds / run.usages[OURS].seconds for run in runs)


def _median(runs: Sequence[Run], name: str) -> float:
    return median(run.usages[name].seconds for run in runs)


def _get_server_us(runs: Sequence[Run], name: str, rows: int) -> float | None:
    """Return the median of the server's processor time, in microseconds per row."""
    seconds = [each for run in runs if (each := run.usages[name].server_s) is not None]
    return round(median(seconds) * 1e6 / rows, 1) if seconds else None


def _get_server_ratio(runs: Sequence[Run], name: str) -> float | None:
    """Return the server's processor time for the import as a multiple of that for the contender."""
    pairs = [(run.usages[OURS].server_s, run.usages[name].server_s) for run in runs if name in run.usages]
    ratios = [ours / other for ours, other in pairs if ours is not None and other]
    return median(ratios) if ratios else None
