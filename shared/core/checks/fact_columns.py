"""Find the columns from which the checks take their facts, and take the facts of a row.

Fields come from the columns that feed them in the import. The page count, the hash of the native and the end of the
family are found by the names of their columns, which feed no field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.cells.keys import unwrap_formula
from core.checks.facts import RowFacts
from core.checks.findings import FactNames
from core.checks.page_facts import PageRow
from core.families.statements import split_range
from core.load_file.field_mapping import get_id_field
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.header_names import normalise_name
from core.load_file.layout import Layout
from core.load_file.native_hashes import read_hash
from core.productions.bates import PAGE_COUNTS

# The function that ends a check finds columns and parses no rows.
if TYPE_CHECKING:
    from core.load_file.rows import Row

_FAMILY = r"(?:family|fam|group|attach(?:ment)?s?|attatch|attch|atty|att)"
_KIND = r"(?:bates|doc(?:ument)?|control|prod(?:uction)?|numbers?|no)"
_END = r"(?:end(?:ing)?|stop|last)"
_BEGIN = re.compile(r"beg(?:in(?:ning)?)?|start(?:ing)?|first")
_FAMILY_END = re.compile(
    rf"{_KIND}{{0,2}}{_END}{_KIND}?(?:of)?{_FAMILY}(?:id|bates|doc|number|no)?|{_KIND}?{_FAMILY}{_KIND}?{_END}{_KIND}?"
    rf"|{_END}batesoffamily|{_END}{_FAMILY}range|{_FAMILY}range{_END}"
)
_PAGES = re.compile(r"0*[1-9][0-9]{0,8}", re.ASCII)


@dataclass(frozen=True)
class FactColumns:
    """The indexes of the columns of a file that hold facts; None for a column that it lacks.

    `hashes` are in order of preference: the first cell that holds a hash counts. With `is_range`, a cell of
    `family_begin` can hold the whole range of the family. With `unwraps`, cells are taken out of formulas, as keys are.
    """

    names: FactNames
    bates_begin: int | None
    bates_end: int | None
    family_begin: int | None
    family_end: int | None
    page_count: int | None
    hashes: tuple[int, ...]
    is_range: bool = False
    unwraps: bool = False

    @classmethod
    def find(cls, layout: Layout) -> FactColumns:
        """Return the columns of a file."""
        spelled = [normalise_name(name) for name in layout.names]
        free = [index for index, field in enumerate(layout.fields) if field is None]
        begin, end, family = (_find_field(layout, name) for name in ("bates_begin", "bates_end", "family_begin"))
        is_range = family is None
        family = _find_field(layout, "family_range") if is_range else family
        family_end = _find_family_end(spelled, free, family)
        pages = next((index for index in free if spelled[index] in PAGE_COUNTS), None)
        number, parent = (_find_field(layout, name) for name in (get_id_field(layout.fields), "parent_control_number"))
        native = layout.hash_columns[0] if layout.hash_columns else None
        columns = (number, begin, end, family if parent is None else parent, native, pages, family, family_end)
        if is_range and family_end is None:
            columns = (*columns[:-1], family)
        names = FactNames(*(None if index is None else layout.names[index] for index in columns))
        is_range, unwraps = is_range and family is not None, layout.judges_keys
        return cls(names, begin, end, family, family_end, pages, layout.hash_columns, is_range, unwraps)

    def read_row(self, row: Row) -> RowFacts | None:
        """Return the facts of a parsed row, None for one that the import rejects."""
        if row.errors or row.control_number is None:
            return None
        parent = row.values.get("parent_control_number")
        return self.read_cells(row.source.line_no, row.control_number, parent, row.source.cells or ())

    @property
    def states_pages(self) -> bool:
        """Whether the file has a column that says how many pages a document has: the end of its range, or a count."""
        return self.bates_end is not None or self.page_count is not None

    def read_pages(self, line: int, control_number: str, cells: Sequence[str]) -> PageRow:
        """Return what a row with these cells states of the pages of its document."""
        ends = (self._read(cells, self.bates_begin), self._read(cells, self.bates_end))
        return PageRow(line, control_number, *ends, _read_pages(self._read(cells, self.page_count)))

    def read_cells(self, line: int, control_number: str, parent: str | None, cells: Sequence[str]) -> RowFacts:
        """Return the facts of a row with these cells; its control number and parent are those that are imported."""
        begin = self._read(cells, self.bates_begin)
        family = (self._read(cells, self.family_begin), self._read(cells, self.family_end))
        if self.is_range:
            first, last = split_range(family[0], (control_number, begin))
            family = (first, last or family[1])
        return RowFacts(
            line,
            control_number,
            begin,
            self._read(cells, self.bates_end),
            "" if parent is None or parent == control_number else parent,
            next(filter(None, (read_hash(cells[index]) for index in self.hashes)), ""),
            _read_pages(self._read(cells, self.page_count)),
            *family,
        )

    def _read(self, cells: Sequence[str], index: int | None) -> str:
        text = "" if index is None else cells[index].strip(ASCII_WHITESPACE)
        return unwrap_formula(text) if self.unwraps else text


def _find_field(layout: Layout, field: str) -> int | None:
    return next(iter(layout.find_columns(field)), None)


def _find_family_end(spelled: Sequence[str], free: Sequence[int], begin: int | None) -> int | None:
    """Return the column that ends what the column `begin` begins, else the first that ends a family."""
    found = [index for index in free if _FAMILY_END.fullmatch(spelled[index])]
    if begin is None or not found:
        return None
    subject = _BEGIN.sub("", spelled[begin])
    return next((index for index in found if re.sub(_END, "", spelled[index]) == subject), found[0])


def _read_pages(text: str) -> int | None:
    """Return the number of pages; None for 0, which programs write for a document that has no pages."""
    return int(text) if _PAGES.fullmatch(text) else None
