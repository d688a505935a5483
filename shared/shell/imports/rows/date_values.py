"""The dates of a chunk's regular records, read and combined a column at a time.

Guaranteed: they are those of `core.load_file.date_columns.read_dates`; a test compares the two. Equal cells are read
once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from core.dates.words import DateNote
from core.dates.written_dates import parse_date
from core.exhibit_dates import EVENT_DATES, NO_PRECISIONS, Precision
from core.load_file.date_columns import DateValue, read_date_value
from core.load_file.layout import DateColumn, Layout
from core.row_texts import Part

# By the cell, or by the cells of a date and its time.
Known: TypeAlias = dict[str | tuple[str, str], DateValue]


# The problem, note and earlier value of a DateValue.
_SPECIAL = itemgetter(2, 3, 4)


class _Dates(NamedTuple):
    """The stored texts and the precisions of a column, and whether a record has a warning; empty if none has.

    `notes` are those of the records, empty if none has one, and `before` the texts that earlier versions stored.
    """

    texts: list[str | None]
    precisions: list[str]
    problems: list[bool]
    notes: list[DateNote | None]
    before: list[str | None]


class DateValues:
    """Columns of stored values: `document`, and `details`, which are the other dates, the source and the precisions.

    `document_json`, `others_json` and `hashed_json` are the parts of the JSON of the row hashes. `problems` are the
    indexes of records with a warning, `notes` are those of the records by column, for columns that have some. `known`
    is what was read of cells, by field; it is filled. `changed` are the indexes of records of which earlier versions
    stored other dates; `before_json` is then what `document_json` and `others_json` are of these.
    """

    def __init__(self, layout: Layout, columns: Sequence[Sequence[str]], known: dict[str, Known]) -> None:
        dates = {
            column.field: _read_column(column, columns, known.setdefault(column.field, {}))
            for column in layout.date_columns
        }
        self.problems = [index for each in dates.values() for index, problem in enumerate(each.problems) if problem]
        self.document: Iterable[str | None] = repeat(None)
        self.details: list[Iterable[str | None]] = [repeat(None)] * (len(EVENT_DATES) + 2)
        self.document_json: Part = "null"
        self.others_json: list[Part] = []
        self.hashed_json: Part = _encode_hashed(layout, columns)
        self.notes = {column.index: found for column in layout.date_columns if (found := dates[column.field].notes)}
        self.changed: set[int] = set()
        self.before_json: tuple[Part, list[Part]] = ("null", [])
        if dates:
            self._combine(dates)
        if any(each.before is not each.texts for each in dates.values()):
            self._combine_before(dates)

    def _combine_before(self, dates: dict[str, _Dates]) -> None:
        pairs = [zip(each.texts, each.before, strict=True) for each in dates.values()]
        self.changed = {index for pair in pairs for index, (now, before) in enumerate(pair) if now != before}
        texts = {date: each.before for date, each in dates.items()}
        document = texts.get("document_date") or [
            next(filter(None, row), None) for row in zip(*texts.values(), strict=True)
        ]
        self.before_json = (_encode(document), _encode_others(texts))

    def _combine(self, dates: dict[str, _Dates]) -> None:
        texts = {date: each.texts for date, each in dates.items()}
        own = dates.get("document_date")
        chosen = range(0) if own else _choose_first(list(texts.values()))
        if own:
            document, precisions = own.texts, own.precisions
        else:
            document = [row[first] for first, row in zip(chosen, zip(*texts.values(), strict=True), strict=True)]
            letters = zip(*(each.precisions for each in dates.values()), strict=True)
            precisions = [row[first] for first, row in zip(chosen, letters, strict=True)]
            fields = list(dates)
            self.details[-2] = [fields[first] if text else None for first, text in zip(chosen, document, strict=True)]
        self.document, self.document_json = document, _encode(document)
        if texts.keys() - {"document_date"}:
            columns = [texts.get(date) for date in EVENT_DATES]
            self.details[: len(EVENT_DATES)] = [repeat(None) if column is None else column for column in columns]
        self.others_json = _encode_others(texts)
        self.details[-1] = _join_precisions(precisions, dates)


def _encode_others(texts: Mapping[str, list[str | None]]) -> list[Part]:
    """Return the JSON of the dates other than the document date; nothing if the file has none."""
    if not texts.keys() - {"document_date"}:
        return []
    return [", [", *_join([texts.get(date) for date in EVENT_DATES]), "]"]


def _choose_first(columns: Sequence[Sequence[str | None]]) -> list[int]:
    """Return the number of the first column that has a text, for each row; 0 if none has."""
    return [next((number for number, text in enumerate(row) if text), 0) for row in zip(*columns, strict=True)]


def _read_column(column: DateColumn, columns: Sequence[Sequence[str]], known: Known) -> _Dates:
    cells: Sequence[str] = columns[column.index]
    if column.time is None:
        for cell in set(cells) - known.keys():
            known[cell] = read_date_value(column, cell, "")
        return _look_up(cells, known)
    pairs = list(zip(cells, columns[column.time], strict=True))
    for pair in set(pairs) - known.keys():
        known[pair] = read_date_value(column, *pair)
    return _look_up(pairs, known)


def _look_up(cells: Sequence[str] | Sequence[tuple[str, str]], known: Known) -> _Dates:
    texts = {cell: None if date.value is None else str(date.value) for cell, date in known.items()}
    problems: list[bool] = []
    notes: list[DateNote | None] = []
    stored = before = [texts[cell] for cell in cells]
    if not set(map(_SPECIAL, known.values())) <= {(None, None, None)}:
        found = [known[cell] for cell in cells]
        problems = [date.problem is not None for date in found]
        notes = [date.note for date in found]
        earlier = [None if date.earlier is None else str(date.earlier) for date in found]
        before = stored if earlier == stored else earlier
    kept = notes if any(notes) else []
    return _Dates(stored, [known[cell].precision for cell in cells], problems, kept, before)


def _encode(texts: Iterable[str | None]) -> list[str]:
    return [f'"{text}"' if text else "null" for text in texts]


def _encode_hashed(layout: Layout, columns: Sequence[Sequence[str]]) -> Part:
    """Return the document dates that earlier versions stored."""
    if not layout.was_hashed_otherwise or layout.first_date is None:
        return "null"
    order = next((each.order for each in layout.date_columns if each.index == layout.first_date), None)
    if order is None:
        return "null"
    cells = columns[layout.first_date]
    found = {cell: parse_date(cell, order) for cell in set(cells)}
    texts = {cell: f'"{date}"' if date else "null" for cell, date in found.items()}
    return [texts[cell] for cell in cells]


def _join(columns: Sequence[Sequence[str | None] | None]) -> Iterator[Part]:
    """Yield the parts of each row's JSON array of dates, without its brackets."""
    for number, column in enumerate(columns):
        if number:
            yield ", "
        yield "null" if column is None else _encode(column)


def _join_precisions(document: Sequence[str], dates: dict[str, _Dates]) -> list[str | None]:
    if dates.keys() == {"document_date"}:
        whole = {str(letter): letter + NO_PRECISIONS[1:] for letter in Precision}
        joined: Iterable[str] = [whole[letter] for letter in document]
    else:
        others = [dates[date].precisions if date in dates else repeat(Precision.NONE) for date in EVENT_DATES]
        joined = map("".join, zip(document, *others, strict=False))
    return [None if letters == NO_PRECISIONS else letters for letters in joined]
