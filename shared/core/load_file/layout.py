"""The decisions made once for a whole file, so that all of its chunks are read in the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, LATER_TEXTS, TEXTS
from core.file_options import FileOptions
from core.load_file.given_columns import MULTI_COLUMN_FIELDS, compute_header_fingerprint
from core.load_file.grammar import Grammar
from core.load_file.header_names import TIME_FIELDS, normalise_name
from core.load_file.list_values import ListSigns
from core.load_file.native_hashes import find_hash_columns
from core.load_mode import LoadMode

# Before the stored encoding. Earlier versions would ignore members that they do not know, and import other values; they
# find no such encoding and fail, while what they show of a layout stays the same (D251).
_READER = "2:"
# The same before that of a correction, whose bytes are cells and not a load file (D265).
_CELLS_READER = "3:"


@dataclass(frozen=True)
class DateColumn:
    """A column of dates: its index, the order of day and month, and the index of the column that holds their times.

    `zone` is the IANA name of the zone of times without an offset; None if it is not known. `format` is the one that
    the uploader states for its dates, `rules` the version of the rules for others, as in the layout.
    """

    field: str
    index: int
    order: str
    zone: str | None = None
    time: int | None = None
    format: str | None = None
    rules: int = 1


@dataclass(frozen=True)
class Layout:
    """How to read any part of the file.

    `names`, `fields` and `reasons` have one element per column. A field is None if the column is kept as a property. A
    reason is a MappingReason; there are none if the file was split by a version that did not keep them. They do not
    count when layouts are compared.
    `newline` is the character that represents a line break inside a cell (None: no character does).
    `date_order` is DMY or MDY; `date_orders` has the order of the dates in a field where it is not that one.
    `time_zone` is the IANA name of the zone of times without an offset, `time_zone_version` that of the database that
    has it. `date_formats` are the stated formats of dates by field. `date_rules` is 1 if other dates are read as the
    versions did that know nothing of `core.dates.notations`. `lists` says how cells of several values are
    separated. `load_mode` is what the rows do with existing exhibits. `files` are the options of a volume's
    files. `hashed_date` is the index of the column that was the document date before there were other dates.
    `body_start` is the byte and `body_line` the physical line where the records begin.
    `has_header`: the records come after a header; otherwise a line that names the delimiter may be before them.
    `image_format` is opt or lfp for an image load file, whose records are documents; `image_key` is then the column of
    the case's documents that their keys are looked up in. `judges_keys`: ids are taken out of formulas of spreadsheets,
    and those with control characters are rejected, which earlier versions did not do. `earlier_fields` are the fields
    that those gave the columns, if they differ. `header_line` is the option of this name. `any_number`: begin Bates
    numbers as keys can be those of other ranges that documents were delivered under. `json_cells`: the bytes that are
    read are those of a correction, JSON Lines of cells; all else is as in the file that it corrects.
    """

    encoding: str
    grammar: Grammar
    newline: str | None
    names: tuple[str, ...]
    fields: tuple[str | None, ...]
    date_order: str
    body_start: int
    body_line: int
    has_header: bool = True
    reasons: tuple[str, ...] = field(default=(), compare=False)
    date_orders: Mapping[str, str] = field(default_factory=dict)
    time_zone: str | None = None
    time_zone_version: str | None = None
    hashed_date: int | None = None
    load_mode: LoadMode = field(default_factory=LoadMode)
    files: FileOptions = field(default_factory=FileOptions)
    image_format: str | None = None
    image_key: str | None = None
    date_formats: Mapping[str, str] = field(default_factory=dict)
    date_rules: int = 1
    lists: ListSigns = field(default_factory=ListSigns)
    judges_keys: bool = False
    earlier_fields: tuple[str | None, ...] = ()
    header_line: int | None = None
    any_number: bool = False
    json_cells: bool = False

    def to_json(self) -> str:
        """Return the layout as JSON text for `from_json`, by which earlier versions can read no chunk."""
        reader = _CELLS_READER if self.json_cells else _READER
        return json.dumps({**asdict(self), "encoding": reader + self.encoding}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Layout:
        """Return the layout that `to_json` wrote in this version or another one, without what is unknown here."""
        values = _select_known(cls, json.loads(text))
        values["grammar"] = Grammar(**_select_known(Grammar, values["grammar"]))
        values["encoding"] = values["encoding"].removeprefix(_READER).removeprefix(_CELLS_READER)
        # The layouts of files that an earlier version split have neither `has_header` nor `reasons`.
        values.setdefault("has_header", values["body_line"] > 1)
        for name in ("names", "fields", "reasons", "earlier_fields"):
            values[name] = tuple(values.get(name, ()))
        values["load_mode"] = LoadMode.from_stored(values.get("load_mode", {}))
        values["files"] = FileOptions.from_stored(values.get("files", {}))
        values["lists"] = ListSigns.from_stored(values.get("lists", {}))
        return cls(**values)

    def fingerprint_header(self) -> str | None:
        """Return the hash by which a profile is suggested for a file, in hexadecimal; None for one without a header."""
        return compute_header_fingerprint(self.names, self.grammar.delimiter) if self.has_header else None

    def get_date_order(self, field: str) -> str:
        """Return DMY or MDY for the dates of a field."""
        return self.date_orders.get(field, self.date_order)

    @cached_property
    def date_columns(self) -> tuple[DateColumn, ...]:
        """The columns of dates, in the order of DATE_FIELDS."""
        return tuple(self._describe_date(date, self.fields.index(date)) for date in DATE_FIELDS if date in self.fields)

    def _describe_date(self, date: str, index: int) -> DateColumn:
        time = next(iter(self.find_columns(TIME_FIELDS[date])), None)
        names = [self.names[each] for each in (index, time) if each is not None]
        # "Sent Date (UTC)" states its zone.
        zone = "UTC" if any(normalise_name(name).endswith(("utc", "gmt")) for name in names) else self.time_zone
        return DateColumn(
            *(date, index, self.get_date_order(date), zone, time), self.date_formats.get(date), self.date_rules
        )

    @cached_property
    def first_date(self) -> int | None:
        """The index of the column that was the document date before there were other dates."""
        if self.hashed_date is None and "document_date" in self.fields:
            return self.fields.index("document_date")
        return self.hashed_date

    @cached_property
    def was_hashed_otherwise(self) -> bool:
        """Whether versions with one date computed other row hashes for this file; they had no time zones."""
        has_more = any(column.field != "document_date" or column.time is not None for column in self.date_columns)
        return has_more and self.time_zone is None

    @cached_property
    def later_texts(self) -> tuple[tuple[str, int], ...]:
        """The texts that earlier versions kept as properties, in the order of LATER_TEXTS, and their columns."""
        return tuple((field, self.fields.index(field)) for field in LATER_TEXTS if field in self.fields)

    @cached_property
    def earlier(self) -> Layout | None:
        """The layout of the file in versions that knew fewer names of columns; None if it was this one."""
        return replace(self, fields=self.earlier_fields, earlier_fields=()) if self.earlier_fields else None

    @cached_property
    def moved_texts(self) -> tuple[tuple[str, int], ...]:
        """The texts and keys that are properties of documents which earlier versions stored, and their columns."""
        later = [
            (str(field), index)
            for index, (field, earlier) in enumerate(zip(self.fields, self.earlier_fields, strict=False))
            if field in (*KEYS, *TEXTS) and earlier is None
        ]
        return (*self.later_texts, *(each for each in later if each not in self.later_texts))

    @cached_property
    def later_names(self) -> frozenset[str]:
        """The columns of names that earlier versions did not read as such."""
        pairs = zip(self.names, self.fields, self.earlier_fields, strict=False)
        return frozenset(name for name, field, earlier in pairs if field in MULTI_COLUMN_FIELDS and earlier is None)

    @cached_property
    def titles(self) -> Mapping[str | None, str]:
        """The name of the first column that feeds each field."""
        return dict(reversed([*zip(self.fields, self.names, strict=False)]))

    @cached_property
    def hash_columns(self) -> tuple[int, ...]:
        """The indexes of the columns of hashes of the native, in order of preference."""
        return find_hash_columns(self.names, self.fields)

    def find_columns(self, field: str) -> list[int]:
        """Return the indexes of the columns that feed a field, in file order."""
        return [index for index, name in enumerate(self.fields) if name == field]


def _select_known(kind: type[Layout] | type[Grammar], values: Mapping[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in values.items() if name in names}
