"""The statements that list what runs, waits and failed: one for each table, with a limit for each status.

Guaranteed: each part of a statement reads at most LISTED + 1 rows, in the order of an index that has no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import TextClause, text

from core.contracts.operations import FAILED_DAYS, LISTED, WorkKind, WorkState
from core.statuses import ExportStatus, ImportStatus, ProductionStatus, TaggingJobStatus, VolumeStatus

_RECENT = f"AND w.finished_at >= NOW(6) - INTERVAL {FAILED_DAYS} DAY "
_NEWEST = "w.finished_at DESC, w.id DESC"


class _Part(NamedTuple):
    """What one status means, and how its rows are found."""

    kind: WorkKind
    state: WorkState
    condition: str
    since: str
    read_by: str
    order: str = _NEWEST


class _Source(NamedTuple):
    """A table, and what it says of each row: `name`, `is_untouched`, `chunks_failed`, `code` and `reason`."""

    table: str
    facts: str
    parts: tuple[_Part, ...]


def _open(kind: WorkKind, since: str, index: str, states: Mapping[Any, WorkState]) -> tuple[_Part, ...]:
    return tuple(_Part(kind, state, f"w.status = '{status}' ", since, index) for status, state in states.items())


def _failed(kind: WorkKind, status: str, index: str) -> _Part:
    return _Part(kind, WorkState.FAILED, f"w.status = '{status}' {_RECENT}", "w.finished_at", index)


def _without_chunks(status: ImportStatus) -> _Part:
    condition, since = f"w.status = '{status}' AND w.chunks_failed > 0 ", "COALESCE(w.finished_at, w.started_at)"
    order = "w.chunks_failed DESC, w.id DESC"
    return _Part(WorkKind.IMPORT, WorkState.FAILED, condition, since, "ix_imports_chunks_failed", order)


_RUNNING, _WAITING = WorkState.RUNNING, WorkState.WAITING
_IMPORT_INDEX = "ix_imports_operations"
_OPEN_IMPORTS = {
    ImportStatus.WAITING: _WAITING,
    **dict.fromkeys((ImportStatus.SPLITTING, ImportStatus.CHECKING, ImportStatus.RUNNING), _RUNNING),
}
# The last undo that is no dry run, in whatever state it is.
_UNDONE_AT = (
    "(SELECT COALESCE(d.finished_at, d.created_at) FROM import_undos AS d FORCE INDEX (PRIMARY) "
    "WHERE d.import_id = w.id AND d.dry_run = 0 ORDER BY d.undo_no DESC LIMIT 1)"
)
_UNDO_SINCE = f"COALESCE({_UNDONE_AT}, w.started_at)"
_SOURCES = (
    _Source(
        "imports",
        "w.file_name AS name, IF(w.chunk_count > 0, w.chunk_count = w.chunks_left, 0) AS is_untouched, "
        "w.chunks_failed, w.failure_code AS code, w.failure_message AS reason",
        (
            *_open(WorkKind.IMPORT, "w.started_at", _IMPORT_INDEX, _OPEN_IMPORTS),
            _failed(WorkKind.IMPORT, ImportStatus.FAILED, _IMPORT_INDEX),
            *map(_without_chunks, (ImportStatus.COMPLETED_WITH_REJECTIONS, ImportStatus.CHECKED)),
            _Part(WorkKind.UNDO, _RUNNING, f"w.status = '{ImportStatus.UNDOING}' ", _UNDO_SINCE, _IMPORT_INDEX),
            _Part(
                WorkKind.UNDO, WorkState.FAILED, f"w.status = '{ImportStatus.UNDO_FAILED}' ", _UNDO_SINCE, _IMPORT_INDEX
            ),
        ),
    ),
    _Source(
        "volumes",
        "w.name, 0 AS is_untouched, 0 AS chunks_failed, w.failure_code AS code, w.failure_message AS reason",
        (
            *_open(
                WorkKind.VOLUME,
                "COALESCE(w.listed_at, w.created_at)",
                "ix_volumes_operations",
                dict.fromkeys(
                    (VolumeStatus.SEALED, VolumeStatus.EXPANDING, VolumeStatus.HASHING, VolumeStatus.DELETING), _RUNNING
                ),
            ),
            _failed(WorkKind.VOLUME, VolumeStatus.FAILED, "ix_volumes_operations"),
        ),
    ),
    _Source(
        "exports",
        "NULL AS name, 0 AS is_untouched, 0 AS chunks_failed, NULL AS code, LEFT(w.reason, 1000) AS reason",
        (
            *_open(
                WorkKind.EXPORT,
                "COALESCE(w.started_at, w.created_at)",
                "ix_exports_operations",
                {ExportStatus.REQUESTED: _WAITING, ExportStatus.RUNNING: _RUNNING},
            ),
            _failed(WorkKind.EXPORT, ExportStatus.FAILED, "ix_exports_operations"),
        ),
    ),
    _Source(
        "tagging_jobs",
        "NULL AS name, 0 AS is_untouched, 0 AS chunks_failed, NULL AS code, NULL AS reason",
        (
            *_open(
                WorkKind.TAGGING_JOB,
                "w.created_at",
                "ix_tagging_jobs_operations",
                dict.fromkeys((TaggingJobStatus.RUNNING, TaggingJobStatus.COUNTING), _RUNNING),
            ),
            _failed(WorkKind.TAGGING_JOB, TaggingJobStatus.FAILED, "ix_tagging_jobs_operations"),
        ),
    ),
    _Source(
        "productions",
        "w.volume AS name, 0 AS is_untouched, 0 AS chunks_failed, w.failed_step AS code, w.reason",
        tuple(
            _Part(
                WorkKind.PRODUCTION, state, f"w.status = '{status}' ", since, "ix_productions_operations", "w.id DESC"
            )
            for status, state, since in (
                (ProductionStatus.REQUESTED, _WAITING, "w.created_at"),
                (ProductionStatus.RUNNING, _RUNNING, "w.created_at"),
                (ProductionStatus.CANCELLING, _RUNNING, "w.created_at"),
                (ProductionStatus.NEEDS_ATTENTION, WorkState.FAILED, "w.updated_at"),
            )
        ),
    ),
)


def _build(source: _Source) -> TextClause:
    parts = " UNION ALL ".join(_list_parts(source))
    return text(
        f"SELECT u.*, c.name AS case_name FROM ({parts}) AS u "  # noqa: S608 - of constants
        "JOIN cases AS c ON c.id = u.case_id ORDER BY u.since DESC, u.id DESC"
    )


def _list_parts(source: _Source) -> Iterator[str]:
    for part in source.parts:
        yield (
            f"(SELECT '{part.kind}' AS kind, '{part.state}' AS state, w.id, w.status, w.case_id, "  # noqa: S608
            f"{part.since} AS since, {source.facts} FROM {source.table} AS w FORCE INDEX ({part.read_by}) "
            f"WHERE w.tenant_id = :tenant_id AND {part.condition}ORDER BY {part.order} LIMIT {LISTED + 1})"
        )


# By table.
STATEMENTS = {source.table: _build(source) for source in _SOURCES}
