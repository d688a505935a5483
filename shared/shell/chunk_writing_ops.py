"""What the transaction of a chunk writes, in the order in which every chunk writes it.

Guaranteed: rows go in sorted by their unique keys; a name that is on every row is neither locked nor updated; which
names, rejections and warnings come out does not depend on what other chunks have done so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Session

from core.errors import ConflictError
from core.events import Event, rows_changed
from core.load_file.encoding import readable
from core.load_file.layout import Layout
from core.reasons import Rejection, WarningCode
from core.rows import Loss, Name, Problem
from shell.completion_ops import REJECTION_COLUMNS, Counts
from shell.custodian_ops import link_custodians
from shell.exhibit_ops import FittedRow, StoredExhibit, insert_exhibits, stored_exhibits, stored_links
from shell.outbox_ops import append_events
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.tables.names import Custodians, Tags
from shell.taggings_ops import link_tags
from shell.utils.bulk_insert import insert_new
from shell.utils.db_errors import error_number
from shell.utils.named_rows import NamedRow, add_named, find_named

NO_SUCH_PARENT = 1452
_MEANWHILE = "an exhibit of the case changed while the chunk was prepared; the chunk is imported again"
MAX_ORIGINAL_BYTES = 1024
MODELS: Mapping[str, type[DeclarativeBase]] = {"custodians": Custodians, "tags": Tags}

WARNING_COLUMNS = (
    *("import_id", "line_no", "seq", "chunk_no", "column_name", "code", "message", "control_number"),
    *("original", "original_bytes", "stored_bytes", "byte_start", "byte_len"),
)
NAME_COLUMNS = ("import_id", "chunk_no", "seq", "kind", "name", "line_no", "column_name")


class _Outcome:
    """What became of the rows in one attempt; an attempt that is replayed leaves nothing behind."""

    def __init__(self) -> None:
        self.inserted: list[tuple[FittedRow, int]] = []
        self.unchanged: list[tuple[FittedRow, int]] = []
        self.rejected: list[tuple[FittedRow, list[Problem]]] = []


class ChunkWriter:
    """Writes one chunk; `held` is what the case held of it before the transaction."""

    def __init__(
        self,
        the_import: Imports,
        chunk: ImportChunks,
        layout: Layout,
        rows: Sequence[FittedRow],
        held: Mapping[str, StoredExhibit],
    ) -> None:
        self.the_import, self.chunk, self.layout = the_import, chunk, layout
        self.rejected = [row for row in rows if row.is_rejected]
        self.sound = [row for row in rows if not row.is_rejected]
        self.held = held
        self.named: dict[str, dict[str, NamedRow]] = {}

    def add_names(self, transaction: Session) -> None:
        """Find the custodians and tags of the rows, and add those that the case lacks, lowest line first."""
        lines = {model: self._first_lines(kind) for kind, model in MODELS.items()}
        found = find_named(transaction, self.the_import.case_id, lines)
        missing = {
            model: {name: line for name, line in lines[model].items() if name not in found[model]} for model in lines
        }
        if any(missing.values()):
            for model, names in missing.items():
                add_named(transaction, model, self.the_import.case_id, self.the_import.id, names)
            added = find_named(transaction, self.the_import.case_id, missing)
            found = {model: found[model] | added[model] for model in lines}
        self.named = {kind: found[model] for kind, model in MODELS.items()}

    def write(self, transaction: Session) -> Counts:
        """Write all rows of the chunk; the caller holds the chunk's row and commits."""
        outcome = self._write_exhibits(transaction)
        self._write_links(transaction, outcome.inserted)
        insert_new(transaction, "import_rejections", REJECTION_COLUMNS, list(self._rejection_rows(outcome)))
        warnings = list(self._warning_rows(outcome))
        insert_new(transaction, "import_warnings", WARNING_COLUMNS, warnings)
        insert_new(transaction, "import_names", NAME_COLUMNS, list(self._name_rows(outcome)))
        append_events(transaction, self._warning_events(outcome))
        return Counts(len(outcome.inserted), len(outcome.unchanged), 0, len(outcome.rejected), len(warnings))

    def _write_exhibits(self, transaction: Session) -> _Outcome:
        outcome = _Outcome()
        outcome.rejected = [(row, row.row.problems) for row in self.rejected]
        new = [row for row in self.sound if row.row.control_number not in self.held]
        refused = insert_exhibits(transaction, new)
        outcome.rejected += [(row, [_refused(number)]) for row, number in refused]
        lines_refused = {row.row.source.line_no for row, _ in refused}
        rows = [row for row in self.sound if row.row.source.line_no not in lines_refused]
        stored = stored_exhibits(transaction, self.the_import.case_id, [str(row.row.control_number) for row in rows])
        self._sort_out(transaction, rows, stored, outcome)
        return outcome

    def _sort_out(
        self, transaction: Session, rows: Sequence[FittedRow], stored: Mapping[str, StoredExhibit], outcome: _Outcome
    ) -> None:
        equal: list[tuple[FittedRow, int]] = []
        for row in rows:
            exhibit = stored.get(str(row.row.control_number))
            if exhibit is None:
                raise ConflictError(_MEANWHILE)
            if (exhibit.import_id, exhibit.line_no) == (self.the_import.id, row.row.source.line_no):
                outcome.inserted.append((row, exhibit.id))
            elif exhibit.row_hash == row.row_hash:
                equal.append((row, exhibit.id))
            else:
                outcome.rejected.append((row, [_differs("its values differ")]))
        links = stored_links(transaction, [exhibit_id for _, exhibit_id in equal])
        for row, exhibit_id in equal:
            if self._links_of(row, exhibit_id) <= links:
                outcome.unchanged.append((row, exhibit_id))
            else:
                outcome.rejected.append((row, [_differs("it lacks a custodian or tag that this row names")]))

    def _links_of(self, row: FittedRow, exhibit_id: int) -> set[tuple[str, int, int]]:
        try:
            return {(kind, exhibit_id, self.named[kind][name.name].id) for kind in MODELS for name in _names(row, kind)}
        except KeyError as error:
            raise ConflictError(_MEANWHILE) from error

    def _write_links(self, transaction: Session, inserted: Iterable[tuple[FittedRow, int]]) -> None:
        links = [link for row, exhibit_id in inserted for link in self._links_of(row, exhibit_id)]
        user_id = self.the_import.user_id
        try:
            link_custodians(transaction, [link[1:] for link in links if link[0] == "custodians"], user_id)
            link_tags(transaction, [link[1:] for link in links if link[0] == "tags"], user_id)
        except IntegrityError as error:
            if error_number(error) == NO_SUCH_PARENT:
                raise ConflictError("a custodian or tag was removed while the chunk was written") from error
            raise

    def _first_lines(self, kind: str) -> dict[str, int]:
        """The names of the rows that may be imported, each with its lowest line; rows of a conflict name nothing."""
        lines: dict[str, int] = {}
        for row in self.sound:
            held = self.held.get(str(row.row.control_number))
            if held is None or held.row_hash == row.row_hash:
                for name in _names(row, kind):
                    lines.setdefault(name.name, row.row.source.line_no)
        return lines

    def _rejection_rows(self, outcome: _Outcome) -> Iterator[tuple[Any, ...]]:
        for row, problems in outcome.rejected:
            source = row.row.source
            for seq, problem in enumerate(problems):
                place = (self.the_import.id, source.line_no, seq, self.chunk.chunk_no)
                what = (_shown(problem.column), problem.code.value, problem.message[:1000])
                yield (*place, *what, _shown(row.row.control_number), source.byte_start, source.byte_len)

    def _warning_rows(self, outcome: _Outcome) -> Iterator[tuple[Any, ...]]:
        for row, _ in (*outcome.inserted, *outcome.unchanged):
            for seq, loss in enumerate(row.row.losses):
                yield self._warning_row(row, seq, loss)

    def _warning_row(self, row: FittedRow, seq: int, loss: Loss) -> tuple[Any, ...]:
        source = row.row.source
        original = None if loss.original is None else loss.original.encode("utf-8", "surrogatepass")
        kept = original if original is not None and len(original) <= MAX_ORIGINAL_BYTES else None
        return (
            *(self.the_import.id, source.line_no, seq, self.chunk.chunk_no),
            *(_shown(loss.column), loss.code.value, loss.message[:1000], row.row.control_number),
            *(kept, None if original is None else len(original), loss.stored_bytes),
            *(source.byte_start, source.byte_len),
        )

    def _name_rows(self, outcome: _Outcome) -> Iterator[tuple[Any, ...]]:
        """Every spelling of the chunk, with the lowest line that has it."""
        seq = 0
        rows = sorted((*outcome.inserted, *outcome.unchanged), key=lambda pair: pair[0].row.source.line_no)
        for kind in MODELS:
            seen: set[str] = set()
            for row, _ in rows:
                for name in _names(row, kind):
                    if name.name not in seen:
                        seen.add(name.name)
                        place = (self.the_import.id, self.chunk.chunk_no, seq)
                        yield (*place, kind, name.name, row.row.source.line_no, _shown(name.column))
                        seq += 1

    def _warning_events(self, outcome: _Outcome) -> Iterator[Event]:
        """One event a kind of warning, with counts and never content."""
        count: Counter[WarningCode] = Counter()
        first: dict[WarningCode, int] = {}
        for row, _ in (*outcome.inserted, *outcome.unchanged):
            for loss in row.row.losses:
                count[loss.code] += 1
                first[loss.code] = min(first.get(loss.code, row.row.source.line_no), row.row.source.line_no)
        for code in sorted(count):
            yield rows_changed(self.the_import.id, self.chunk.chunk_no, code, count[code], first[code])


def _names(row: FittedRow, kind: str) -> Sequence[Name]:
    return row.row.custodians if kind == "custodians" else row.row.tags


def _refused(number: int | None) -> Problem:
    return Problem(Rejection.VALUE_REFUSED, None, f"the database refused a value of the row (error {number})")


def _differs(how: str) -> Problem:
    return Problem(Rejection.EXISTS_WITH_OTHER_VALUES, None, f"the case already holds this id, and {how}")


def _shown(text: str | None) -> str | None:
    """A text for a report's column: short, and without what cannot be encoded."""
    if text is None:
        return None
    return readable(text[:255])
