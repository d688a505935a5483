"""Read the lines by id: similar ids, parents, and the ranges of the case that the file does not have.

A document that both the file and the case have is compared as the file has it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple

from core.cells.keys import show_text
from core.cells.similar_ids import describe_similar, fold_ids
from core.checks.bates import BatesRange, read_range
from core.checks.bates_sweep import CASE
from core.checks.facts import CELL_END, escape, unescape
from core.checks.families import FamilyRow, compare_with_parent
from core.checks.findings import MAX_LISTED, FactNames, Finding, list_lines, warn
from core.checks.limits import Limits
from core.codes import CheckCode
from shell.imports.checks.bates_lines import format_entry
from shell.imports.checks.row_spill import AS_PARENT, CLAIMED, IN_CASE, IN_FILE, SpilledRows

LOOKUP_IDS = 1_000
FindInCase = Callable[[Sequence[str]], Collection[str]]


class CaseRow(NamedTuple):
    """An exhibit of the case, or another range of one; None or blank for a number that it lacks."""

    control_number: str
    bates_begin: str | None
    bates_end: str | None
    is_claim: bool = False


def format_case_rows(rows: Sequence[CaseRow]) -> list[str]:
    """Return the line of each exhibit by its control number."""
    cells = [
        (escape(number), CLAIMED if is_claim else IN_CASE, escape(begin or ""), escape(end or ""))
        for number, begin, end, is_claim in rows
    ]
    folded, e = fold_ids([number for number, *_ in cells]), CELL_END
    named = zip(folded, cells, strict=True)
    return [f"{key}{e}{number}{e}{kind}{e}{begin}{e}{end}" for key, (number, kind, begin, end) in named]


class IdGroups:
    """One pass over the lines by id, which sets the parents of the index and adds the case to the Bates lines."""

    def __init__(self, rows: SpilledRows, find_in_case: FindInCase, names: FactNames, limits: Limits) -> None:
        self._rows, self._index, self._find_in_case, self._names = rows, rows.index, find_in_case, names
        self._max_unresolved = limits.parents
        self.has_case_ranges = False
        self._case_lines: list[str] = []
        self._unresolved: list[tuple[str, int]] = []
        # Of the id that is read: the row of the file (0: none), the rest of its line, the range in the case.
        self._number, self._row, self._rest, self._range = "", 0, "", ""
        # Its other ranges in the case.
        self._claims: list[str] = []
        self._similar: list[int] = []
        self._similar_count = 0
        # Of ids with the same form: the first row with one that the case lacks, and the first one that the file lacks.
        self._new_row, self._held_number = 0, ""

    def find(self) -> Iterator[Finding]:
        """Yield the findings of all ids and parents, but for cycles."""
        before = None
        for text in chain.from_iterable(self._rows.ids.read()):
            folded, number, kind, rest = text.split(CELL_END, 3)
            if number != self._number or folded != before:
                self._end_number()
                self._number, self._row, self._range = number, 0, ""
            if folded != before:
                yield from self._end_form()
                before, self._similar, self._similar_count = folded, [], 0
                self._new_row, self._held_number = 0, ""
            if kind == IN_FILE:
                self._set_row(rest)
            elif kind == AS_PARENT:
                yield from self._add_child(rest)
            elif kind == IN_CASE:
                self._range = rest
            else:
                self._claims.append(rest)
        yield from self._end()

    def _end(self) -> Iterator[Finding]:
        self._end_number()
        yield from self._end_form()
        yield from self._resolve()
        self._flush_case()

    def _end_number(self) -> None:
        if self._row and not self._range:
            rows = [row for row in (self._new_row, self._row) if row]
            self._new_row = min(rows, key=self._index.line)
        if self._range and not self._row:
            self._held_number = self._held_number or self._number
        self._keep_ranges()

    def _end_form(self) -> Iterator[Finding]:
        """Yield the findings of ids that have the same form."""
        if self._similar_count > 1:
            yield self._describe_similar()
        if self._new_row and self._held_number:
            line, number = self._index.line(self._new_row), self._index.control_number(self._new_row)
            found = describe_similar(show_text(number), show_text(self._held_number))
            message = f"Line {line}: {found}. Find out whether they are one document; if so, correct the id."
            yield warn(CheckCode.ID_SIMILAR_IN_CASE, line, self._names.control_number, message, number)

    def _keep_ranges(self) -> None:
        """Keep the ranges of a document of the case; if the file has it, the others that its row does not meet."""
        if not (self._range or self._claims):
            return
        stated = self._read(self._rest) if self._row else None
        for text in [*([] if self._row or not self._range else [self._range]), *self._claims]:
            numbers = self._read(text)
            if numbers and not (stated and numbers.meets(stated)):
                self._case_lines.append(format_entry(numbers, 0, CASE, self._number, "", None))
        self._claims = []
        if len(self._case_lines) >= LOOKUP_IDS:
            self._flush_case()

    @staticmethod
    def _read(text: str) -> BatesRange | None:
        begin, end, *_ = text.split(CELL_END)
        return read_range(begin, end)[0] if begin else None

    def _flush_case(self) -> None:
        self.has_case_ranges = self.has_case_ranges or bool(self._case_lines)
        self._rows.bates.add(self._case_lines)
        self._case_lines = []

    def _set_row(self, rest: str) -> None:
        position, self._rest = rest.split(CELL_END, 1)
        self._row = int(position)
        self._similar.append(self._row)
        self._similar_count += 1
        if len(self._similar) > 50 * MAX_LISTED:
            self._similar = nsmallest(MAX_LISTED, self._similar, key=self._index.line)

    def _describe_similar(self) -> Finding:
        rows = nsmallest(MAX_LISTED, self._similar, key=self._index.line)
        lines = list_lines(map(self._index.line, rows), self._similar_count)
        examples = ", ".join(map(self._index.control_number, rows[:3]))
        message = (
            f"Line {self._index.line(rows[0])}: {self._similar_count} ids differ only in case, spaces, unseen signs or"
            " zero padding,"
            f" such as {examples}; lines {lines}. Find out whether they are one document."
        )
        first, column = rows[0], self._names.control_number
        return warn(CheckCode.ID_SIMILAR, self._index.line(first), column, message, self._index.control_number(first))

    def _add_child(self, rest: str) -> Iterable[Finding]:
        position, own = rest.split(CELL_END, 1)
        child = int(position)
        if self._row:
            self._index.parents[child] = self._row
            # What both state of their family is the end of both lines.
            stated = self._rest.split(CELL_END, 2)[2]
            return () if own.split(CELL_END, 2)[2] == stated else self._compare_families(child, own)
        if not self._range:
            self._unresolved.append((self._number, child))
            if len(self._unresolved) >= self._max_unresolved:
                return self._resolve()
        return ()

    def _compare_families(self, child: int, own: str) -> Iterable[Finding]:
        rows = (self._build_family_row(child, own), self._build_family_row(self._row, self._rest))
        found = compare_with_parent(*rows, self._names)
        return (found,) if found else ()

    def _build_family_row(self, row: int, rest: str) -> FamilyRow:
        begin, end, family_begin, family_end = rest.split(CELL_END)
        return FamilyRow(self._index.line(row), self._index.control_number(row), begin, end, family_begin, family_end)

    def _resolve(self) -> Iterator[Finding]:
        """Yield the children whose parents are not in the case either."""
        parents = list(dict.fromkeys(parent for parent, _ in self._unresolved))
        existing: set[str] = set()
        for start in range(0, len(parents), LOOKUP_IDS):
            existing.update(self._find_in_case([unescape(parent) for parent in parents[start : start + LOOKUP_IDS]]))
        for parent, child in self._unresolved:
            if unescape(parent) not in existing:
                yield self._describe_missing(parent, child)
        self._unresolved = []

    def _describe_missing(self, parent: str, child: int) -> Finding:
        line, number = self._index.line(child), self._index.control_number(child)
        message = (
            f"Line {line}: the parent {parent} is neither in the file nor in the case. Import the file that has it"
            " first, or correct the cell."
        )
        return warn(CheckCode.PARENT_MISSING, line, self._names.parent, message, number)
