"""Read exports, and sign the URL of an export's file when it is requested.

Guaranteed: data of another tenant, or of a case that the caller is not limited to, is not found; the number of
statements does not depend on the number of exports; a URL is signed only for a file that exists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts import exports as schemas
from core.contracts.queries import ExportQuery
from core.contracts.stored_filters import unpack_filters
from core.errors import NotFoundError, WrongStateError
from core.exports.columns import KEPT_DAYS, to_camel
from core.exports.rows import MEDIA_TYPES
from core.http_headers import name_download
from core.pagination import build_page, open_window
from core.statuses import ExportStatus
from shell.aws.presigned_urls import presign_get
from shell.db.keyset import select_window
from shell.db.session import session
from shell.exhibits.cases import build_wall, find_chosen_case
from shell.settings import settings
from shell.tables.cases import Cases
from shell.tables.productions import Exports
from shell.utils.db_helpers import force_index, rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_export(caller: Caller, export_id: int) -> schemas.Export:
    """Return the export. Raises NotFoundError."""
    with session() as reading:
        return describe_export(reading, load_export(reading, caller, export_id))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_exports(caller: Caller, query: ExportQuery) -> schemas.ExportPage:
    """Return a page of the tenant's exports, or of those of one case, newest first.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int,))
    with session() as reading:
        case_id = find_chosen_case(reading, caller, query)
        # The primary key would read other tenants' rows.
        index = "ix_exports_tenant" if case_id is None else "ix_exports_case"
        statement = force_index(_select_exports(caller), Exports, index)
        if case_id is not None:
            statement = statement.where(Exports.case_id == case_id)
        page = build_page(
            reading.execute(select_window(statement, window, Exports.id)).all(), window, lambda row: (row[0].id,)
        )
        total = _count(reading, statement) if query.count else None
        names = read_user_names(reading, caller.tenant_id, [row[0].user_id for row in page.items])
    items = [_describe(row, names) for row in page.items]
    return schemas.ExportPage(items=items, next=page.next, prev=page.prev, total=total)


def _count(reading: Session, statement: Select[Exports, str, datetime]) -> int:
    return reading.execute(statement.with_only_columns(func.count(), maintain_column_froms=True)).scalar_one()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_file(caller: Caller, export_id: int) -> schemas.ExportFile:
    """Return the URL of the file of a completed export, valid for UPLOAD_URL_SECONDS.

    Raises NotFoundError, WrongStateError unless the export is completed and its file is kept, and
    StorageUnavailableError if no URL can be signed.
    """
    with session() as reading:
        found = load_export(reading, caller, export_id)
        export, state = found[0], describe_export(reading, found)
    if state.status == ExportStatus.EXPIRED:
        raise WrongStateError(f"The file was kept for {KEPT_DAYS} days, and is deleted; request the export again.")
    if state.status != ExportStatus.COMPLETED:
        raise WrongStateError(f"The export has the status {state.status}; only a completed export has a file.")
    key = build_export_key(export)
    name = name_download(state.case, f"export {state.id}", key.rpartition("/")[2])
    url = presign_get(settings().bucket, key, name, MEDIA_TYPES[state.format])
    expires_s = settings().upload_url_seconds
    return schemas.ExportFile(file_name=name, size=state.size, url=url, expires_in_seconds=expires_s)


def build_export_key(export: Exports) -> str:
    """Return the key of an export's object; a lifecycle rule of the bucket deletes what is under `exports/`."""
    return f"exports/{export.tenant_id}/{export.case_id}/{export.id}/{export.kind}.{export.format}"


def load_export(reading: Session, caller: Caller, export_id: int) -> Any:
    """Return the export as committed, the name of its case, and the time of the database.

    Raises NotFoundError, also for an export of another tenant.
    """
    statement = _select_exports(caller).where(Exports.id == export_id)
    found = reading.execute(statement.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise NotFoundError(f"You have no export {export_id}.")
    return found


def describe_export(reading: Session, found: Any) -> schemas.Export:
    """Return what `load_export` loaded as the API represents it."""
    return _describe(found, read_user_names(reading, found[0].tenant_id, [found[0].user_id]))


def _select_exports(caller: Caller) -> Select[Exports, str, datetime]:
    statement = select(Exports, Cases.name, func.now(6)).join(Cases, Cases.id == Exports.case_id)
    return statement.where(Exports.tenant_id == caller.tenant_id, *build_wall(caller))


def _describe(found: Any, names: Mapping[str, str]) -> schemas.Export:
    export, case, now = found
    expires_at = _find_expiry(export)
    has_expired = expires_at is not None and expires_at <= now
    return schemas.Export(
        id=export.id,
        case=case,
        case_id=export.case_id,
        kind=export.kind,
        format=export.format,
        filters=unpack_filters(json.loads(export.filters)),
        columns=[to_camel(name) for name in json.loads(export.column_names)],
        status=ExportStatus.EXPIRED if has_expired else export.status,
        documents=export.documents,
        expected_documents=export.expected,
        rows=export.row_count,
        size=export.size,
        reason=export.reason,
        created_by=export.user_id,
        created_by_name=names.get(export.user_id),
        created_at=export.created_at,
        finished_at=export.finished_at,
        expires_at=expires_at,
    )


def _find_expiry(export: Exports) -> datetime | None:
    """Return when the file expires; S3 counts from the start of its upload, which comes after that of the work."""
    if export.status != ExportStatus.COMPLETED or export.started_at is None:
        return None
    return export.started_at + timedelta(days=KEPT_DAYS)
