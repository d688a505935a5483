"""The truth about a sample file: the content of each record and the expected result of its import.

Guarantees: derived from the generated rows and their positions in the file, never by reading the file; follows the
documented rules of the importer (the first record of an id is imported, a name has the spelling of its lowest line,
keys are never changed).
Does not guarantee: the text of messages, or the form of a value after truncation or cleaning.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from samples.columns import Column, Role
from samples.rows import Row
from samples.spec import KEY_LIMIT, PROPERTIES_LIMIT, TITLE_LIMIT, Spec
from samples.writer import RecordSpan

BLANKS = " \t\r\n\v\f"
_KEYS = {Role.ID, Role.CUSTODIAN, Role.ALL_CUSTODIANS, Role.TAGS}


@dataclass(frozen=True)
class ExpectedWarning:
    """A warning of an imported record; `column` is the header name, or the number from 1 in a headerless file."""

    code: str
    column: str


@dataclass(frozen=True)
class Record:
    """One record of a file.

    `cells` are decoded, with doubled qualifiers undone and ® and newlines as written; U+FFFD stands for bytes that
    cannot be decoded. The cells of a damaged record are those intended. `codes` is empty for an imported record.
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
        """Whether the record is imported."""
        return not self.codes


@dataclass(frozen=True)
class Truth:
    """The expected result of reading the whole file; `file_warnings` are those at line 0.

    `encoding` is the detected one: utf-8 with or without a byte order mark, and also for cp1252 that is all ASCII.
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
        """Return the number of records."""
        return len(self.records)

    @property
    def headers(self) -> tuple[str, ...]:
        """Return the header names; a headerless file has them here too."""
        return tuple(column.header for column in self.columns)

    @property
    def imported(self) -> tuple[Record, ...]:
        """Return the imported records in file order."""
        return tuple(record for record in self.records if record.imported)

    @property
    def rejected(self) -> tuple[Record, ...]:
        """Return the rejected records in file order."""
        return tuple(record for record in self.records if not record.imported)

    @property
    def custodian_names(self) -> frozenset[str]:
        """Return the custodians that the import creates, each in the spelling of its lowest line."""
        return frozenset(map_spellings(record.custodians for record in self.imported).values())

    @property
    def tag_names(self) -> frozenset[str]:
        """Return the tags that the import creates, nested ones as full paths."""
        return frozenset(map_spellings(record.tags for record in self.imported).values())

    def cell(self, record: Record, role: Role) -> str | None:
        """Return the record's first cell of a role; None where the file or the record does not have one."""
        index = next((column.index for column in self.columns if column.role is role), None)
        return record.cells[index] if index is not None and index < len(record.cells) else None

    def at_line(self, line: int) -> Record:
        """Return the record that begins at a physical line; raises KeyError."""
        for record in self.records:
            if record.first_line == line:
                return record
        raise KeyError(line)


def collation_key(name: str) -> str:
    """Return a key that is the same for names that differ only by case or accents."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in folded if not unicodedata.combining(letter))


def map_spellings(names_of_records: Iterator[tuple[str, ...]]) -> dict[str, str]:
    """Return the first spelling of every name, by collation key."""
    first: dict[str, str] = {}
    for names in names_of_records:
        for name in names:
            first.setdefault(collation_key(name), name)
    return first


def is_wide(text: str) -> bool:
    """Whether a utf8mb3 column cannot hold the text."""
    return any(ord(letter) > 0xFFFF for letter in text)


def judge(
    spec: Spec, columns: Sequence[Column], rows: Sequence[Row], spans: Sequence[RecordSpan]
) -> tuple[Record, ...]:
    """Return the truth of every record."""
    first_lines: dict[str, int] = {}
    records = []
    for row, span in zip(rows, spans, strict=True):
        records.append(_build_record(spec, columns, row, span, first_lines))
    return _add_merged_names(spec, columns, rows, records)


def _build_record(
    spec: Spec, columns: Sequence[Column], row: Row, span: RecordSpan, first_lines: dict[str, int]
) -> Record:
    control = row.control.strip(BLANKS) if row.unclosed is None else ""
    first_use = None
    if control and not row.wrong_count:
        first_use = first_lines.setdefault(control, span.first_line)
    original = first_use if first_use != span.first_line else None
    codes = _find_codes(spec, row, control, original is not None)
    return Record(
        row.index,
        span.first_line,
        span.line_count,
        span.byte_start,
        span.byte_len,
        tuple(row.cells),
        control or None,
        codes,
        original,
        () if codes else _find_warnings(spec, columns, row),
        tuple(dict.fromkeys(row.custodian + row.all_custodians)),
        row.tags,
        row.date,
        row.parent,
        row.family_begin,
    )


def _find_codes(spec: Spec, row: Row, control: str, repeated: bool) -> frozenset[str]:
    if row.unclosed is not None:
        return frozenset({"MALFORMED_QUOTING"})
    if row.wrong_count:
        return frozenset({"WRONG_CELL_COUNT"})
    keys = (control, *row.custodian, *row.all_custodians, *row.tags)
    conditions = {
        "UNDECODABLE_BYTES": bool(row.bad_bytes),
        "MISSING_ID": not control,
        "DUPLICATE_ID": repeated,
        "KEY_TOO_LONG": any(len(key) > KEY_LIMIT for key in keys),
        "KEY_NOT_STORABLE": spec.db_charset == "utf8mb3" and any(map(is_wide, keys)),
    }
    return frozenset(code for code, holds in conditions.items() if holds)


def column_name(spec: Spec, column: Column) -> str:
    """Return the column's name in reports: its header, or its number from 1."""
    return column.header if spec.header else str(column.index + 1)


def _find_warnings(spec: Spec, columns: Sequence[Column], row: Row) -> tuple[ExpectedWarning, ...]:
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


def _add_merged_names(
    spec: Spec, columns: Sequence[Column], rows: Sequence[Row], records: Sequence[Record]
) -> tuple[Record, ...]:
    """Add a warning for every name of an imported record whose spelling differs from its lowest line."""
    names = {column.role: column_name(spec, column) for column in columns}
    known = map_spellings(record.custodians for record in records if record.imported)
    judged = []
    for row, record in zip(rows, records, strict=True):
        others = [name for name in record.custodians if record.imported and known[collation_key(name)] != name]
        roles = [Role.CUSTODIAN if name in row.custodian else Role.ALL_CUSTODIANS for name in others]
        merged = tuple(ExpectedWarning("NAME_MERGED", names[role]) for role in roles)
        judged.append(replace(record, warnings=record.warnings + merged))
    return tuple(judged)
