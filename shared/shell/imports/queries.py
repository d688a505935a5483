"""Read imports for the API: lists, progress and details.

Guaranteed: no call reads another tenant's rows; a call takes the same few statements for any number of imports
or chunks; pages follow each other by key, so that an import that exists throughout is listed exactly once.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from pydantic import ValidationError
from sqlalchemy import bindparam, text

from core.caller import Caller
from core.contracts.imports.details import MAX_LISTED_COLUMNS, FileReading, ImportColumn, ImportDetails, LoadModeState
from core.contracts.imports.options import SingleFileOptions
from core.contracts.imports.pages import PageReconciliation
from core.contracts.imports.states import ImportPage, ImportState, ProfileUse
from core.contracts.queries import ImportQuery
from core.imports.columns.report import describe_columns
from core.imports.error_file import adds_lines
from core.load_file.layout import Layout
from core.pagination import build_page, open_window
from core.statuses import ImportPhase, ImportStatus
from shell.db.keyset import window_values, write_window
from shell.db.session import session
from shell.exhibits.cases import WALL_CASES, find_chosen_case, wall_values
from shell.imports.pages.queries import read_reconciliation
from shell.imports.profiles import suggest_profiles
from shell.imports.report_urls import name_reports
from shell.imports.state.check_summary import describe_check
from shell.imports.state.import_states import COLUMNS, SOURCE, build_states, read_import, read_state
from shell.tables.import_checks import ImportChecks
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.figures import FoundFiles, read_found_files, read_page_figures

_FILTERS = {"case_id": "AND i.case_id = :case_id", "status": "AND i.status = :status", "ids": "AND i.id IN :ids"}
# They say who imports a file and what follows, and a request has them elsewhere.
_NOT_OF_REQUESTS = frozenset({"dry_run", "profile", "user_id"})
_FIND_UNDO = text(
    "SELECT MIN(other.id) FROM imports AS i JOIN imports AS other ON other.case_id = i.case_id "
    "WHERE i.id = :import_id AND i.status = 'splitting' AND COALESCE(i.wanted, i.phase) = 'import' "
    "AND other.status = 'undoing'"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_imports(caller: Caller, query: ImportQuery) -> ImportPage:
    """Return a page of the tenant's imports, newest first, optionally of one case, in one status or with these ids.

    Raises NotFoundError if the tenant has no such case, InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int,))
    with session() as reading:
        case_id = find_chosen_case(reading, caller, query)
        ids = None if query.ids is None else query.ids.split(",")
        possible = {"case_id": case_id, "status": query.status and query.status.value, "ids": ids}
        given = {name: value for name, value in possible.items() if value is not None}
        values = {"tenant_id": caller.tenant_id, **given, **wall_values(caller)}
        source = " ".join((SOURCE, *(_FILTERS[name] for name in given)))
        lists = [WALL_CASES, *([bindparam("ids", expanding=True)] if "ids" in given else [])]
        statement = text(f"SELECT {COLUMNS} {source} {write_window(window, 'i.id')}").bindparams(*lists)
        page = build_page(
            reading.execute(statement, {**values, **window_values(window)}).all(), window, lambda row: (row.id,)
        )
        counting = text(f"SELECT COUNT(*) {source}").bindparams(*lists)
        total = int(reading.execute(counting, values).scalar_one()) if query.count else None
        return ImportPage(items=build_states(reading, page.items), next=page.next, prev=page.prev, total=total)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_progress(caller: Caller, import_id: int) -> ImportState:
    """Return the import's progress alone, in three statements; raise NotFoundError if the tenant has no such import."""
    with session() as reading:
        return read_state(reading, caller, import_id)


def get_import(caller: Caller, import_id: int) -> ImportDetails:
    """Return the import's progress, how its file was read, and the names of its report files.

    Raises NotFoundError if the tenant has no import with this id.
    """
    state, layout, suggested, check, undone, found = _load_import(caller, import_id)
    columns = _build_columns(layout)
    record, reconciliation = _load_record(import_id)
    checked = describe_check(check)
    return ImportDetails(
        **dict(state),
        options=_read_options(record.options),
        load_mode=LoadModeState(**asdict(layout.load_mode)) if layout else None,
        columns=columns,
        correctable_as=_find_corrected(state, layout),
        custodians_created=record.custodians_created,
        tags_created=record.tags_created,
        suggested_profiles=suggested,
        reading=_describe_reading(layout) if layout else None,
        reports=name_reports(state, record.deficiencies_generation, has_columns=columns is not None),
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
        # That of a former split says nothing about the present options.
        checked = reading.get(ImportChecks, import_id) if layout else None
        found = read_found_files(reading, import_id, layout.names, layout.fields) if layout else FoundFiles()
        return state, layout, suggested, checked, undone, found


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load_record(import_id: int) -> tuple[Imports, PageReconciliation | None]:
    """Return what is stored of a known import, and what its pages were compared with."""
    with session() as reading:
        return reading.get_one(Imports, import_id), read_reconciliation(reading, import_id)


def _find_corrected(state: ImportState, layout: Layout | None) -> int | None:
    """Return the import whose lines the error file of an import has; None if no file can correct its rows."""
    if layout is None or layout.image_format or state.phase is ImportPhase.CHECK:
        return None
    return state.corrects or (state.id if adds_lines(layout) else None)


def _read_options(document: str | None) -> SingleFileOptions | None:
    """Return the options as a request has them; None for those of an options object that no request can have."""
    if document is None:
        return None
    kept = {name: value for name, value in json.loads(document).items() if name not in _NOT_OF_REQUESTS}
    try:
        return SingleFileOptions.model_validate(kept)
    except ValidationError:
        return None


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


def _describe_reading(layout: Layout) -> FileReading | None:
    if layout.image_format:
        return None
    return FileReading(
        encoding=layout.encoding,
        delimiter=layout.grammar.delimiter,
        qualifier=layout.grammar.qualifier,
        newline=layout.newline,
        header=layout.has_header,
        date_order=layout.date_order,
        time_zone=layout.time_zone,
    )
