"""Rounds of workers that import one file into one case: the application's, then the pattern's, in turns.

Guaranteed: every cell begins with a fresh case, or with fresh tables; the counters of the server are read right before
the workers begin and right after they end; afterwards the rows and links that are stored are compared with the file.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from sqlalchemy import create_engine, make_url

from benchmarks.database import Database
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application
from benchmarks.imports.contending import Contender, Job, Ours, Pattern, Setting, Work, deliver
from benchmarks.imports.contention_figures import Counters, Figures, Side
from benchmarks.imports.load_file import Shape
from benchmarks.imports.rivals import Finished, own_tables
from benchmarks.processes import Workers
from shell.settings import settings

_WARM_ROWS = 20
_STORED = (
    "SELECT COUNT(*) FROM exhibits WHERE case_id = :case_id",
    "SELECT COUNT(*) FROM custodian_exhibits JOIN exhibits ON exhibits.id = exhibit_id WHERE case_id = :case_id",
    "SELECT COUNT(*) FROM taggings JOIN exhibits ON exhibits.id = exhibit_id WHERE case_id = :case_id",
)
_TABLES = ("exhibits", "custodian_exhibits", "taggings")
_IMPORTED = "SELECT case_id, imported FROM imports WHERE id = :import_id"


@dataclass(frozen=True)
class Size:
    """Of the file, and of its chunks."""

    # The pattern gets one row of so many: it takes that much longer.
    PATTERN_SHARE: ClassVar[int] = 2
    rows: int
    chunk_rows: int

    @property
    def pattern_rows(self) -> int:
        """What the pattern is given: whole chunks, where there is one."""
        whole = self.rows // self.PATTERN_SHARE // self.chunk_rows * self.chunk_rows
        return whole or min(self.rows, self.chunk_rows)


@dataclass(frozen=True)
class HotFile:
    """A file whose few names are on every row, and what must be stored of it: exhibits, and links of each kind."""

    path: Path
    shape: Shape
    stored: Sequence[int]


def hot_file(folder: Path, size: Size) -> HotFile:
    """Write it, and count what its rows name; of the bytes, and not as the application reads them."""
    shape, path = Shape(rows=size.rows, custodians=5, tags=8), folder / "hot.dat"
    shape.write(path)
    head, *rows = [line.split("\x14") for line in path.read_text(encoding="utf-8-sig").splitlines()]
    custodians, tags = (head.index(f"\xfe{name}\xfe") for name in ("Custodian", "Tags"))
    links = (sum(row[column].count("; ") + 1 for row in rows) for column in (custodians, tags))
    return HotFile(path, shape, [len(rows), *links])


@dataclass
class Contest:
    """Who imports what, and the figures so far; `missing` are rows and links of ours that are not as they must be."""

    contender: Contender
    workers: Workers[Job, Work]
    application: Application
    file: HotFile
    size: Size
    rounds: dict[tuple[int, Side], list[Figures]] = field(default_factory=dict)
    missing: int = 0
    finished: Finished = field(init=False)

    def warm_up(self, count: int) -> None:
        """Have so many workers connected, and everything executed once; gives them what the pattern imports."""
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder, own_tables(self.application.database) as url:
            self.finished = self._finished(Path(folder))
            warm = Path(folder) / "warm.dat"
            replace(self.file.shape, rows=_WARM_ROWS * count).write(warm)
            job = self._started(warm, _WARM_ROWS)
            given, numbers = (self.application.environment, self.finished.chunks), enumerate(job.chunks, start=1)
            self.workers.work([Setting(*given, each, job.import_id, chunk_no, url) for each, chunk_no in numbers])

    def _finished(self, folder: Path) -> Finished:
        """What the application makes of the first rows, for the pattern."""
        first = folder / "first.dat"
        replace(self.file.shape, rows=self.size.pattern_rows).write(first)
        job = self._started(first, self.size.chunk_rows)
        if not all(deliver(job.import_id, chunk_no) for chunk_no in job.chunks):
            raise BenchmarkError("the application could not import the rows that the pattern is to be given")
        return Finished.of(self.application.database, job.import_id, folder, self.size.chunk_rows)

    def round(self, counts: Sequence[int], number: int) -> Iterator[str]:
        """Every cell once; in every other round the pattern goes first. Says what was measured."""
        sides = {Side.OURS: self._ours, Side.PATTERN: self._pattern}
        for workers, side in itertools.product(counts, list(Side) if number % 2 == 0 else reversed(Side)):
            figures = sides[side](workers)
            self.rounds.setdefault((workers, side), []).append(figures)
            yield f"workers: {workers}, {side}: {figures.rows_per_s:.0f} rows/s, {figures.deadlocks} deadlocks"

    def _ours(self, workers: int) -> Figures:
        job = self._started(self.file.path, self.size.chunk_rows)
        figures = self._together(self.size.rows, [job] * workers)
        database = self.application.database
        case_id, imported = database.query(_IMPORTED, import_id=job.import_id)[0]
        found = (imported, *_stored(database, case_id))
        self.missing += _apart(found, (self.size.rows, *self.file.stored))
        return figures

    def _pattern(self, workers: int) -> Figures:
        given = [len(self.finished.rows[table]) for table in _TABLES]
        with own_tables(self.application.database) as url:
            figures = self._together(self.size.pattern_rows, [Pattern(url)] * workers)
            if apart := _apart(_stored_at(url), given):
                raise BenchmarkError(f"the pattern left {apart} rows or links that are not what it was given")
        return figures

    def _together(self, rows: int, jobs: Sequence[Job]) -> Figures:
        self.contender.rewind()
        self.workers.prepare(jobs)
        before = Counters.of(self.application.database)
        works = self.workers.begin(len(jobs))
        return Figures.of(rows, works, Counters.of(self.application.database).since(before))

    def _started(self, path: Path, chunk_rows: int) -> Ours:
        """An import into a fresh case, split."""
        os.environ["CHUNK_ROWS"] = str(chunk_rows)
        settings.cache_clear()
        import_id, _ = self.application.start(self.application.upload(path, f"contention-{time.monotonic_ns()}"))
        return Ours(import_id, self.application.pending(import_id))


def _stored(database: Database, case_id: int) -> tuple[int, ...]:
    """A case's exhibits, links to custodians, links to tags."""
    return tuple(int(database.query(statement, case_id=case_id)[0][0]) for statement in _STORED)


def _stored_at(url: str) -> tuple[int, ...]:
    """The same of the only case in that schema."""
    made = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        theirs = Database(make_url(url), made)
        return _stored(theirs, int(theirs.query("SELECT MIN(case_id) FROM exhibits")[0][0]))
    finally:
        made.dispose()


def _apart(found: Sequence[int], wanted: Sequence[int]) -> int:
    return sum(abs(one - other) for one, other in zip(found, wanted, strict=True))
