"""Sign the URLs of an import's report files, when they are requested.

Guaranteed: a URL is signed only for a file that is written, of an import that the caller may read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from core.caller import Caller
from core.contracts.imports.reports import ReportFile, ReportFiles, ReportNames
from core.contracts.imports.states import ImportState
from core.http_headers import name_download
from core.imports.columns.report import describe_columns
from core.imports.report_files import (
    build_deficiency_keys,
    build_findings_key,
    build_report_keys,
    build_unreferenced_key,
)
from core.load_file.layout import Layout
from shell.aws.presigned_urls import presign_get
from shell.db.session import session
from shell.imports.state.import_states import read_import
from shell.settings import settings
from shell.tables.import_checks import ImportChecks
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.figures import has_unreferenced

_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".json": "application/json",
}


def list_report_keys(state: ImportState, deficiencies_generation: int, *, has_columns: bool) -> dict[str, str]:
    """Return the keys of the reports of an import that are written, by their names in the API."""
    generation = state.reports_generation
    if not generation:
        return {}
    keys = dict(build_report_keys(state.id, state.file_name, generation)._asdict())
    if not has_columns:
        del keys["columns"]
    if deficiencies_generation == generation:
        table, text = build_deficiency_keys(state.id, generation)
        keys |= {"deficiencies": table, "deficiencies_text": text}
    return keys


def name_reports(state: ImportState, deficiencies_generation: int, *, has_columns: bool) -> ReportNames | None:
    """Return the names of the reports of an import; None until they are written."""
    keys = list_report_keys(state, deficiencies_generation, has_columns=has_columns)
    empty: dict[str, str | None] = dict.fromkeys(ReportNames.model_fields)
    return ReportNames.model_validate(empty | {name: _get_name(key) for name, key in keys.items()}) if keys else None


def _get_name(key: str) -> str:
    return PurePosixPath(key).name


def get_reports(caller: Caller, import_id: int) -> ReportFiles:
    """Return URLs of the report files of an import and its check, valid for UPLOAD_URL_SECONDS.

    Raises NotFoundError if the tenant has no import with this id, StorageUnavailableError if no URL can be signed.
    """
    state, keys = _find_keys(caller, import_id)
    files = {name: _sign(state, key) for name, key in keys.items()}
    return ReportFiles(**files, expires_in_seconds=settings().upload_url_seconds)


def _sign(state: ImportState, key: str) -> ReportFile:
    suffix = PurePosixPath(key).suffix
    name = name_download(state.case, f"import {state.id}", _get_name(key))
    # Rejected rows of a CSV file are in its dialect, which only their options tell.
    is_report = not _get_name(key).startswith("rejected_rows")
    media_type = _TYPES.get(suffix) if is_report else None
    url = presign_get(settings().bucket, key, name, media_type or "application/octet-stream")
    return ReportFile(file_name=name, url=url)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_keys(caller: Caller, import_id: int) -> tuple[ImportState, dict[str, str]]:
    with session() as reading:
        state, stored = read_import(reading, caller, import_id)
        record, check = reading.get_one(Imports, import_id), reading.get(ImportChecks, import_id)
        has_columns = bool(stored and describe_columns(Layout.from_json(stored), 1))
        found = dict(_list_check_keys(check)) if check else {}
        if has_unreferenced(reading, import_id):
            found["unreferenced"] = build_unreferenced_key(import_id, state.generation)
        return state, found | list_report_keys(state, record.deficiencies_generation, has_columns=has_columns)


def _list_check_keys(check: ImportChecks) -> Iterator[tuple[str, str]]:
    if not check.report_written:
        return
    yield "findings", build_findings_key(check.import_id, check.generation)
    if check.deficiencies_generation == check.generation:
        table, text = build_deficiency_keys(check.import_id, check.generation)
        yield from (("deficiencies", table), ("deficiencies_text", text))
