"""Which imports a caller may see, and when an import must wait for the undo of another one."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.errors import NotFoundError, WrongStateError
from shell.case_state.fence import Entry, enter_case
from shell.exhibits.case_locks import find_undo
from shell.exhibits.cases import WALL, WALL_CASES, wall_values

_EXISTS = text(
    "SELECT i.case_id FROM imports AS i JOIN cases AS c ON c.id = i.case_id "  # noqa: S608
    f"WHERE i.id = :import_id AND i.tenant_id = :tenant_id AND {WALL}"
).bindparams(WALL_CASES)


def require_import(reading: Session, caller: Caller, import_id: int) -> int:
    """Return the id of the import's case. Raises NotFoundError if the import does not exist for the caller."""
    values = {"import_id": import_id, "tenant_id": caller.tenant_id, **wall_values(caller)}
    found: int | None = reading.execute(_EXISTS, values).scalar()
    if found is None:
        raise build_not_found()
    return found


def enter_import(
    transaction: Session, caller: Caller, import_id: int, entry: Entry = Entry.CHANGE, *, alone: bool = False
) -> None:
    """Enter the import's case (`shell.case_state.fence`). Raises the errors of `require_import` and `enter_case`."""
    enter_case(transaction, require_import(transaction, caller, import_id), entry, alone=alone)


def build_not_found() -> NotFoundError:
    """Return the error for an import that does not exist or belongs to another tenant."""
    return NotFoundError("You have no such import; GET /imports lists yours.")


_CASE_ID = text("SELECT case_id FROM imports WHERE id = :import_id")


def refuse_during_undo(transaction: Session, import_id: int) -> None:
    """Lock the import's case; raise WrongStateError if another import of it is being undone."""
    case_id = transaction.execute(_CASE_ID, {"import_id": import_id}).scalar_one()
    undone = find_undo(transaction, case_id, import_id)
    if undone is not None:
        raise WrongStateError(f"Import {undone} of the same case is being undone; repeat this when it has ended.")
