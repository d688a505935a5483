"""What the transaction of a chunk writes, in the order in which every chunk writes it.

Guaranteed: rows go in sorted by their unique keys; a name that is on every row is locked to be shared at most, never
updated; which names, rejections and warnings come out does not depend on what other chunks have done so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Session

from core.errors import ConflictError
from core.reasons import Rejection
from core.rows import Problem
from shell.chunk_findings_ops import KINDS, Outcome, names_of, write_findings
from shell.chunk_reading_ops import ChunkInput
from shell.completion_ops import Counts
from shell.custodian_ops import link_custodians
from shell.exhibit_ops import StoredExhibit, insert_exhibits, missing_links, stored_exhibits
from shell.fitting_ops import FittedRow
from shell.tables.names import Custodians, Tags
from shell.taggings_ops import link_tags
from shell.utils.db_errors import error_number
from shell.utils.named_rows import NamedRow, add_named, find_named

NO_SUCH_PARENT = 1452
_MEANWHILE = "an exhibit or a name of the case changed while the chunk was prepared; the chunk is imported again"
MODELS: Mapping[str, type[DeclarativeBase]] = {"custodians": Custodians, "tags": Tags}


class ChunkWriter:
    """Writes one chunk; an attempt that is replayed leaves nothing behind."""

    def __init__(self, chunk: ChunkInput) -> None:
        self.the_import, self.chunk, self.held = chunk.the_import, chunk.chunk, chunk.held
        self.rejected = [row for row in chunk.rows if row.problems]
        self.sound = [row for row in chunk.rows if not row.problems] if self.rejected else chunk.rows
        self._lines: dict[type[DeclarativeBase], dict[str, int]] = {}
        self._found: dict[type[DeclarativeBase], dict[str, NamedRow]] = {}

    def lacks_names(self, reading: Session) -> bool:
        """Find the custodians and tags of the rows; whether there are any that the case lacks."""
        self._lines = {model: self._first_lines(kind) for kind, model in MODELS.items()}
        self._found = find_named(reading, self.the_import.case_id, self._lines)
        return any(self._missing(model) for model in self._lines)

    def add_names(self, transaction: Session) -> None:
        """Add those that `lacks_names` missed, lowest line first; the caller holds the chunk's row and commits."""
        missing = {model: self._missing(model) for model in self._lines}
        for model, names in missing.items():
            add_named(transaction, model, self.the_import.case_id, self.the_import.id, names)
        for model, added in find_named(transaction, self.the_import.case_id, missing).items():
            self._found[model] |= added

    def _missing(self, model: type[DeclarativeBase]) -> dict[str, int]:
        return {name: line for name, line in self._lines[model].items() if name not in self._found[model]}

    def write(self, transaction: Session) -> Counts:
        """Write all rows of the chunk; the caller holds the chunk's row and commits."""
        outcome = self._write_exhibits(transaction)
        self._write_links(transaction, outcome.inserted)
        return write_findings(transaction, self.chunk, outcome)

    def _write_exhibits(self, transaction: Session) -> Outcome:
        added = insert_exhibits(transaction, [row for row in self.sound if row.control_number not in self.held])
        outcome = Outcome(rejected=[(row, row.problems) for row in self.rejected])
        outcome.rejected += [(row, [_refused(number)]) for row, number in added.refused]
        settled = {row.source.line_no for row, _ in added.refused} | added.ids.keys()
        outcome.inserted = [
            (row, added.ids[row.source.line_no]) for row in self.sound if row.source.line_no in added.ids
        ]
        self._sort_out(transaction, [row for row in self.sound if row.source.line_no not in settled], outcome)
        return outcome

    def _sort_out(self, transaction: Session, rows: Sequence[FittedRow], outcome: Outcome) -> None:
        """Find out what the case holds of these rows: of this import, the same, or something else."""
        stored = self._stored(transaction, [str(row.control_number) for row in rows])
        equal: list[tuple[FittedRow, int]] = []
        for row in rows:
            exhibit = stored.get(str(row.control_number))
            if exhibit is None:
                raise ConflictError(_MEANWHILE)
            if (exhibit.import_id, exhibit.line_no) == (self.the_import.id, row.source.line_no):
                outcome.inserted.append((row, exhibit.id))
            elif exhibit.row_hash == row.row_hash:
                equal.append((row, exhibit.id))
            else:
                outcome.rejected.append((row, [_differs("its values differ")]))
        self._sort_out_links(transaction, equal, outcome)

    def _stored(self, transaction: Session, numbers: Sequence[str]) -> Mapping[str, StoredExhibit]:
        """What the case holds of them.

        What it held before the transaction is not read again: nothing is written to it, so that whoever changes it
        in between might as well have come behind this chunk.
        """
        others = [number for number in numbers if number not in self.held]
        return {**self.held, **stored_exhibits(transaction, self.the_import.case_id, others)}

    def _sort_out_links(self, transaction: Session, equal: Sequence[tuple[FittedRow, int]], outcome: Outcome) -> None:
        lacking = missing_links(transaction, {kind: self._links(kind, equal) for kind in KINDS})
        outcome.unchanged = [(row, exhibit_id) for row, exhibit_id in equal if exhibit_id not in lacking]
        for row, exhibit_id in equal:
            if exhibit_id in lacking:
                outcome.rejected.append((row, [_differs("it lacks a custodian or tag that this row names")]))

    def _links(self, kind: str, rows: Sequence[tuple[FittedRow, int]]) -> list[tuple[int, int]]:
        """Pairs of an exhibit's id and that of its custodian or tag."""
        ids = {name: row.id for name, row in self._found[MODELS[kind]].items()}
        try:
            return [(exhibit_id, ids[name.name]) for row, exhibit_id in rows for name in names_of(row, kind)]
        except KeyError as error:
            raise ConflictError(_MEANWHILE) from error

    def _write_links(self, transaction: Session, inserted: Sequence[tuple[FittedRow, int]]) -> None:
        user_id = self.the_import.user_id
        try:
            link_custodians(transaction, self._links("custodians", inserted), user_id)
            link_tags(transaction, self._links("tags", inserted), user_id)
        except IntegrityError as error:
            if error_number(error) == NO_SUCH_PARENT:
                raise ConflictError("a custodian or tag was removed while the chunk was written") from error
            raise

    def _first_lines(self, kind: str) -> dict[str, int]:
        """The names of the rows that may be imported, each with its lowest line; rows of a conflict name nothing."""
        lines: dict[str, int] = {}
        for row in self.sound:
            held = self.held.get(str(row.control_number))
            if held is None or held.row_hash == row.row_hash:
                for name in names_of(row, kind):
                    lines.setdefault(name.name, row.source.line_no)
        return lines


def _refused(number: int | None) -> Problem:
    return Problem(Rejection.VALUE_REFUSED, None, f"the database refused a value of the row (error {number})")


def _differs(how: str) -> Problem:
    return Problem(Rejection.EXISTS_WITH_OTHER_VALUES, None, f"the case already holds this id, and {how}")
