"""What the row of a load file states about the family of its document.

Guaranteed: a statement is the text of a cell without the spaces around it, or a number of a list or range in it.
Neither other rows nor the case decide what a row states.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from core.cells.keys import unwrap_formula
from core.families.kinds import FamilyKind, Stated
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout

# By the field of the column.
FAMILY_FIELDS = {
    "family_begin": FamilyKind.BEGIN,
    "family_range": FamilyKind.RANGE,
    "family_group": FamilyKind.GROUP,
    "family_members": FamilyKind.MEMBERS,
}
# A longer list is read as far as this: no e-mail has so many attachments, and a wrong column may.
MAX_MEMBERS = 10_000
_MEMBER_SEPARATORS = re.compile(r"[;,|\r\n]")
_SPACED = re.compile(r"\s(?:[-\u2010-\u2015~]|to|thru|through)\s", re.IGNORECASE)
_DASH = re.compile(r"[-\u2010-\u2015]")
_DIGITS = re.compile(r"[0-9]+")


def states_families(layout: Layout) -> bool:
    """Return whether the file has a column that states families."""
    return any(field in FAMILY_FIELDS for field in layout.fields)


class FamilyColumns:
    """The columns of a file that state families."""

    def __init__(self, layout: Layout) -> None:
        kinds = ((index, FAMILY_FIELDS.get(field or "")) for index, field in enumerate(layout.fields))
        self._kinds = [(index, kind) for index, kind in kinds if kind is not None]
        self._begin, self._newline = layout.find_columns("bates_begin")[:1], layout.newline
        self._unwraps, lists = layout.judges_keys, layout.lists
        self._separator = lists.separator if lists.has_quotes else None

    def list_stated(self, cells: Sequence[str], control_number: str) -> list[Stated]:
        """Return what the row of a document states, in the order of its cells; a blank cell has one without a key.

        A row that states the control number of its own document says that it is the first of its family.
        """
        found: list[Stated] = []
        own = (control_number, *(self._clean(cells[index]) for index in self._begin))
        for index, kind in self._kinds:
            keys = self._read_keys(kind, self._clean(cells[index]), own)
            found += [Stated(kind, key) for key in keys] or [Stated(kind, None)]
        return found

    def _clean(self, cell: str) -> str:
        text = cell.replace(self._newline, "\n") if self._newline else cell
        text = text.strip(ASCII_WHITESPACE)
        return unwrap_formula(text) if self._unwraps else text

    def _read_keys(self, kind: FamilyKind, text: str, own: Sequence[str]) -> Iterable[str]:
        if not text:
            return ()
        if kind is FamilyKind.MEMBERS:
            return split_members(text, self._separator)
        return (split_range(text, own)[0],) if kind is FamilyKind.RANGE else (text,)


def split_members(text: str, separator: str | None = None) -> list[str]:
    """Return the distinct ids of a list, in its order, at most MAX_MEMBERS; without a stated separator by any usual."""
    split = text.split(separator) if separator else _MEMBER_SEPARATORS.split(text)
    parts = (part.strip(ASCII_WHITESPACE) for part in split)
    return list(dict.fromkeys(filter(None, parts)))[:MAX_MEMBERS]


def split_range(text: str, own: Iterable[str] = ()) -> tuple[str, str]:
    """Return the first and the last number of a range in one cell; the last is blank if the cell has one number.

    `A1 - A3`, `A1 to A3`; without spaces the dash at which both halves have the same form: `A-1-A-3`. A cell that
    equals one of the document's `own` numbers is that number.
    """
    if text in own:
        return text, ""
    spaced = [half.strip() for half in _SPACED.split(text)]
    if len(spaced) == 2 and all(spaced):
        return spaced[0], spaced[1]
    halves = [pair for pair in _halve(text) if _is_range(*pair)]
    return halves[0] if halves else (text, "")


def _halve(text: str) -> Iterator[tuple[str, str]]:
    return ((text[: dash.start()], text[dash.end() :]) for dash in _DASH.finditer(text))


def _is_range(begin: str, end: str) -> bool:
    """Return whether the halves of a text are alike but for their digits, and the numbers do not decrease."""
    if not begin or _DIGITS.sub("9", begin) != _DIGITS.sub("9", end) or not _DIGITS.search(begin):
        return False
    numbers = [[int(each) for each in _DIGITS.findall(half)] for half in (begin, end)]
    return numbers[0] <= numbers[1]
