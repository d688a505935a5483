"""An import and the other ways of bringing its rows into tables, in turns, run after run.

Guaranteed: in each run every side is measured once, in an order that rotates; all that write left as many rows of each
table; a ratio is the median of the runs' ratios, for a machine is not as fast all the time. What is timed of ours is
the handlers, and of another side everything but its tables and the preparation of its rows.
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
from benchmarks.imports.application import Application, Imported
from benchmarks.imports.rivals import Finished, Rival, load_data, pattern_bulk, plain_orm, seconds_of
from benchmarks.telling import table as markdown

OURS, AGAIN = "ours", "reimport"
RIVALS: Mapping[str, Rival] = {"load_data": load_data, "pattern_bulk": pattern_bulk, "orm": plain_orm}
_CALLED = {
    OURS: "the import: its handlers, from the file",
    AGAIN: "the same file again",
    "load_data": "LOAD DATA of finished rows",
    "pattern_bulk": "the published pattern's bulk code",
    "orm": "SQLAlchemy's ORM, an object a row",
}
_LINKS = (
    "SELECT (SELECT COUNT(*) FROM custodian_exhibits JOIN exhibits ON exhibits.id = exhibit_id WHERE import_id = :id), "
    "(SELECT COUNT(*) FROM taggings JOIN exhibits ON exhibits.id = exhibit_id WHERE import_id = :id)"
)


@dataclass(frozen=True)
class Run:
    """Seconds of each side; of ours also of its parts."""

    seconds: Mapping[str, float]
    start_s: float
    chunks_s: float


@dataclass
class Sides:
    """One file, imported into a fresh case in each run."""

    application: Application
    path: Path
    folder: Path
    rivals: Mapping[str, Rival] = field(default_factory=lambda: RIVALS)
    cases: int = 0

    def runs(self, count: int) -> list[Run]:
        """So many, after an import that gives the others their rows; a line on standard error each."""
        finished = self._finished(self._first().import_id)
        found = []
        for number in range(count):
            found.append(self._run(number, finished))
            said = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in found[-1].seconds.items())
            print(f"run {number + 1} of {count}: {said}", file=sys.stderr)
        return found

    def _finished(self, import_id: int) -> Finished:
        finished = Finished.of(self.application.database, import_id, self.folder)
        # Nobody is to be slowed down by a collector that goes over the rows of the others.
        gc.collect()
        gc.freeze()
        return finished

    def _run(self, number: int, finished: Finished) -> Run:
        ours: list[Imported] = []

        def import_it() -> float:
            ours.append(self._first())
            _same(self.application.database, ours[0], finished)
            return ours[0].seconds

        def rivalling(rival: Rival) -> Callable[[], float]:
            return lambda: seconds_of(rival, self.application.database, finished)

        ways = {OURS: import_it, AGAIN: self._again, **{name: rivalling(rival) for name, rival in self.rivals.items()}}
        seconds = {}
        for name in rotated(list(ways), number):
            gc.collect()
            seconds[name] = ways[name]()
        return Run({name: seconds[name] for name in ways}, ours[0].start_s, sum(ours[0].chunks_s))

    def _first(self) -> Imported:
        """Import the file into a case of its own."""
        self.cases += 1
        done = self.application.run(self.path, f"run {self.cases}")
        if done.imported != done.rows:
            raise BenchmarkError(f"{done.unchanged} of {done.rows} rows were there before")
        return done

    def _again(self) -> float:
        """Import it once more into the case that got it last."""
        done = self.application.run(self.path, f"run {self.cases}")
        if done.unchanged != done.rows:
            raise BenchmarkError(f"{done.imported} of {done.rows} rows that were there were imported again")
        return done.seconds


def rotated(names: Sequence[str], number: int) -> list[str]:
    """Their order in that run: each is first once in as many runs as there are names."""
    first = number % len(names)
    return [*names[first:], *names[:first]]


def _same(database: Database, ours: Imported, finished: Finished) -> None:
    links = [len(finished.rows[table]) for table in ("custodian_exhibits", "taggings")]
    held = list(database.query(_LINKS, id=ours.import_id)[0])
    if [ours.imported, *held] != [len(finished.rows["exhibits"]), *links]:
        raise BenchmarkError(f"an import left {ours.imported} exhibits with {held} links; the first one had {links}")


def report(runs: Sequence[Run], rows: int) -> dict[str, object]:
    """The medians, and the medians of the ratios."""
    return {
        **{f"vs_{name}": round(_times(runs, name), 4) for name in runs[0].seconds if name not in (OURS, AGAIN)},
        "reimport": round(_times(runs, AGAIN), 4),
        "rows_per_s": {name: round(rows / _median(runs, name), 1) for name in runs[0].seconds},
        "us_per_row": {
            "start_import": round(median(run.start_s for run in runs) * 1e6 / rows, 2),
            "chunks": round(median(run.chunks_s for run in runs) * 1e6 / rows, 2),
        },
    }


def table(runs: Sequence[Run], rows: int) -> str:
    """As Markdown, a side a row."""
    lines = [
        [
            _CALLED.get(name, name),
            f"{rows / _median(runs, name):,.0f}",
            f"{_median(runs, name) * 1e6 / rows:.0f}",
            f"{_times(runs, name):.2f}",
        ]
        for name in runs[0].seconds
    ]
    return markdown(["", "rows a second", "us a row", "the import's rate as a multiple"], lines)


def _times(runs: Sequence[Run], name: str) -> float:
    """Our rows a second as a multiple of that side's; in other words, its seconds as a multiple of ours."""
    return median(run.seconds[name] / run.seconds[OURS] for run in runs)


def _median(runs: Sequence[Run], name: str) -> float:
    return median(run.seconds[name] for run in runs)
