"""Read the row of an import for a worker that is about to change it."""

from __future__ import annotations

from sqlalchemy import select

from shell.db.session import session
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict


@retry_on_db_conflict(resolve=rerun_if_unknown)
def load_current_import(import_id: int) -> Imports | None:
    """Return the import, or None; a locking read, which waits for a transaction that is about to change the row."""
    with session() as locking:
        return locking.scalars(select(Imports).where(Imports.id == import_id).with_for_update()).one_or_none()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def find_tenant(import_id: int) -> str | None:
    """Return the tenant of the import, or None."""
    with session() as reading:
        return reading.scalar(select(Imports.tenant_id).where(Imports.id == import_id))
