"""The truth about a sample file: what each record is, and what must become of it.

Guarantees: found from the rows that were drawn and from where the writer put them, never by reading the file; follows
the rules that the importer documents (a claimed id, the lowest line's spelling, keys that are never changed).
Does not guarantee: the text of any message, nor what a value looks like after it was cut or cleaned.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from samples.columns import Column, Role
from samples.rows import Row
from samples.spec import KEY_LIMIT, PROPERTIES_LIMIT, TITLE_LIMIT, Spec
from samples.writer import Place

BLANKS = " \t\r\n\v\f"
_KEYS = {Role.ID, Role.CUSTODIAN, Role.ALL_CUSTODIANS, Role.TAGS}


@dataclass(frozen=True)
class ExpectedWarning:
    """A warning of an imported record; `column` is the header name, or the number from 1 where there is no header."""

    code: str
    column: str


@dataclass(frozen=True)
class Record:
    """One record of a file.

    `cells` are decoded, doubled qualifiers undone, ® and newlines as written; U+FFFD stands for bytes that cannot be
    decoded. A damaged record's cells are those that were meant. `codes` is empty where the record is imported.
    """

    index: int
    first_line: int
    line_count: int
    byte_start: int
    byte_len: int
    cells: tuple[str, ...]
    control_number: str | None
    codes: frozenset[str]
    duplicate_of_line: int | None
    warnings: tuple[ExpectedWarning, ...]
    custodians: tuple[str, ...]
    tags: tuple[str, ...]
    document_date: datetime | None
    parent: str | None
    family_begin: str | None

    @property
    def imported(self) -> bool:
        """Whether the record lands in the database."""
        return not self.codes

    @property
    def warning_codes(self) -> frozenset[str]:
        """The codes of its warnings."""
        return frozenset(warning.code for warning in self.warnings)


@dataclass(frozen=True)
class Truth:
    """What a reader must find in the whole file; `file_warnings` are those at line 0.

    `encoding` is the one that must be found: utf-8 with and without a byte order mark, and for cp1252 that is ASCII.
    """

    records: tuple[Record, ...]
    encoding: str
    delimiter: str
    qualifier: str
    newline: str
    newline_mark: str
    columns: tuple[Column, ...]
    has_header: bool
    header_len: int
    date_order: str
    file_warnings: tuple[str, ...]

    @property
    def rows_seen(self) -> int:
        """How many records there are."""
        return len(self.records)

    @property
    def headers(self) -> tuple[str, ...]:
        """The header names; also of headerless files, where nobody sees them."""
        return tuple(column.header for column in self.columns)

    @property
    def imported(self) -> tuple[Record, ...]:
        """The records that land in the database, in file order."""
        return tuple(record for record in self.records if record.imported)

    @property
    def rejected(self) -> tuple[Record, ...]:
        """The records that come back, in file order."""
        return tuple(record for record in self.records if not record.imported)

    @property
    def custodian_names(self) -> frozenset[str]:
        """The custodians that the import creates, each in the spelling of its lowest line."""
        return frozenset(spellings(record.custodians for record in self.imported).values())

    @property
    def tag_names(self) -> frozenset[str]:
        """The tags that the import creates, nested ones as full paths."""
        return frozenset(spellings(record.tags for record in self.imported).values())

    def cell(self, record: Record, role: Role) -> str | None:
        """The record's first cell of a role; None where the file or the record has none."""
        place = next((column.index for column in self.columns if column.role is role), None)
        return record.cells[place] if place is not None and place < len(record.cells) else None

    def at_line(self, line: int) -> Record:
        """The record that begins at a physical line; raises KeyError."""
        for record in self.records:
            if record.first_line == line:
                return record
        raise KeyError(line)


def collation_key(name: str) -> str:
    """The same for names that differ by case or accents alone."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in folded if not unicodedata.combining(letter))


def spellings(names_of_records: Iterator[tuple[str, ...]]) -> dict[str, str]:
    """The first spelling of every name, by collation key."""
    first: dict[str, str] = {}
    for names in names_of_records:
        for name in names:
            first.setdefault(collation_key(name), name)
    return first


def is_wide(text: str) -> bool:
    """Whether a utf8mb3 column cannot hold the text."""
    return any(ord(letter) > 0xFFFF for letter in text)


def judge(spec: Spec, columns: Sequence[Column], rows: Sequence[Row], places: Sequence[Place]) -> tuple[Record, ...]:
    """The truth of every record."""
    claims: dict[str, int] = {}
    records = []
    for row, place in zip(rows, places, strict=True):
        records.append(_record(spec, columns, row, place, claims))
    return _with_merged_names(spec, columns, rows, records)


def _record(spec: Spec, columns: Sequence[Column], row: Row, place: Place, claims: dict[str, int]) -> Record:
    control = row.control.strip(BLANKS) if row.unclosed is None else ""
    first_claim = None
    if control and not row.wrong_count:
        first_claim = claims.setdefault(control, place.first_line)
    original = first_claim if first_claim != place.first_line else None
    codes = _codes(spec, row, control, original is not None)
    return Record(
        row.index,
        place.first_line,
        place.line_count,
        place.byte_start,
        place.byte_len,
        tuple(row.cells),
        control or None,
        codes,
        original,
        () if codes else _warnings(spec, columns, row),
        tuple(dict.fromkeys(row.custodian + row.all_custodians)),
        row.tags,
        row.date,
        row.parent,
        row.family_begin,
    )


def _codes(spec: Spec, row: Row, control: str, repeated: bool) -> frozenset[str]:
    if row.unclosed is not None:
        return frozenset({"MALFORMED_QUOTING"})
    if row.wrong_count:
        return frozenset({"WRONG_CELL_COUNT"})
    keys = (control, *row.custodian, *row.all_custodians, *row.tags)
    found = {
        "UNDECODABLE_BYTES": bool(row.bad_bytes),
        "MISSING_ID": not control,
        "DUPLICATE_ID": repeated,
        "KEY_TOO_LONG": any(len(key) > KEY_LIMIT for key in keys),
        "KEY_NOT_STORABLE": spec.db_charset == "utf8mb3" and any(map(is_wide, keys)),
    }
    return frozenset(code for code, is_so in found.items() if is_so)


def column_name(spec: Spec, column: Column) -> str:
    """How a report calls the column."""
    return column.header if spec.header else str(column.index + 1)


def _warnings(spec: Spec, columns: Sequence[Column], row: Row) -> tuple[ExpectedWarning, ...]:
    found = []
    for column in columns:
        text, name = row.cells[column.index], column_name(spec, column)
        if column.role is Role.DOCUMENT_DATE and row.invalid_date:
            found.append(ExpectedWarning("INVALID_DATE", name))
        if column.role not in _KEYS and spec.db_charset == "utf8mb3" and is_wide(text):
            found.append(ExpectedWarning("CHARACTERS_REMOVED", name))
        if column.role is Role.TITLE and len(text) > TITLE_LIMIT:
            found.append(ExpectedWarning("VALUE_TRUNCATED", name))
        if column.role is Role.PROPERTY and len(text) > PROPERTIES_LIMIT:
            found.append(ExpectedWarning("PROPERTY_DROPPED", name))
    return tuple(found)


def _with_merged_names(
    spec: Spec, columns: Sequence[Column], rows: Sequence[Row], records: Sequence[Record]
) -> tuple[Record, ...]:
    """Warn of every name of an imported record that is spelled otherwise than at its lowest line."""
    names = {column.role: column_name(spec, column) for column in columns}
    known = spellings(record.custodians for record in records if record.imported)
    judged = []
    for row, record in zip(rows, records, strict=True):
        others = [name for name in record.custodians if record.imported and known[collation_key(name)] != name]
        roles = [Role.CUSTODIAN if name in row.custodian else Role.ALL_CUSTODIANS for name in others]
        merged = tuple(ExpectedWarning("NAME_MERGED", names[role]) for role in roles)
        judged.append(replace(record, warnings=record.warnings + merged))
    return tuple(judged)
