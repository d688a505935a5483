"""Read the state of imports for the API, with the counts of their chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.states import MAX_CORRECTING, ImportState, ProfileUse
from core.imports.progress import UNKNOWN_PACE, compute_pace
from core.imports.report_files import build_report_prefix
from core.imports.steps import choose_wish, list_actions
from core.load_mode import Mode
from core.statuses import ACTIVE_STATUSES, UNDONE_STATUSES, ImportPhase
from shell.exhibits.cases import WALL, WALL_CASES, wall_values
from shell.imports.state.access import build_not_found
from shell.imports.state.claims import Corrections, read_corrections
from shell.imports.state.facts import FACTS, build_facts, describe_phase

_COUNTS = ("imported", "unchanged", "updated", "rejected", "warnings")
COLUMNS = (
    f"i.id, i.tenant_id, {FACTS}, c.name AS case_name, i.case_id, i.file_name, i.user_id, u.name AS user_name, "
    "i.profile_name, "
    "i.profile_version, i.size, i.sha256, i.corrects_import_id, "
    "i.failure_message, i.rows_seen, i.chunk_count, i.kind, i.volume_id, v.name AS volume_name, "
    # Layouts that earlier versions wrote have no mode.
    f"IF(i.layout IS NULL, NULL, COALESCE(JSON_UNQUOTE(JSON_EXTRACT(i.layout, '$.load_mode.mode')), '{Mode.APPEND}')) "
    "AS mode, IF(i.layout IS NULL, COALESCE(s.bytes_read, 0), i.size) AS bytes_read, "
    # The end of a check rejects rows that its chunks accept.
    "COALESCE(k.would_import, i.imported) AS imported, COALESCE(k.unchanged, i.unchanged) AS unchanged, "
    "COALESCE(k.would_update, i.updated) AS updated, COALESCE(k.would_reject, i.rejected) AS rejected, "
    "COALESCE(k.warnings, i.warnings) AS warnings, i.reports_generation, i.started_at, i.finished_at, "
    "TIMESTAMPDIFF(MICROSECOND, i.started_at, NOW(6)) / 1000000 AS seconds"
)
SOURCE = (
    "FROM imports AS i JOIN cases AS c ON c.id = i.case_id "
    "LEFT JOIN import_checks AS k ON k.import_id = i.id AND i.status = 'checked' "
    "LEFT JOIN volumes AS v ON v.id = i.volume_id "
    "LEFT JOIN users AS u ON u.tenant_id = i.tenant_id AND u.user_id = i.user_id "
    "LEFT JOIN import_splits AS s ON s.import_id = i.id AND s.state IS NOT NULL "
    f"WHERE i.tenant_id = :tenant_id AND {WALL}"
)
_ONE, _WITH_LAYOUT = (
    text(f"SELECT {columns} {SOURCE} AND i.id = :import_id").bindparams(WALL_CASES)
    for columns in (COLUMNS, f"{COLUMNS}, i.layout")
)
_CHUNKS = text(
    "SELECT k.import_id, SUM(k.status = 'failed') AS failed, SUM(k.status = 'done') AS done, "
    "SUM(IF(k.finished_at >= i.started_at, k.row_count, 0)) AS processed_since, "
    "SUM(k.imported) AS imported, SUM(k.unchanged) AS unchanged, SUM(k.updated) AS updated, "
    "SUM(k.rejected) AS rejected, SUM(k.warnings) AS warnings "
    "FROM import_chunks AS k JOIN imports AS i ON i.id = k.import_id WHERE k.import_id IN :ids GROUP BY k.import_id"
).bindparams(bindparam("ids", expanding=True))


def read_state(reading: Session, caller: Caller, import_id: int) -> ImportState:
    """Return the import's progress as the transaction sees it; raise NotFoundError if the tenant has no such import."""
    return _read_one(reading, caller, import_id, _ONE)[0]


def read_import(reading: Session, caller: Caller, import_id: int) -> tuple[ImportState, str | None]:
    """Return the import's progress and its layout; raise as `read_state` does."""
    state, row = _read_one(reading, caller, import_id, _WITH_LAYOUT)
    return state, row.layout


def _read_one(reading: Session, caller: Caller, import_id: int, statement: TextClause) -> tuple[ImportState, Any]:
    place = {"tenant_id": caller.tenant_id, "import_id": import_id}
    rows = reading.execute(statement, {**place, **wall_values(caller)}).all()
    if not rows:
        raise build_not_found()
    return build_states(reading, rows)[0], rows[0]


def build_states(reading: Session, rows: Sequence[Any]) -> list[ImportState]:
    """Return the imports of a tenant with the sums of their chunks and corrections.

    Takes one statement for each of the two, for all imports.
    """
    ids = [row.id for row in rows]
    sums = {row.import_id: dict(row._mapping) for row in reading.execute(_CHUNKS, {"ids": ids})} if ids else {}
    corrections = read_corrections(reading, ids)
    # Chunks of a former split are left until the next one begins.
    counted = {row.id: sums.get(row.id, {}) if row.chunk_count else {} for row in rows}
    return [_build_state(row, counted[row.id], corrections[row.id]) for row in rows]


def _build_state(row: Any, chunks: Mapping[str, Any], corrections: Corrections) -> ImportState:
    running = row.status in ACTIVE_STATUSES
    counted = chunks if running else dict(row._mapping)
    counts = {name: int(counted.get(name) or 0) for name in _COUNTS}
    processed = sum(counts[name] for name in _COUNTS if name != "warnings")
    left = row.rows_seen - processed
    failed = int(chunks.get("failed") or 0)
    paced = compute_pace(int(chunks.get("processed_since") or 0), float(row.seconds), left) if running else UNKNOWN_PACE
    return ImportState(
        id=row.id,
        status=row.status,
        phase=describe_phase(row),
        wanted=choose_wish(row.wanted, row.phase),
        options_version=row.options_version,
        actions=list_actions(build_facts(row, is_incomplete=failed > 0)),
        kind=row.kind,
        mode=row.mode,
        volume_id=row.volume_id,
        volume_name=row.volume_name,
        case=row.case_name,
        case_id=row.case_id,
        file_name=row.file_name,
        user_id=row.user_id,
        user_name=row.user_name,
        profile=row.profile_name and ProfileUse(name=row.profile_name, version=row.profile_version),
        size=row.size,
        bytes_read=row.bytes_read,
        sha256=None if row.sha256 is None else bytes(row.sha256).hex(),
        failure_code=row.failure_code,
        failure_message=row.failure_message,
        rows_seen=row.rows_seen,
        rows_processed=processed,
        **counts,
        corrects=row.corrects_import_id,
        corrected_by=list(corrections.by[:MAX_CORRECTING]),
        open_rejections=counts["rejected"] - corrections.closed if _has_open_rejections(row) else 0,
        chunks=row.chunk_count,
        chunks_done=int(chunks.get("done") or 0),
        chunks_failed=failed,
        generation=row.generation,
        reports_generation=row.reports_generation,
        reports_prefix=build_report_prefix(row.id, row.reports_generation) if row.reports_generation else None,
        **paced._asdict(),
        started_at=row.started_at.replace(tzinfo=UTC),
        finished_at=None if row.finished_at is None else row.finished_at.replace(tzinfo=UTC),
    )


def _has_open_rejections(row: Any) -> bool:
    """Return whether rejected rows of an import are open in it; those of a correction are where they are from.

    Rows of an import that is undone cannot be corrected. `shell.exhibits.case_list` has the same rule in SQL.
    """
    is_undone = row.status in UNDONE_STATUSES
    return row.corrects_import_id is None and row.phase == ImportPhase.IMPORT and not is_undone
