"""Keep the imports of a case and the undo of one of them apart.

Guaranteed: while an import of a case is being undone, no other one begins to run, and none is undone while another
runs: the worker that begins either holds the lock on the case's row from its look at the others until its commit.
Otherwise an import could count rows as unchanged, or overlay exhibits, that the undo then removes.
"""

from __future__ import annotations

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.statuses import ImportStatus

_LOCK = text("SELECT id FROM cases WHERE id = :case_id FOR UPDATE")
_FIND = text(
    "SELECT id FROM imports WHERE case_id = :case_id AND id <> :import_id AND status IN :statuses ORDER BY id LIMIT 1"
).bindparams(bindparam("statuses", expanding=True))


def find_undo(transaction: Session, case_id: int, import_id: int) -> int | None:
    """Lock the case, for an import that begins to run; return another import of it that is being undone, or None."""
    return _find(transaction, case_id, import_id, ImportStatus.UNDOING)


def find_running_import(transaction: Session, case_id: int, import_id: int) -> int | None:
    """Lock the case, for an undo; return another import of it that runs or is being undone, or None."""
    return _find(transaction, case_id, import_id, ImportStatus.RUNNING, ImportStatus.UNDOING)


def _find(transaction: Session, case_id: int, import_id: int, *statuses: ImportStatus) -> int | None:
    transaction.execute(_LOCK, {"case_id": case_id})
    values = {"case_id": case_id, "import_id": import_id, "statuses": [each.value for each in statuses]}
    found: int | None = transaction.execute(_FIND, values).scalar()
    return found
