"""Read what an import rejected, and what it warns of: the sums by code, and the lists, of all or of one code or column.

Guaranteed: a call takes the same few statements for any number of rows; pages follow each other by key, in the order of
the file. A list of one code or column is read by the index of codes, from the first line that has it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.reports import MAX_CODES, BatesNumbers, CodeCount, CodeCounts
from core.contracts.imports.rows import ChangedValue, RejectedRow, RejectionPage, WarningPage
from core.load_file.encoding import replace_surrogates
from core.pagination import decode_cursor, paginate
from core.statuses import CodeKind
from shell.db.session import session
from shell.imports.state.access import require_import
from shell.imports.state.code_sums import CodeSum, read_codes, select_codes
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# The row comparison (line_no, seq) > (:line_no, :seq) would make the servers read all preceding rows as well.
_AFTER = (
    "FROM {table} {index} WHERE import_id = :import_id AND line_no >= :line_no AND (line_no > :line_no OR seq > :seq)"
)
_ORDER = "ORDER BY line_no, seq LIMIT :most"
# As the names are counted: by bytes.
_COLUMN = "AND column_name = :column AND CAST(column_name AS BINARY) = CAST(:column AS BINARY)"
_COMMON = "line_no, seq, column_name, code, message, control_number, byte_start, byte_len"
_IS_OPEN = (
    "AND NOT EXISTS (SELECT 1 FROM import_corrections AS claim WHERE claim.import_id = import_rejections.import_id "
    "AND claim.line_no = import_rejections.line_no AND claim.status IN ('accepted', 'discarded'))"
)
# MySQL reserves `stored`, MariaDB does not.
_FIELDS = {
    CodeKind.REJECTION: f"{_COMMON}, row_count, original_line",
    CodeKind.WARNING: f"{_COMMON}, original, original_bytes, stored_bytes, `stored`",
}
# Documents of a file that was imported again belong to the import that created them.
_OF_FILE = (
    "FROM imports AS this JOIN imports AS same ON same.case_id = this.case_id AND (same.id = this.id "
    "OR same.sha256 = this.sha256) JOIN exhibits AS e ON e.import_id = same.id "
    "WHERE this.id = :import_id AND e.bates_begin IS NOT NULL "
)
_FIRST_BATES = text(
    f"SELECT e.bates_begin {_OF_FILE} "
    "ORDER BY REGEXP_REPLACE(e.bates_begin, '[0-9]+$', ''), CHAR_LENGTH(e.bates_begin), e.bates_begin LIMIT 1"
)
_LAST = "COALESCE(e.bates_end, e.bates_begin)"
_LAST_BATES = text(
    f"SELECT {_LAST} {_OF_FILE} "
    f"ORDER BY REGEXP_REPLACE({_LAST}, '[0-9]+$', '') DESC, CHAR_LENGTH({_LAST}) DESC, {_LAST} DESC LIMIT 1"
)
_TABLES = {CodeKind.REJECTION: "import_rejections", CodeKind.WARNING: "import_warnings"}
Page = tuple[Sequence[Any], str | None, int]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_codes(caller: Caller, import_id: int) -> CodeCounts:
    """Return how many rejections and warnings the import has, by code and column.

    Raises NotFoundError if the tenant has no such import.
    """
    with session() as reading:
        require_import(reading, caller, import_id)
        sums = read_codes(reading, import_id)
    kinds = [select_codes(sums, kind, None, None) for kind in CodeKind]
    rejections, warnings = ([_build_count(each) for each in found[:MAX_CODES]] for found in kinds)
    is_complete = all(len(found) <= MAX_CODES for found in kinds)
    return CodeCounts(rejections=rejections, warnings=warnings, is_complete=is_complete)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_bates(caller: Caller, import_id: int) -> BatesNumbers:
    """Return the first and the last Bates number of the documents that imports of the import's file created.

    Raises NotFoundError if the tenant has no such import.
    """
    with session() as reading:
        require_import(reading, caller, import_id)
        place = {"import_id": import_id}
        first, last = (reading.execute(statement, place).scalar() for statement in (_FIRST_BATES, _LAST_BATES))
    return BatesNumbers(first=first, last=last)


def _build_count(found: CodeSum) -> CodeCount:
    values = found._asdict()
    del values["kind"]
    return CodeCount(count=values.pop("errors"), **values)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_rejections(
    caller: Caller,
    import_id: int,
    limit: int,
    after: str | None,
    code: str | None = None,
    column: str | None = None,
    *,
    is_open: str | None = None,
) -> RejectionPage:
    """Return a page of the rejected rows, each with all of its errors, in file order, or those of a code or column.

    `is_open`: only rows that are neither corrected nor discarded; these are not counted.

    Raises NotFoundError if the tenant has no such import, InvalidInputError if `after` is not a valid cursor.
    """
    condition = _IS_OPEN if is_open else ""
    rows, cursor, total = _read_page(CodeKind.REJECTION, caller, import_id, limit, after, code, column, condition)
    items = [_build_rejection(row) for row in rows]
    return RejectionPage(items=items, next=cursor, total=None if is_open else total)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_warnings(
    caller: Caller,
    import_id: int,
    limit: int,
    after: str | None,
    code: str | None = None,
    column: str | None = None,
) -> WarningPage:
    """Return a page of the warnings in file order; raises the errors of `list_rejections`."""
    rows, cursor, total = _read_page(CodeKind.WARNING, caller, import_id, limit, after, code, column)
    return WarningPage(items=[_build_warning(row) for row in rows], next=cursor, total=total)


def _read_page(
    kind: CodeKind,
    caller: Caller,
    import_id: int,
    limit: int,
    after: str | None,
    code: str | None,
    column: str | None,
    condition: str = "",
) -> Page:
    line_no, seq = (0, -1) if after is None else decode_cursor(after, (int, int))
    place = {"import_id": import_id, "line_no": line_no, "seq": seq, "most": limit + 1, "column": column}
    with session() as reading:
        require_import(reading, caller, import_id)
        sums = select_codes(read_codes(reading, import_id), kind, code, column)
        total = sum(each.errors for each in sums)
        rows = _read_rows(reading, kind, place, sums if code or column else None, condition)
        return *paginate(rows, limit, lambda row: (row.line_no, row.seq)), total


def _read_rows(
    reading: Session, kind: CodeKind, place: Mapping[str, Any], sums: Sequence[CodeSum] | None, condition: str
) -> Sequence[Any]:
    """Read rows after a place; `sums` are those of the code or column, None without a filter.

    `condition` is one that the rows must meet besides.
    """
    table, fields = _TABLES[kind], _FIELDS[kind]
    if sums is None:
        # Constants of this module.
        source = f"{_AFTER.format(table=table, index='')} {condition}"
        return reading.execute(text(f"SELECT {fields} {source} {_ORDER}"), place).all()
    codes = sorted({each.code for each in sums})
    if not codes:
        return []
    source = f"{_AFTER.format(table=table, index=f'FORCE INDEX (ix_{table}_code)')} {condition}"
    by_column = "" if place["column"] is None else _COLUMN
    parts = (
        f"(SELECT {fields} {source} AND code = :code{number} AND line_no >= :first{number} {by_column} {_ORDER})"
        for number in range(len(codes))
    )
    firsts = (min(each.first_line for each in sums if each.code == code) for code in codes)
    values: dict[str, Any] = {f"code{number}": code for number, code in enumerate(codes)}
    values |= {f"first{number}": first for number, first in enumerate(firsts)}
    return reading.execute(text(f"{' UNION ALL '.join(parts)} {_ORDER}"), {**place, **values}).all()


def _build_rejection(row: Any) -> RejectedRow:
    names = ("column_name", "code", "message", "control_number", "byte_start", "original_line")
    return RejectedRow(line=row.line_no, rows=row.row_count, byte_length=row.byte_len, **_select_fields(row, names))


def _build_warning(row: Any) -> ChangedValue:
    names = ("column_name", "code", "message", "control_number", "original_bytes", "stored_bytes", "byte_start")
    original = None if row.original is None else bytes(row.original)
    return ChangedValue(
        line=row.line_no,
        original=None if original is None else base64.b64encode(original).decode(),
        original_text=_decode(original),
        stored_text=_decode(None if row.stored is None else bytes(row.stored)),
        byte_length=row.byte_len,
        **_select_fields(row, names),
    )


def _decode(stored: bytes | None) -> str | None:
    """Return the text of a stored value, with U+FFFD for what could not be decoded of the file."""
    if stored is None:
        return None
    return replace_surrogates(stored.decode("utf-8", "surrogatepass"))


def _select_fields(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name.removesuffix("_name"): getattr(row, name) for name in names}
