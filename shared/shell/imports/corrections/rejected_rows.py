"""List the rejected rows of an import as cells, with their errors and what happened to them since.

Guaranteed: a page is made from three statements and at most MAX_READS ranged reads of the file, and has about 2 MB at
most; the next one begins after its last line. A row that cannot be read as cells, or that is too long for a page, has
none: its error file has it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import Any

from sqlalchemy import text

from core.caller import Caller
from core.codes import Rejection
from core.contracts.imports.corrections import CellError, RejectedCells, RejectedRowPage, RowColumn
from core.imports.rejected_cells import (
    MAX_CELL_BYTES,
    MAX_RAW_BYTES,
    RejectedRecord,
    read_record,
    suggest_value,
)
from core.load_file.encoding import replace_surrogates
from core.load_file.layout import Layout
from core.pagination import decode_cursor, encode_cursor
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.imports.state.access import require_import
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names

MAX_PAGE_BYTES, MAX_READS = 1_800_000, 16
# Rows between which there is less are read together, up to the size of a window.
_MAX_GAP, _MAX_WINDOW = 250_000, 2_000_000
_OPEN = {
    "true": "AND (claim.status IS NULL OR claim.status = 'pending')",
    "false": "AND claim.status IN ('accepted', 'discarded')",
}
_WITH_CODE = (
    "AND EXISTS (SELECT 1 FROM import_rejections AS of_code WHERE of_code.import_id = rejection.import_id "
    "AND of_code.line_no = rejection.line_no AND of_code.code = :code)"
)
# The claims of an import that does not run are open; the other columns tell of one that is taken.
_ROWS = (
    "SELECT rejection.line_no, rejection.byte_start, rejection.byte_len, rejection.original_line, rejection.row_count, "
    "IF(claim.status = 'discarded', claim.user_id, NULL) AS discarded_by, "
    "claim.created_at, claim.status, IF(claim.status = 'accepted' OR correcting.status = 'running', "
    "claim.correcting_import_id, NULL) AS correcting_id "
    "FROM import_rejections AS rejection LEFT JOIN import_corrections AS claim "
    "ON claim.import_id = rejection.import_id AND claim.line_no = rejection.line_no "
    "LEFT JOIN imports AS correcting ON correcting.id = claim.correcting_import_id "
    "WHERE rejection.import_id = :import_id AND rejection.line_no > :after AND rejection.seq = 0 {filters} "
    "ORDER BY rejection.line_no LIMIT :most"
)
_ERRORS = text(
    "SELECT rejection.line_no, rejection.column_name, rejection.code, rejection.message "
    "FROM JSON_TABLE(:lines, '$[*]' COLUMNS (line_no BIGINT PATH '$')) AS asked "
    "STRAIGHT_JOIN import_rejections AS rejection FORCE INDEX (PRIMARY) "
    "ON rejection.import_id = :import_id AND rejection.line_no = asked.line_no ORDER BY 1, rejection.seq"
)


def list_rejected_rows(
    caller: Caller, import_id: int, code: str | None, is_open: str | None, limit: int, after: str | None
) -> RejectedRowPage:
    """Return a page of the rejected rows in file order.

    Raises NotFoundError if the tenant has no such import, InvalidInputError if `after` is not a valid cursor, and
    FileRefusedError (SOURCE_GONE) if the file was deleted.
    """
    line = 0 if after is None else decode_cursor(after, (int,))[0]
    original, rows, errors, users = _load(caller, import_id, code, is_open, limit + 1, line)
    layout = Layout.from_json(original.layout) if original.layout else None
    if layout is None:
        return RejectedRowPage(columns=None, items=[], next=None)
    items: list[RejectedCells] = []
    size = 0
    for row, record in _read_rows(original, layout, rows[:limit]):
        item = _build_item(row, record, errors[row.line_no], layout, users)
        size += len(item.model_dump_json())
        if items and size > MAX_PAGE_BYTES:
            break
        items.append(item)
    more = len(rows) > len(items)
    return RejectedRowPage(
        columns=_list_columns(layout), items=items, next=encode_cursor(items[-1].line) if more and items else None
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(
    caller: Caller, import_id: int, code: str | None, is_open: str | None, most: int, after: int
) -> tuple[Imports, Sequence[Any], Mapping[int, list[Any]], Mapping[str, str]]:
    filters = " ".join((_OPEN[is_open] if is_open else "", _WITH_CODE if code else ""))
    place = {"import_id": import_id, "after": after, "most": most, **({"code": code} if code else {})}
    with session() as reading:
        require_import(reading, caller, import_id)
        rows = reading.execute(text(_ROWS.format(filters=filters)), place).all()
        lines = json.dumps([row.line_no for row in rows])
        errors: dict[int, list[Any]] = {}
        for error in reading.execute(_ERRORS, {"import_id": import_id, "lines": lines}):
            errors.setdefault(error.line_no, []).append(error)
        users = read_user_names(reading, caller.tenant_id, [row.discarded_by for row in rows])
        return reading.get_one(Imports, import_id), rows, errors, users


def _read_rows(original: Imports, layout: Layout, rows: Sequence[Any]) -> Iterator[tuple[Any, RejectedRecord]]:
    """Yield the rows with their records, of as many as MAX_READS reads return."""
    source = ObjectVersion(original.bucket, original.object_key, original.version_id, original.etag)
    for number, window in enumerate(_group(rows)):
        if number == MAX_READS:
            return
        start = window[0].byte_start
        raw = source.read(start, window[-1].byte_start + _count_needed(window[-1]))
        for row in window:
            at = row.byte_start - start
            yield row, read_record(raw[at : at + _count_needed(row)], row.byte_len, layout, row.line_no)


def _group(rows: Sequence[Any]) -> Iterator[list[Any]]:
    window: list[Any] = []
    for row in rows:
        if window:
            start, end = window[0].byte_start, window[-1].byte_start + _count_needed(window[-1])
            if row.byte_start - end > _MAX_GAP or row.byte_start + _count_needed(row) - start > _MAX_WINDOW:
                yield window
                window = []
        window.append(row)
    if window:
        yield window


def _count_needed(row: Any) -> int:
    """Return how many bytes of a row are read: all that become cells, of a longer one its beginning."""
    return int(row.byte_len if row.byte_len <= MAX_CELL_BYTES else MAX_RAW_BYTES)


def _build_item(
    row: Any, record: RejectedRecord, errors: Sequence[Any], layout: Layout, users: Mapping[str, str]
) -> RejectedCells:
    is_chunk = errors[0].code == Rejection.CHUNK_FAILED
    cells = None if is_chunk or record.cells is None else [replace_surrogates(cell) for cell in record.cells]
    return RejectedCells(
        line=row.line_no,
        rows=row.row_count,
        original_line=row.original_line,
        cells=cells,
        raw=record.raw,
        raw_is_truncated=record.is_truncated,
        errors=[_build_error(error, record, layout) for error in errors],
        corrected_by=row.correcting_id,
        discarded_by=row.discarded_by,
        discarded_by_name=users.get(row.discarded_by),
        discarded_at=row.created_at.replace(tzinfo=UTC) if row.discarded_by is not None else None,
    )


def _build_error(error: Any, record: RejectedRecord, layout: Layout) -> CellError:
    names = [replace_surrogates(name[:255]) for name in layout.names]
    index = names.index(error.column_name) if error.column_name in names else None
    cell = record.cells[index] if record.cells is not None and index is not None and index < len(record.cells) else None
    return CellError(
        column=error.column_name,
        column_number=None if index is None else index + 1,
        code=error.code,
        message=error.message,
        suggestion=None if cell is None else suggest_value(error.code, cell, layout),
    )


def _list_columns(layout: Layout) -> list[RowColumn] | None:
    if layout.image_format:
        return None
    return [
        RowColumn(number=number, name=replace_surrogates(name[:255]), field=field)
        for number, (name, field) in enumerate(zip(layout.names, layout.fields, strict=True), start=1)
    ]
