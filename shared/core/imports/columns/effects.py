"""When a cell has an effect: the fields of which a cell that is not blank can have none, each with its rule.

Every other field has an effect by construction: a key or a text that is not blank is stored. A field whose effect is
known only once all rows are there, such as that of families, has a warning of its own instead of an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from core.dates.words import is_no_date
from core.exhibit_dates import DATE_FIELDS
from core.load_file.date_columns import read_date_value, uses_time
from core.load_file.header_names import TIME_FIELDS
from core.load_file.layout import Layout

# The layout, the index of the column, and what returns the cell of a column in a row; that of this column is not blank.
HasEffect = Callable[[Layout, int, Callable[[int], str]], bool]


def _is_date(layout: Layout, index: int, get_cell: Callable[[int], str]) -> bool:
    column = next(each for each in layout.date_columns if each.index == index)
    time = "" if column.time is None else get_cell(column.time)
    return read_date_value(column, get_cell(index), time).value is not None


def _completes_date(layout: Layout, index: int, get_cell: Callable[[int], str]) -> bool:
    column = next((each for each in layout.date_columns if each.time == index), None)
    return column is not None and uses_time(column, get_cell(column.index), get_cell(index))


def _has_values(layout: Layout, index: int, get_cell: Callable[[int], str]) -> bool:
    text = layout.lists.replace_newlines(get_cell(index), layout.newline)
    return any(layout.lists.split(text, has_levels=False))


EFFECTS: Mapping[str, HasEffect] = {
    **dict.fromkeys(DATE_FIELDS, _is_date),
    **dict.fromkeys(TIME_FIELDS.values(), _completes_date),
    **dict.fromkeys(("custodians", "tags"), _has_values),
}
_WORDS_ARE_BLANK = frozenset((*DATE_FIELDS, *TIME_FIELDS.values()))


def list_effects(layout: Layout) -> Iterator[tuple[int, str, HasEffect]]:
    """Yield the columns whose cells may have no effect: index, field and rule."""
    for index, field in enumerate(layout.fields):
        if field is not None and field in EFFECTS:
            yield index, field, EFFECTS[field]


def says_nothing(field: str, cell: str) -> bool:
    """Return whether a cell says nothing; in a column of dates or times, also by a word such as N/A."""
    text = cell.strip()
    return not text or (field in _WORDS_ARE_BLANK and is_no_date(text))
