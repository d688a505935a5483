"""Read the state of imports for the API, with the counts of their chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports import (
    MAX_CORRECTING,
    ImportState,
    ProfileUse,
)
from core.imports.progress import UNKNOWN_PACE, compute_pace
from core.imports.report_files import build_report_prefix
from core.statuses import ACTIVE_STATUSES, ImportPhase
from shell.exhibits.cases import WALL, WALL_CASES, wall_values
from shell.imports.state.access import build_not_found
from shell.imports.state.claims import count_closed, list_correcting

_COUNTS = ("imported", "unchanged", "updated", "rejected", "warnings")
COLUMNS = (
    "i.id, i.status, c.name AS case_name, i.case_id, i.file_name, i.user_id, i.profile_name, "
    "i.profile_version, i.size, i.sha256, i.failure_code, "
    "i.failure_message, i.rows_seen, i.chunk_count, i.phase, i.corrects_import_id, "
    # The end of a check rejects rows that its chunks accept.
    "COALESCE(k.would_import, i.imported) AS imported, COALESCE(k.unchanged, i.unchanged) AS unchanged, "
    "COALESCE(k.would_update, i.updated) AS updated, COALESCE(k.would_reject, i.rejected) AS rejected, "
    "COALESCE(k.warnings, i.warnings) AS warnings, i.generation, i.reports_generation, i.started_at, i.finished_at, "
    "TIMESTAMPDIFF(MICROSECOND, i.started_at, NOW(6)) / 1000000 AS seconds"
)
SOURCE = (
    "FROM imports AS i JOIN cases AS c ON c.id = i.case_id "
    "LEFT JOIN import_checks AS k ON k.import_id = i.id AND i.status = 'checked' "
    f"WHERE i.tenant_id = :tenant_id AND {WALL}"
)
_ONE = text(f"SELECT {COLUMNS}, i.layout {SOURCE} AND i.id = :import_id").bindparams(WALL_CASES)
_CHUNKS = text(
    "SELECT k.import_id, SUM(k.status = 'failed') AS failed, "
    "SUM(IF(k.finished_at >= i.started_at, k.row_count, 0)) AS processed_since, "
    "SUM(k.imported) AS imported, SUM(k.unchanged) AS unchanged, SUM(k.updated) AS updated, "
    "SUM(k.rejected) AS rejected, SUM(k.warnings) AS warnings "
    "FROM import_chunks AS k JOIN imports AS i ON i.id = k.import_id WHERE k.import_id IN :ids GROUP BY k.import_id"
).bindparams(bindparam("ids", expanding=True))


def read_state(reading: Session, caller: Caller, import_id: int) -> ImportState:
    """Return the import's progress as the transaction sees it; raise NotFoundError if the tenant has no such import."""
    return read_import(reading, caller, import_id)[0]


def read_import(reading: Session, caller: Caller, import_id: int) -> tuple[ImportState, str | None]:
    """Return the import's progress and its layout."""
    place = {"tenant_id": caller.tenant_id, "import_id": import_id}
    rows = reading.execute(_ONE, {**place, **wall_values(caller)}).all()
    if not rows:
        raise build_not_found()
    return build_states(reading, rows)[0], rows[0].layout


def build_states(reading: Session, rows: Sequence[Any]) -> list[ImportState]:
    """Return the imports with the sums of their chunks and corrections, each in one statement for all imports."""
    ids = [row.id for row in rows]
    sums = {row.import_id: dict(row._mapping) for row in reading.execute(_CHUNKS, {"ids": ids})} if ids else {}
    closed, correcting = count_closed(reading, ids), list_correcting(reading, ids)
    return [_build_state(row, sums.get(row.id, {}), closed.get(row.id, 0), correcting.get(row.id, ())) for row in rows]


def _build_state(row: Any, chunks: Mapping[str, Any], closed: int, correcting: Sequence[int]) -> ImportState:
    running = row.status in ACTIVE_STATUSES
    counted = chunks if running else dict(row._mapping)
    counts = {name: int(counted.get(name) or 0) for name in _COUNTS}
    processed = sum(counts[name] for name in _COUNTS if name != "warnings")
    left = row.rows_seen - processed
    paced = compute_pace(int(chunks.get("processed_since") or 0), float(row.seconds), left) if running else UNKNOWN_PACE
    return ImportState(
        id=row.id,
        status=row.status,
        phase=row.phase,
        case=row.case_name,
        case_id=row.case_id,
        file_name=row.file_name,
        user_id=row.user_id,
        profile=row.profile_name and ProfileUse(name=row.profile_name, version=row.profile_version),
        size=row.size,
        sha256=None if row.sha256 is None else bytes(row.sha256).hex(),
        failure_code=row.failure_code,
        failure_message=row.failure_message,
        rows_seen=row.rows_seen,
        rows_processed=processed,
        **counts,
        corrects=row.corrects_import_id,
        corrected_by=list(correcting[:MAX_CORRECTING]),
        open_rejections=counts["rejected"] - closed if _has_open_rejections(row) else 0,
        chunks=row.chunk_count,
        chunks_failed=int(chunks.get("failed") or 0),
        generation=row.generation,
        reports_generation=row.reports_generation,
        reports_prefix=build_report_prefix(row.id, row.reports_generation) if row.reports_generation else None,
        **paced._asdict(),
        started_at=row.started_at.replace(tzinfo=UTC),
        finished_at=None if row.finished_at is None else row.finished_at.replace(tzinfo=UTC),
    )


def _has_open_rejections(row: Any) -> bool:
    """Return whether rejected rows of an import are open in it; those of a correction are where they are from."""
    return row.corrects_import_id is None and row.phase == ImportPhase.IMPORT
