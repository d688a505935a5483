"""What a row of an overlay changes in the document that it names.

Guaranteed: only columns of the file are touched; a blank cell changes nothing unless blanks clear; values are compared
exactly, and an absent property, null and "" are three values. Overlaying a document with the row that created it
changes nothing, but for padding that blanks clear: a cell of nothing but whitespace is blank, because programs pad
columns with spaces. A document date that follows from another date does so from the creation on; a parent follows from
a family's range when a document is created, and where the blank cell of a parent clears. What one cell sets together,
such as a date, its precision and its text, is recorded together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, TEXTS
from core.exhibit_history import Key, Kind, precision_field
from core.load_file.field_mapping import ORIGINAL_LINE
from core.load_file.given_columns import MULTI_COLUMN_FIELDS
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout
from core.load_mode import Blanks, MultiValues
from core.texts.cells import EXTRACTED_TEXT

# The columns of `exhibits` that an overlay can change, besides the properties and the row hash.
OVERLAID_COLUMNS = (*KEYS[1:], *TEXTS, *DATE_FIELDS, "document_date_source", "date_precision")
Properties = Mapping[str, str | None]


class OverlaidDocument(NamedTuple):
    """The values of a document, or those that a row would have if it were a new one.

    `fields` are OVERLAID_COLUMNS in the form of `core.exhibit_history.describe_fields`.
    """

    fields: Mapping[str, str | None]
    properties: Properties


class PropertyChanges(NamedTuple):
    """The properties that a row sets, and the names of those that it removes."""

    given: Properties
    removed: frozenset[str]


class RowOverlay:
    """How the rows of one file overlay documents.

    `texts` and `dates` are the columns of fields, `properties` those that may be properties, `keys` the fields of ids
    among these, `later` the columns that are texts now, each by name. `members` are the keys that a column of each of
    `companions`, or of a date, sets together.
    """

    def __init__(self, layout: Layout) -> None:
        self._mode, columns = layout.load_mode, tuple(zip(layout.names, layout.fields, strict=True))
        self._clears = self._mode.blanks is Blanks.CLEAR
        indexes = {field: index for index, (_, field) in enumerate(columns) if field not in MULTI_COLUMN_FIELDS}
        self.texts = {field: indexes[field] for field in (*KEYS[1:], *TEXTS) if field in indexes}
        self.dates = {column.field: column.index for column in layout.date_columns}
        self.properties = {
            name: index for index, (name, field) in enumerate(columns) if field not in (*TEXTS, ORIGINAL_LINE)
        }
        self.keys = {name: str(field) for name, field in columns if field in KEYS}
        self.later = {layout.names[index]: index for _, index in layout.moved_texts}
        self.text_names = frozenset(name for name, field in columns if field == EXTRACTED_TEXT)
        self.companions = tuple(dict.fromkeys((*KEYS[1:], *(field for field, _ in layout.moved_texts))))
        self.members = {field: _list_members(layout, field) for field in (*self.companions, *DATE_FIELDS)}

    @property
    def replaces_names(self) -> bool:
        """Whether the custodians and tags of a row replace those of its document."""
        return self._mode.multi_values is MultiValues.REPLACE

    @property
    def clears(self) -> bool:
        """Whether a blank cell empties the field."""
        return self._clears

    def find_fields(
        self, cells: Sequence[str], row: OverlaidDocument, stored: OverlaidDocument
    ) -> dict[str, str | None]:
        """Return the values of the fields that the row sets, also of those that have them already."""
        touched = [field for field, index in self.texts.items() if self._clears or not is_blank(cells[index])]
        # Only texts are stored with their padding. A parent may follow from other cells than its own.
        padding = {field for field in touched if field in TEXTS and is_blank(cells[self.texts[field]])}
        given = {field: None if field in padding else row.fields[field] for field in touched}
        return given | self._find_dates(cells, row, stored)

    def _find_dates(
        self, cells: Sequence[str], row: OverlaidDocument, stored: OverlaidDocument
    ) -> dict[str, str | None]:
        touched = self._list_dates(cells)
        given = {date: row.fields[date] for date in touched}
        precisions = {precision_field(date): row.fields[precision_field(date)] for date in touched}
        source = stored.fields["document_date_source"]
        if "document_date" in given:
            given["document_date_source"] = None
        elif source in given:
            given["document_date"] = given[source]
            given["document_date_source"] = source if given[source] else None
            precisions[precision_field("document_date")] = precisions[precision_field(source)]
        return given | precisions

    def _list_dates(self, cells: Sequence[str]) -> list[str]:
        return [date for date, index in self.dates.items() if self._clears or not is_blank(cells[index])]

    def find_companions(
        self, cells: Sequence[str], stored: OverlaidDocument, properties: PropertyChanges, changed: Collection[Key]
    ) -> Iterator[Key]:
        """Yield what the row sets together with something that it changes, whether it changes that or not.

        These are an id and its text; a text and the property that its column was; a date, its precision, its text and
        that of its time; and the document date, its source and its precision, with the date that it follows from. An
        undo of another import would otherwise leave the date of one file with the precision or the text of another.
        `properties` are those of `find_properties`.
        """
        names = properties.given.keys() | properties.removed
        for members in self._find_members(cells, stored):
            if not members.isdisjoint(changed):
                yield from (key for key in members if key.kind is Kind.FIELD or key.name in names)

    def _find_members(self, cells: Sequence[str], stored: OverlaidDocument) -> Iterator[frozenset[Key]]:
        own = (field for field in self.companions if field in self.texts)
        touched = [field for field in own if self._clears or not is_blank(cells[self.texts[field]])]
        dates, source = self._list_dates(cells), stored.fields["document_date_source"]
        for field in (*touched, *dates):
            follows = field == source and "document_date" not in dates
            yield self.members[field] | (self.members["document_date"] if follows else frozenset())

    def is_as_new(self, cells: Sequence[str]) -> bool:
        """Return whether the row leaves in its own document what it would store in a new one."""
        return not self._clears or not any(cell and is_blank(cell) for cell in cells)

    def find_properties(self, cells: Sequence[str], row: OverlaidDocument) -> PropertyChanges:
        """Return what the row sets and removes; a cell that could not be stored does neither, but for that of a text.

        An id is a property only with the spaces around it, or blank with the parent that follows from other cells. A
        text takes the place of the property that an earlier version made of its column.
        """
        blank = {name for name, index in self.properties.items() if is_blank(cells[index])}
        derived = {name for name in blank & self.keys.keys() if self._clears and row.fields.get(self.keys[name])}
        # In the order of the columns: that of a set differs from process to process.
        given = [name for name in self.properties if name in derived or name not in blank]
        exact = {name for name in self.keys.keys() - blank if _is_trimmed(cells[self.properties[name]])}
        moved = {name for name, index in self.later.items() if self._clears or not is_blank(cells[index])}
        # What does not fit is in the text of the document, and must not leave the property of another one.
        dropped = {name for name in self.text_names - blank if name not in row.properties}
        removed = (blank - derived if self._clears else set()) | exact | moved | dropped
        properties = {name: row.properties[name] for name in given if name in row.properties}
        return PropertyChanges(properties, frozenset(removed))


def _list_members(layout: Layout, field: str) -> frozenset[Key]:
    """Return the fields that a column of this field sets, and the properties with its text and that of its time."""
    times = [column.time for column in layout.date_columns if column.field == field and column.time is not None]
    names = [layout.names[index] for index in (*layout.find_columns(field), *times)]
    source = ["document_date_source"] if field == "document_date" else []
    fields = [field, precision_field(field), *source] if field in DATE_FIELDS else [field]
    return frozenset([*(Key(Kind.FIELD, name) for name in fields), *(Key(Kind.PROPERTY, name) for name in names)])


def _is_trimmed(cell: str) -> bool:
    return cell == cell.strip(ASCII_WHITESPACE)


def is_blank(cell: str) -> bool:
    """Return whether a cell has nothing but whitespace."""
    return not cell.strip(ASCII_WHITESPACE)
