"""Find the work of a case that has not ended, and what removes something of it.

The caller has the exclusive lock on the case's row: no request has begun work that is not committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.statuses import (
    ACTIVE_STATUSES,
    ACTIVE_TAGGING_JOBS,
    ExportStatus,
    ImportStatus,
    ProductionStatus,
    VolumeStatus,
)


class _Kind(NamedTuple):
    """Work of a kind: its table and index, what people call it, and the statuses in which it has not ended."""

    table: str
    ordered_by: str
    name: str
    statuses: Sequence[str]


_UNDOS = _Kind("imports", "ix_imports_case", "The undo of import", [ImportStatus.UNDOING])
_DELETIONS = _Kind("volumes", "ix_volumes_case", "The deletion of volume", [VolumeStatus.DELETING])
_WORK = (
    _UNDOS,
    _Kind(
        "imports", "ix_imports_case", "Import", [ImportStatus.SPLITTING, ImportStatus.WAITING, *sorted(ACTIVE_STATUSES)]
    ),
    _DELETIONS,
    _Kind(
        "volumes",
        "ix_volumes_case",
        "The import of volume",
        [VolumeStatus.SEALED, VolumeStatus.EXPANDING, VolumeStatus.HASHING],
    ),
    _Kind(
        "productions",
        "ix_productions_case",
        "Production",
        sorted(set(ProductionStatus) - {ProductionStatus.CONFIRMED, ProductionStatus.CANCELLED}),
    ),
    _Kind("tagging_jobs", "ix_tagging_jobs_case", "Tagging job", sorted(ACTIVE_TAGGING_JOBS)),
    _Kind("exports", "ix_exports_case", "Export", [ExportStatus.REQUESTED, ExportStatus.RUNNING]),
)


def find_work(reading: Session, tenant_id: str, case_id: int) -> str | None:
    """Return what of the case has not ended, as the subject of a sentence; None if all has."""
    return _find_first(reading, tenant_id, case_id, _WORK)


def find_removal(reading: Session, tenant_id: str, case_id: int) -> str | None:
    """Return the undo or the deletion of a volume of the case that has not ended, None without one."""
    return _find_first(reading, tenant_id, case_id, (_UNDOS, _DELETIONS))


def _find_first(reading: Session, tenant_id: str, case_id: int, kinds: Sequence[_Kind]) -> str | None:
    for kind in kinds:
        statement = text(
            f"SELECT id FROM {kind.table} FORCE INDEX ({kind.ordered_by}) "  # noqa: S608 - of constants
            "WHERE tenant_id = :tenant_id AND case_id = :case_id AND status IN :statuses ORDER BY id LIMIT 1"
        ).bindparams(bindparam("statuses", expanding=True))
        values = {"tenant_id": tenant_id, "case_id": case_id, "statuses": [str(each) for each in kind.statuses]}
        found = reading.execute(statement, values).scalar()
        if found is not None:
            return f"{kind.name} {found}"
    return None
