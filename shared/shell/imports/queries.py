"""Read imports for the API: their progress, rejected rows and warnings.

Guaranteed: no call reads another tenant's rows; a call takes the same few statements for any number of imports, rows
or chunks; pages follow each other by key, so that an item that exists throughout is listed exactly once.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import text

from core.caller import Caller
from core.contracts.import_pages import PageReconciliation
from core.contracts.import_rows import ChangedValue, RejectedRow, RejectionPage, WarningPage
from core.contracts.imports import (
    MAX_LISTED_COLUMNS,
    ImportColumn,
    ImportDetails,
    ImportPage,
    ImportState,
    LoadModeState,
    ProfileUse,
    ReportUrls,
)
from core.imports.column_report import describe_columns
from core.imports.report_files import build_deficiency_keys, build_report_keys
from core.load_file.layout import Layout
from core.pagination import MAX_NUMBER, decode_cursor, paginate
from core.statuses import ImportStatus
from shell.aws.presigned_urls import presign_get
from shell.db.session import session
from shell.exhibits.cases import WALL_CASES, get_case_id, wall_values
from shell.imports.pages.queries import read_reconciliation
from shell.imports.profiles import suggest_profiles
from shell.imports.state.access import require_import
from shell.imports.state.check_summary import describe_check
from shell.imports.state.import_states import COLUMNS, SOURCE, build_states, read_import
from shell.settings import settings
from shell.tables.import_checks import ImportChecks
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.figures import FoundFiles, read_found_files, read_page_figures

_PAGE = (
    f"SELECT {COLUMNS} {SOURCE} AND i.id < :before {{filters}} ORDER BY i.id DESC LIMIT :most",
    {"case_id": "AND i.case_id = :case_id", "status": "AND i.status = :status"},
)
_FIND_UNDO = text(
    "SELECT MIN(other.id) FROM imports AS i JOIN imports AS other ON other.case_id = i.case_id "
    "WHERE i.id = :import_id AND i.status = 'splitting' AND i.phase = 'import' AND other.status = 'undoing'"
)
# The row comparison (line_no, seq) > (:line_no, :seq) would make the servers read all preceding rows as well.
_AFTER = (
    "WHERE import_id = :import_id AND line_no >= :line_no AND (line_no > :line_no OR seq > :seq) "
    "ORDER BY line_no, seq LIMIT :most"
)
_OF_REJECTIONS = (
    "SELECT line_no, seq, row_count, column_name, code, message, control_number, byte_start, byte_len, original_line "
    "FROM import_rejections"
)
_REJECTIONS = text(f"{_OF_REJECTIONS} {_AFTER}")
_IS_OPEN = (
    "AND NOT EXISTS (SELECT 1 FROM import_corrections AS claim WHERE claim.import_id = import_rejections.import_id "
    "AND claim.line_no = import_rejections.line_no AND claim.status IN ('accepted', 'discarded'))"
)
_OPEN_REJECTIONS = text(f"{_OF_REJECTIONS} {_AFTER.replace('ORDER BY', f'{_IS_OPEN} ORDER BY')}")
_WARNINGS = text(
    "SELECT line_no, seq, column_name, code, message, control_number, original, original_bytes, stored_bytes, "  # noqa: S608
    f"byte_start, byte_len FROM import_warnings {_AFTER}"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_imports(
    caller: Caller, case: str | None, status: ImportStatus | None, limit: int, after: str | None
) -> ImportPage:
    """Return a page of the tenant's imports, newest first, optionally of one case or in one status.

    Raises NotFoundError if the tenant has no such case, InvalidInputError if `after` is not a valid cursor.
    """
    before = MAX_NUMBER if after is None else decode_cursor(after, (int,))[0]
    statement, filters = _PAGE
    with session() as reading:
        case_id = None if case is None else get_case_id(reading, caller, case)
        possible = {"case_id": case_id, "status": None if status is None else status.value}
        given = {name: value for name, value in possible.items() if value is not None}
        page = text(statement.format(filters=" ".join(filters[name] for name in given))).bindparams(WALL_CASES)
        values = {"tenant_id": caller.tenant_id, "before": before, "most": limit + 1, **given, **wall_values(caller)}
        rows, cursor = paginate(reading.execute(page, values).all(), limit, lambda row: (row.id,))
        return ImportPage(items=build_states(reading, rows), next=cursor)


def get_import(caller: Caller, import_id: int) -> ImportDetails:
    """Return the import's progress and columns, and URLs of its report files, valid for UPLOAD_URL_SECONDS.

    Raises NotFoundError if the tenant has no import with this id, StorageUnavailableError if no URL can be signed.
    """
    state, layout, suggested, check, undone, found = _load_import(caller, import_id)
    columns = _build_columns(layout)
    deficiencies, reconciliation = _load_files_for_sender(import_id)
    urls = _report_urls(state, deficiencies, has_columns=columns is not None)
    checked = describe_check(check)
    return ImportDetails(
        **dict(state),
        load_mode=LoadModeState(**asdict(layout.load_mode)) if layout else None,
        columns=columns,
        suggested_profiles=suggested,
        reports=urls,
        files=found.files,
        stored_paths=found.stored_paths,
        pages=read_page_figures(import_id) if layout and layout.image_format else None,
        reconciliation=reconciliation,
        check=checked,
        waits_for_undo_of=undone,
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load_import(
    caller: Caller, import_id: int
) -> tuple[ImportState, Layout | None, list[ProfileUse], ImportChecks | None, int | None, FoundFiles]:
    with session() as reading:
        state, stored = read_import(reading, caller, import_id)
        layout = Layout.from_json(stored) if stored else None
        suggested = suggest_profiles(reading, caller, layout.fingerprint_header() if layout else None)
        is_split = state.status is not ImportStatus.SPLITTING
        undone = None if is_split else reading.execute(_FIND_UNDO, {"import_id": import_id}).scalar()
        checked = reading.get(ImportChecks, import_id)
        found = read_found_files(reading, import_id, layout.names, layout.fields) if layout else FoundFiles()
        return state, layout, suggested, checked, undone, found


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load_files_for_sender(import_id: int) -> tuple[int, PageReconciliation | None]:
    """Return the generation whose reports list deficiencies, and the reconciliation, of an import that was found."""
    with session() as reading:
        import_record = reading.get_one(Imports, import_id)
        return import_record.deficiencies_generation, read_reconciliation(reading, import_id)


def _build_columns(layout: Layout | None) -> list[ImportColumn] | None:
    """Return the first columns; None if the file is not split, or was split by a version that kept no reasons."""
    described = describe_columns(layout, MAX_LISTED_COLUMNS) if layout else []
    return [
        # Long names of many columns would exceed the size of a response.
        ImportColumn(**asdict(replace(column, name=column.name[:255], time_column=_cut(column.time_column))))
        for column in described
    ] or None


def _cut(name: str | None) -> str | None:
    return name and name[:255]


def _report_urls(state: ImportState, deficiencies: int, *, has_columns: bool) -> ReportUrls | None:
    if not state.reports_generation:
        return None
    config = settings()
    keys = build_report_keys(state.id, state.file_name, state.reports_generation)
    urls = {name: presign_get(config.bucket, key) for name, key in keys._asdict().items()}
    columns = urls.pop("columns")
    table, text_url = (
        presign_get(config.bucket, key) if deficiencies == state.reports_generation else None
        for key in build_deficiency_keys(state.id, state.reports_generation)
    )
    return ReportUrls(
        **urls,
        columns=columns if has_columns else None,
        deficiencies=table,
        deficiencies_text=text_url,
        expires_in_seconds=config.upload_url_seconds,
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_rejections(
    caller: Caller, import_id: int, limit: int, after: str | None, *, is_open: str | None = None
) -> RejectionPage:
    """Return a page of the rejected rows, each with all of its errors, in file order; `is_open`: only open ones.

    Raises NotFoundError if the tenant has no such import, InvalidInputError if `after` is not a valid cursor.
    """
    statement = _OPEN_REJECTIONS if is_open else _REJECTIONS
    rows, cursor = _read_page(statement, caller, import_id, limit, after)
    return RejectionPage(items=[_build_rejection(row) for row in rows], next=cursor)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_warnings(caller: Caller, import_id: int, limit: int, after: str | None) -> WarningPage:
    """Return a page of the warnings in file order; raises the errors of `list_rejections`."""
    rows, cursor = _read_page(_WARNINGS, caller, import_id, limit, after)
    return WarningPage(items=[_build_warning(row) for row in rows], next=cursor)


def _read_page(
    statement: Any, caller: Caller, import_id: int, limit: int, after: str | None
) -> tuple[Sequence[Any], str | None]:
    line_no, seq = (0, -1) if after is None else decode_cursor(after, (int, int))
    with session() as reading:
        require_import(reading, caller, import_id)
        place = {"import_id": import_id, "line_no": line_no, "seq": seq, "most": limit + 1}
        return paginate(reading.execute(statement, place).all(), limit, lambda row: (row.line_no, row.seq))


def _build_rejection(row: Any) -> RejectedRow:
    return RejectedRow(
        line=row.line_no,
        rows=row.row_count,
        byte_length=row.byte_len,
        **_select_fields(row, ("column_name", "code", "message", "control_number", "byte_start", "original_line")),
    )


def _build_warning(row: Any) -> ChangedValue:
    names = ("column_name", "code", "message", "control_number", "original_bytes", "stored_bytes", "byte_start")
    original = None if row.original is None else base64.b64encode(bytes(row.original)).decode()
    return ChangedValue(line=row.line_no, original=original, byte_length=row.byte_len, **_select_fields(row, names))


def _select_fields(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name.removesuffix("_name"): getattr(row, name) for name in names}
