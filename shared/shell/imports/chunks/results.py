"""What a chunk's rows leave behind beside exhibits: rejections, warnings, where names were seen, and events.

Guaranteed: nothing here depends on what other chunks have done so far; events have counts and never content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from core.events import Event, rows_changed
from core.load_file.encoding import readable
from core.reasons import WarningCode
from core.rows import Loss, Name, Problem
from shell.completion_ops import REJECTION_COLUMNS, Counts
from shell.fitting_ops import FittedRow
from shell.outbox_ops import append_events
from shell.tables.chunks import ImportChunks
from shell.utils.bulk_insert import insert_new

MAX_ORIGINAL_BYTES = 1024
KINDS = ("custodians", "tags")
WARNING_COLUMNS = (
    *("import_id", "line_no", "seq", "chunk_no", "column_name", "code", "message", "control_number"),
    *("original", "original_bytes", "stored_bytes", "byte_start", "byte_len"),
)
NAME_COLUMNS = ("import_id", "chunk_no", "seq", "kind", "name", "line_no", "column_name")


@dataclass
class Outcome:
    """What became of the rows in one attempt, with the ids of their exhibits or the reasons."""

    inserted: list[tuple[FittedRow, int]] = field(default_factory=list)
    unchanged: list[tuple[FittedRow, int]] = field(default_factory=list)
    rejected: list[tuple[FittedRow, Sequence[Problem]]] = field(default_factory=list)

    def accepted(self) -> list[FittedRow]:
        """The rows that the case holds now, in the order of the file."""
        rows = [row for row, _ in (*self.inserted, *self.unchanged)]
        return sorted(rows, key=lambda row: row.source.line_no)


def names_of(row: FittedRow, kind: str) -> Sequence[Name]:
    """The row's custodians or tags."""
    return row.custodians if kind == "custodians" else row.tags


def write_findings(transaction: Session, chunk: ImportChunks, outcome: Outcome) -> Counts:
    """Write all of it; returns how many rows and warnings there are of each kind."""
    rows, place = outcome.accepted(), (chunk.import_id, chunk.chunk_no)
    insert_new(transaction, "import_rejections", REJECTION_COLUMNS, list(_rejections(place, outcome.rejected)))
    warnings = [_warning(place, row, seq, loss) for row in rows for seq, loss in enumerate(row.losses)]
    insert_new(transaction, "import_warnings", WARNING_COLUMNS, warnings)
    insert_new(transaction, "import_names", NAME_COLUMNS, list(_sightings(place, rows)))
    append_events(transaction, list(_events(place, rows)))
    return Counts(len(outcome.inserted), len(outcome.unchanged), 0, len(outcome.rejected), len(warnings))


Place = tuple[int, int]


def _rejections(place: Place, rejected: Sequence[tuple[FittedRow, Sequence[Problem]]]) -> Iterator[tuple[Any, ...]]:
    import_id, chunk_no = place
    for row, problems in rejected:
        source = row.source
        for seq, problem in enumerate(problems):
            what = (_shown(problem.column), problem.code.value, problem.message[:1000], _shown(row.control_number))
            yield (import_id, source.line_no, seq, chunk_no, *what, source.byte_start, source.byte_len)


def _warning(place: Place, row: FittedRow, seq: int, loss: Loss) -> tuple[Any, ...]:
    source, (import_id, chunk_no) = row.source, place
    original = None if loss.original is None else loss.original.encode("utf-8", "surrogatepass")
    kept = original if original is not None and len(original) <= MAX_ORIGINAL_BYTES else None
    return (
        *(import_id, source.line_no, seq, chunk_no),
        *(_shown(loss.column), loss.code.value, loss.message[:1000], row.control_number),
        *(kept, None if original is None else len(original), loss.stored_bytes),
        *(source.byte_start, source.byte_len),
    )


def _sightings(place: Place, rows: Sequence[FittedRow]) -> Iterator[tuple[Any, ...]]:
    """Every spelling of the chunk, with the lowest line that has it."""
    seq = 0
    for kind in KINDS:
        seen: set[str] = set()
        for row in rows:
            for name in names_of(row, kind):
                if name.name not in seen:
                    seen.add(name.name)
                    yield (*place, seq, kind, name.name, row.source.line_no, _shown(name.column))
                    seq += 1


def _events(place: Place, rows: Sequence[FittedRow]) -> Iterator[Event]:
    """One event a kind of warning."""
    count: Counter[WarningCode] = Counter()
    first: dict[WarningCode, int] = {}
    for row in rows:
        for loss in row.losses:
            count[loss.code] += 1
            first.setdefault(loss.code, row.source.line_no)
    for code in sorted(count):
        yield rows_changed(*place, code, count[code], first[code])


def _shown(text: str | None) -> str | None:
    """A text for a report's column: short, and without what cannot be encoded."""
    return None if text is None else readable(text[:255])
