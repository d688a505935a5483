"""Read undos of imports for the API.

Guaranteed: no call reads another tenant's rows; pages follow each other by key.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.undos import KeptItem, KeptPage, KeptReason, OtherImport, UnchangedBy, Undo
from core.contracts.pages import ListQuery
from core.errors import NotFoundError
from core.imports.report_files import build_kept_key
from core.imports.undo import OtherKind
from core.pagination import build_page, open_window
from core.statuses import UndoStatus
from shell.aws.presigned_urls import presign_get
from shell.db.keyset import window_values, write_window
from shell.db.session import session
from shell.imports.state.access import require_import
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tables.undos import ImportUndos
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names

MAX_LISTED_IMPORTS = 20
_COUNTS = ("restored", "removed", "kept", "links_restored")
# A part counts as it commits, the undo itself when it has ended.
_SUMS = text(
    f"SELECT {', '.join(f'COALESCE(SUM({name}), 0) AS {name}' for name in _COUNTS)} "  # noqa: S608 - constants
    "FROM import_undo_parts WHERE import_id = :import_id AND undo_no = :undo_no"
)
_REASONS = text(
    "SELECT code, COUNT(DISTINCT exhibit_id) AS documents FROM import_undo_kept "
    "WHERE import_id = :import_id AND undo_no = :undo_no GROUP BY code ORDER BY code"
)
_OTHERS = text(
    "SELECT kind, other_import_id, SUM(documents) AS documents FROM import_undo_others "
    "WHERE import_id = :import_id AND undo_no = :undo_no GROUP BY kind, other_import_id ORDER BY kind, other_import_id"
)
# Chunks of versions that did not store which documents they found unchanged. Imports of a case can run at the same
# time: which began first says nothing, when their chunks were committed does.
_UNLISTED = text(
    "SELECT i.id, SUM(k.unchanged) AS found FROM imports AS i JOIN import_chunks AS k ON k.import_id = i.id "  # noqa: S608
    "AND k.unchanged > 0 AND k.finished_at < :requested AND k.finished_at > "
    "(SELECT MIN(finished_at) FROM import_chunks WHERE import_id = :import_id AND status = 'done') "
    "WHERE i.case_id = :case_id AND i.id <> :import_id AND i.unchanged > 0 "
    "AND i.phase = 'import' AND i.status NOT IN ('undone', 'undone_with_conflicts') "
    "AND NOT EXISTS (SELECT 1 FROM import_unchanged AS u "
    "WHERE u.import_id = k.import_id AND u.chunk_no = k.chunk_no) "
    f"GROUP BY i.id ORDER BY i.id LIMIT {MAX_LISTED_IMPORTS}"
)
_PAGE = (
    "SELECT line_no, seq, exhibit_id, control_number, code, kind, name, by_user, by_import, by_production, by_document "
    "FROM import_undo_kept WHERE import_id = :import_id AND undo_no = :undo_no"
)


def find_last_undo(reading: Session, import_id: int, *, dry_run: bool | None = None) -> ImportUndos | None:
    """Return the last undo of the import, or the last dry run, or the last of both; None if there is none.

    The last is that which was requested or retried last: a dry run can come between an undo that failed and its retry.
    """
    latest = (ImportUndos.created_at.desc(), ImportUndos.undo_no.desc())
    statement = select(ImportUndos).where(ImportUndos.import_id == import_id).order_by(*latest)
    if dry_run is not None:
        statement = statement.where(ImportUndos.dry_run == int(dry_run))
    return reading.scalars(statement.limit(1)).one_or_none()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_undo(caller: Caller, import_id: int) -> Undo:
    """Return the last undo of the import, or dry run of one, with the URL of what was kept once that is written.

    Raises NotFoundError if the tenant has no such import, or if there was none.
    """
    with session() as reading:
        undo = _require_undo(reading, caller, import_id)
        described = describe_undo(reading, reading.get_one(Imports, import_id), undo)
        key = build_kept_key(import_id, undo.undo_no, undo.generation) if undo.report_written else None
    return described.model_copy(update={"report": key and presign_get(settings().bucket, key)})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_kept(caller: Caller, import_id: int, query: ListQuery) -> KeptPage:
    """Return a page of what the last undo, or dry run of one, kept, in the order of the file.

    Raises the errors of `get_undo`, and InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int, int))
    with session() as reading:
        undo = _require_undo(reading, caller, import_id)
        place = {"import_id": import_id, "undo_no": undo.undo_no, **window_values(window)}
        rows = reading.execute(text(f"{_PAGE} {write_window(window, 'line_no', 'seq')}"), place).all()
        page = build_page(rows, window, lambda row: (row.line_no, row.seq))
        users = read_user_names(reading, caller.tenant_id, [row.by_user for row in page.items])
    return KeptPage(items=[_build_item(row, users) for row in page.items], next=page.next, prev=page.prev)


def _require_undo(reading: Session, caller: Caller, import_id: int) -> ImportUndos:
    require_import(reading, caller, import_id)
    undo = find_last_undo(reading, import_id)
    if undo is None:
        raise NotFoundError("This import was not undone; POST /imports/{id}/undo undoes it.")
    return undo


def describe_undo(reading: Session, import_record: Imports, undo: ImportUndos | None) -> Undo:
    """Return the undo as the API represents it, without the URL; None is an import without anything to undo."""
    place = {"import_id": import_record.id, "undo_no": 0 if undo is None else undo.undo_no}
    sums = reading.execute(_SUMS, place).one()._mapping
    reasons = [KeptReason(code=row.code, documents=row.documents) for row in reading.execute(_REASONS, place)]
    others = _read_others(reading, place)
    unlisted = {**place, "case_id": import_record.case_id, "requested": undo and undo.created_at}
    at_most = {row.id: int(row.found) for row in reading.execute(_UNLISTED, unlisted)}
    return Undo(
        import_id=import_record.id,
        undo_no=None if undo is None else undo.undo_no,
        status=UndoStatus(undo.status) if undo else UndoStatus.NOTHING_TO_UNDO,
        dry_run=bool(undo and undo.dry_run),
        **{name: int(sums[name]) for name in _COUNTS},
        parts=undo.parts if undo else 0,
        parts_left=undo.parts_left if undo else 0,
        reasons=reasons,
        found_unchanged_by=_list_unchanged(others[OtherKind.UNCHANGED], at_most),
        stated_by=_list_others(others[OtherKind.STATES]),
        unrecorded_by=_list_others(others[OtherKind.UNRECORDED]),
        report=None,
        created_at=_in_utc(undo.created_at) if undo else None,
        finished_at=_in_utc(undo.finished_at) if undo else None,
    )


def _read_others(reading: Session, place: Mapping[str, int]) -> dict[OtherKind, dict[int, int]]:
    """Return the documents by what another import has to do with them, and by that import."""
    found: dict[OtherKind, dict[int, int]] = {kind: {} for kind in OtherKind}
    for kind, other, documents in reading.execute(_OTHERS, place):
        found[OtherKind(kind)][other] = int(documents)
    return found


def _list_others(documents: Mapping[int, int]) -> list[OtherImport]:
    return [OtherImport(import_id=each, documents=documents[each]) for each in sorted(documents)[:MAX_LISTED_IMPORTS]]


def _list_unchanged(exact: Mapping[int, int], at_most: Mapping[int, int]) -> list[UnchangedBy]:
    return [
        UnchangedBy(import_id=each, documents=exact.get(each, 0) + at_most.get(each, 0), at_most=each in at_most)
        for each in sorted(exact.keys() | at_most.keys())[:MAX_LISTED_IMPORTS]
    ]


def _in_utc(timestamp: datetime | None) -> datetime | None:
    return timestamp and timestamp.replace(tzinfo=UTC)


def _build_item(row: Any, users: Mapping[str, str]) -> KeptItem:
    names = ("exhibit_id", "control_number", "code", "kind", "name")
    authors = ("by_user", "by_import", "by_production", "by_document")
    values = {name: getattr(row, name) for name in (*names, *authors)}
    return KeptItem(line=row.line_no, by_user_name=users.get(row.by_user), **values)
