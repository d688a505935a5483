"""Lock an import that has no chunk left, so that one generation of it completes it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.errors import ImportNotRunningError
from core.statuses import ImportStatus

_LOCK = text("SELECT status, chunks_left, generation FROM imports WHERE id = :import_id FOR UPDATE")


def lock_completing(
    transaction: Session, import_id: int, generation: int, status: ImportStatus = ImportStatus.RUNNING
) -> None:
    """Lock the import's row; raise ImportNotRunningError unless this generation has no chunk left and has not ended."""
    check_completing(transaction.execute(_LOCK, {"import_id": import_id}).one(), generation, status)


def check_completing(found: Any, generation: int, status: ImportStatus = ImportStatus.RUNNING) -> None:
    """Raise ImportNotRunningError unless the row that was read is that of an import or check to be completed."""
    if (found.status, found.chunks_left, found.generation) != (status, 0, generation):
        raise ImportNotRunningError(found.status)
