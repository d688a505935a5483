"""Cases: what a tenant's imports, exhibits and custodians belong to."""

from __future__ import annotations

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.errors import NotFoundError
from shell.tables.cases import Cases
from shell.utils.db_helpers import insert_or_get
from shell.utils.keys import can_be_held

NO_SUCH_CASE = "you have no case of this name; names of cases are compared character by character"
_CASE = text("SELECT id FROM cases WHERE tenant_id = :tenant_id AND name = :name")


def case_of(transaction: Session, tenant_id: str, name: str) -> int:
    """The id of the tenant's case of that name, which is made if there is none.

    One that is there is not locked: its importers would wait for each other, or deadlock on what their failed INSERTs
    leave locked.
    """
    key = {"tenant_id": tenant_id, "name": name}
    found: int | None = transaction.execute(_CASE, key).scalar()
    if found is not None:
        return found
    return insert_or_get(transaction, Cases, key, {}, unique_key="uq_cases_tenant_name")[0].id


def case_id_of(reading: Session, caller: Caller, name: str) -> int:
    """The id of the tenant's case of that name; raises NotFoundError."""
    wanted = select(Cases.id).where(Cases.tenant_id == caller.tenant_id, Cases.name == name)
    found = reading.scalars(wanted).one_or_none() if can_be_held(name, "cases", "name") else None
    if found is None:
        raise NotFoundError(NO_SUCH_CASE)
    return found
