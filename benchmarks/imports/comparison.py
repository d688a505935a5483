"""Comparison of concurrent workers that import one file into one case: the application and the pattern, in turns.

Guaranteed: every cell starts with a new case or with new tables; the server's counters are read immediately before the
workers start and after they end; then the stored rows and links are compared with the file.
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
from benchmarks.imports.baselines import FinishedRows, temporary_tables
from benchmarks.imports.contention_figures import Contender, Counters, Figures
from benchmarks.imports.contention_worker import ContentionWorker, Job, OurJob, PatternJob, Setup, WorkResult, deliver
from benchmarks.imports.load_file import Shape
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
    """The number of rows of the file and of its chunks."""

    # The pattern imports one row in so many, because it is slower.
    PATTERN_SHARE: ClassVar[int] = 2
    rows: int
    chunk_rows: int

    @property
    def pattern_rows(self) -> int:
        """Return the rows that the pattern imports: whole chunks, if there is at least one."""
        whole = self.rows // self.PATTERN_SHARE // self.chunk_rows * self.chunk_rows
        return whole or min(self.rows, self.chunk_rows)


@dataclass(frozen=True)
class HotFile:
    """A file with a few names on every row, and the expected counts: exhibits, custodian links, tag links."""

    path: Path
    shape: Shape
    stored: Sequence[int]


def write_hot_file(folder: Path, size: Size) -> HotFile:
    """Write the file and count the names of its rows, independently of the application's parser."""
    shape, path = Shape(rows=size.rows, custodians=5, tags=8), folder / "hot.dat"
    shape.write(path)
    head, *rows = [line.split("\x14") for line in path.read_text(encoding="utf-8-sig").splitlines()]
    custodians, tags = (head.index(f"\xfe{name}\xfe") for name in ("Custodian", "Tags"))
    links = (sum(row[column].count("; ") + 1 for row in rows) for column in (custodians, tags))
    return HotFile(path, shape, [len(rows), *links])


@dataclass
class Comparison:
    """The workers, the file and the figures; `missing` counts missing and surplus rows and links of the application."""

    worker: ContentionWorker
    workers: Workers[Job, WorkResult]
    application: Application
    file: HotFile
    size: Size
    rounds: dict[tuple[int, Contender], list[Figures]] = field(default_factory=dict)
    missing: int = 0
    finished: FinishedRows = field(init=False)

    def warm_up(self, count: int) -> None:
        """Connect `count` workers, send them the pattern's rows and execute every statement once."""
        with (
            tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
            temporary_tables(self.application.database) as url,
        ):
            self.finished = self._read_rows(Path(folder))
            warm = Path(folder) / "warm.dat"
            replace(self.file.shape, rows=_WARM_ROWS * count).write(warm)
            job = self._start_import(warm, _WARM_ROWS)
            common, numbers = (self.application.environment, self.finished.chunks), enumerate(job.chunks, start=1)
            self.workers.work([Setup(*common, each, job.import_id, chunk_no, url) for each, chunk_no in numbers])

    def _read_rows(self, folder: Path) -> FinishedRows:
        """Import the first rows with the application and return the resulting rows, for the pattern."""
        first = folder / "first.dat"
        replace(self.file.shape, rows=self.size.pattern_rows).write(first)
        job = self._start_import(first, self.size.chunk_rows)
        if not all(deliver(job.import_id, chunk_no) for chunk_no in job.chunks):
            raise BenchmarkError("the application could not import the rows for the pattern")
        return FinishedRows.read(self.application.database, job.import_id, folder, self.size.chunk_rows)

    def round(self, counts: Sequence[int], number: int) -> Iterator[str]:
        """Measure every cell once, in every other round the pattern first; yield a line per cell."""
        measure = {Contender.OURS: self._measure_application, Contender.PATTERN: self._measure_pattern}
        order = list(Contender) if number % 2 == 0 else reversed(Contender)
        for workers, contender in itertools.product(counts, order):
            figures = measure[contender](workers)
            self.rounds.setdefault((workers, contender), []).append(figures)
            yield f"workers: {workers}, {contender}: {figures.rows_per_s:.0f} rows/s, {figures.deadlocks} deadlocks"

    def _measure_application(self, workers: int) -> Figures:
        job = self._start_import(self.file.path, self.size.chunk_rows)
        figures = self._run(self.size.rows, [job] * workers)
        self.application.complete(job.import_id)
        database = self.application.database
        case_id, imported = database.query(_IMPORTED, import_id=job.import_id)[0]
        counts = (imported, *_count_stored(database, case_id))
        self.missing += _difference(counts, (self.size.rows, *self.file.stored))
        return figures

    def _measure_pattern(self, workers: int) -> Figures:
        expected = [len(self.finished.rows[table]) for table in _TABLES]
        with temporary_tables(self.application.database) as url:
            figures = self._run(self.size.pattern_rows, [PatternJob(url)] * workers)
            if difference := _difference(_count_stored_at(url), expected):
                raise BenchmarkError(f"the pattern left {difference} missing or surplus rows or links")
        return figures

    def _run(self, rows: int, jobs: Sequence[Job]) -> Figures:
        self.worker.rewind()
        self.workers.prepare(jobs)
        before = Counters.read(self.application.database)
        works = self.workers.start(len(jobs))
        return Figures.build(rows, works, Counters.read(self.application.database).since(before))

    def _start_import(self, path: Path, chunk_rows: int) -> OurJob:
        """Start an import into a new case: upload and split the file."""
        os.environ["CHUNK_ROWS"] = str(chunk_rows)
        settings.cache_clear()
        import_id, _ = self.application.start(self.application.upload(path, f"contention-{time.monotonic_ns()}"))
        return OurJob(import_id, self.application.pending(import_id))


def _count_stored(database: Database, case_id: int) -> tuple[int, ...]:
    """Return the numbers of a case's exhibits, custodian links and tag links."""
    return tuple(int(database.query(statement, case_id=case_id)[0][0]) for statement in _STORED)


def _count_stored_at(url: str) -> tuple[int, ...]:
    """Return the same numbers of the only case in that schema."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        copy = Database(make_url(url), engine)
        return _count_stored(copy, int(copy.query("SELECT MIN(case_id) FROM exhibits")[0][0]))
    finally:
        engine.dispose()


def _difference(counts: Sequence[int], expected: Sequence[int]) -> int:
    return sum(abs(one - other) for one, other in zip(counts, expected, strict=True))
