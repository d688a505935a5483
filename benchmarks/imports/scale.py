"""How the cost of a row grows with the file, with what the case holds, and with how many rows share a name.

A large import is measured against small ones into fresh cases. Raw, these are made before it: the ratio then holds how
much the machine drifted meanwhile. Interleaved, they take turns with the last stretches of the large one, and the ratio
is the median of the turns' own: both work on the same full tables. Names that a fresh case lacks are part of a small
import's cost. All figures are the time of handlers.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, Imported
from benchmarks.imports.load_file import Shape
from benchmarks.imports.memory import peak_mb

SMALL = 10_000
TURNS, BEFORE, FULL = 10, 3, 5
# Chunks that are imported by a process whose memory is measured.
_WEIGHED, _FEWEST = 2, 2
_LARGE = "large"
_ROWS = "SELECT chunk_no, row_count FROM import_chunks WHERE import_id = :import_id AND status = 'pending' ORDER BY 1"


@dataclass(frozen=True)
class Cost:
    """Microseconds a row."""

    start: float
    chunks: float

    @classmethod
    def of(cls, imported: Imported) -> Cost:
        """Of a whole import."""
        return cls(*(seconds * 1e6 / imported.rows for seconds in (imported.start_s, sum(imported.chunks_s))))

    @property
    def whole(self) -> float:
        """Of both handlers."""
        return self.start + self.chunks


@dataclass(frozen=True)
class Turn:
    """A stretch of what is measured, and a small import into a fresh case that followed it."""

    measured: Cost
    small: Cost


@dataclass(frozen=True)
class Growth:
    """Many rows of one kind against few: small imports before, all of the many, and the two in turns."""

    rows: int
    small_rows: int
    before: Cost
    many: Cost
    turns: Sequence[Turn]
    memory: dict[str, float | None] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """A row of many to a row of few, of chunks, measured at about the same time."""
        return median(turn.measured.chunks / turn.small.chunks for turn in self.turns)

    def in_turns(self) -> tuple[Cost, Cost]:
        """Of few and of many rows, where both were measured at about the same time."""
        return together([turn.small for turn in self.turns]), together([turn.measured for turn in self.turns])

    def ratios(self) -> dict[str, float]:
        """In turns and raw, of chunks alone and with the splitting of the file."""
        return {
            "ratio": self.ratio,
            "ratio_with_start": median(turn.measured.whole / turn.small.whole for turn in self.turns),
            "raw": self.many.chunks / self.before.chunks,
            "raw_with_start": self.many.whole / self.before.whole,
        }

    def report(self) -> dict[str, object]:
        """The ratios, what they are made of, and memory."""
        few, many = self.in_turns()
        costs = {"small_before": self.before, "all": self.many, "small_in_turns": few, "in_turns": many}
        shown = {name: {"start_import": round(c.start, 2), "chunks": round(c.chunks, 2)} for name, c in costs.items()}
        rounded = {name: round(value, 3) for name, value in self.ratios().items()}
        return {"rows": self.rows, "small_rows": self.small_rows, **rounded, "us_per_row": shown, **self.memory}


def together(costs: Sequence[Cost]) -> Cost:
    """Their medians."""
    return Cost(median(cost.start for cost in costs), median(cost.chunks for cost in costs))


@dataclass
class Scale:
    """A large file of that shape, and small ones."""

    application: Application
    folder: Path
    shape: Shape
    _cases: Iterator[int] = field(default_factory=itertools.count)

    @property
    def small(self) -> int:
        """Rows of a small import: no more than a tenth of the large one."""
        return max(1, min(SMALL, self.shape.rows // 10))

    def large_file(self, *, weigh: bool = True) -> Growth:
        """Import the large file, and small ones before it and between its last stretches; `weigh` a chunk of either."""
        before = together([self._fresh() for _ in range(BEFORE)])
        _say(f"{BEFORE} imports of {self.small} rows: {before.whole:.0f} us a row")
        import_id, start_s = self._start(self.shape, _LARGE)
        start = start_s * 1e6 / self.shape.rows
        # What is weighed is imported by another process, and is not among what is timed.
        memory = {"peak_mb": self._weighed(import_id), "small_peak_mb": self._weighed_small()} if weigh else {}
        chunks, turns = self._chunks(import_id, start)
        done = self.application.finish(import_id, start_s)
        return Growth(done.rows, self.small, before, Cost(start, chunks), turns, memory)

    def _chunks(self, import_id: int, start: float) -> tuple[float, list[Turn]]:
        """What a row of all pending chunks costs, and the turns."""
        chunks = [(row[0], row[1]) for row in self.application.database.query(_ROWS, import_id=import_id)]
        if len(chunks) < _FEWEST:
            raise BenchmarkError(f"{len(chunks)} chunks are too few to show how cost grows")
        length = max(1, self.small // chunks[0][1])
        stretches = [chunks[first : first + length] for first in range(0, len(chunks), length)]
        alone = max(len(stretches) - TURNS, len(stretches) // 2)
        seconds, turns = list[float](), list[Turn]()
        for number, stretch in enumerate(stretches):
            seconds.append(sum(self.application.chunk(import_id, chunk_no) for chunk_no, _ in stretch))
            cost = seconds[-1] * 1e6 / sum(rows for _, rows in stretch)
            if number >= alone:
                turns.append(Turn(Cost(start, cost), self._fresh()))
            if number % 10 == 9 or number == len(stretches) - 1:
                _say(f"stretch {number + 1} of {len(stretches)}: {cost:.0f} us a row")
        return sum(seconds) * 1e6 / sum(rows for _, rows in chunks), turns

    def full_case(self, large: Growth) -> Growth:
        """Small imports of fresh rows into the case of the large one, in turns with those into fresh cases."""
        turns = []
        for number in range(FULL):
            shape = self._of(self.small, f"{self.shape.prefix}{number}")
            turns.append(Turn(self._imported(shape, _LARGE), self._fresh()))
        full = together([turn.measured for turn in turns])
        return Growth(large.rows, self.small, large.before, full, turns)

    def _fresh(self) -> Cost:
        """A small import into a case of its own."""
        return self._imported(self._of(self.small), f"small {next(self._cases)}")

    def _of(self, rows: int, prefix: str | None = None) -> Shape:
        return dataclasses.replace(self.shape, rows=rows, prefix=prefix or self.shape.prefix)

    def _imported(self, shape: Shape, case: str) -> Cost:
        return Cost.of(self.application.finish(*self._start(shape, case)))

    def _start(self, shape: Shape, case: str) -> tuple[int, float]:
        path = self.folder / f"{shape.prefix}-{shape.rows}.dat"
        shape.write(path)
        try:
            return self.application.start(self.application.upload(path, case))
        finally:
            path.unlink()

    def _weighed(self, import_id: int) -> float | None:
        return peak_mb(self.application.environment, import_id, self.application.pending(import_id)[:_WEIGHED])

    def _weighed_small(self) -> float | None:
        return self._weighed(self._start(self._of(self.small), f"small {next(self._cases)}")[0])


def _say(line: str) -> None:
    print(line, file=sys.stderr)
