"""How a case stands now, for work that runs without a request and never locks the case."""

from __future__ import annotations

from sqlalchemy import text

from shell.db.session import session
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

_IS_HELD = text("SELECT 1 FROM cases WHERE id = :case_id AND held_at IS NOT NULL")
_IS_GONE = text("SELECT 1 FROM cases WHERE id = :case_id AND status IN ('purging', 'purged')")


@retry_on_db_conflict(resolve=rerun_if_unknown)
def is_held(case_id: int) -> bool:
    """Return whether the case is under a legal hold."""
    with session() as reading:
        return reading.execute(_IS_HELD, {"case_id": case_id}).first() is not None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def is_gone(case_id: int) -> bool:
    """Return whether the case is purging or purged; a purge also fences each import, so this only saves work."""
    with session() as reading:
        return reading.execute(_IS_GONE, {"case_id": case_id}).first() is not None
