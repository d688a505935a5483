"""Find and create cases, to which a tenant's imports, exhibits and custodians belong."""

from __future__ import annotations

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.errors import NotFoundError
from shell.tables.cases import Cases
from shell.utils.db_helpers import insert_or_get
from shell.utils.key_validation import is_storable

NO_SUCH_CASE = "you have no case with this name; case names are compared character by character"
_CASE = text("SELECT id FROM cases WHERE tenant_id = :tenant_id AND name = :name")


def get_or_create_case(transaction: Session, tenant_id: str, name: str) -> int:
    """Return the id of the tenant's case with this name, and create the case if it does not exist.

    Does not lock an existing case: concurrent imports would wait for each other, or deadlock on the locks of their
    failed INSERTs.
    """
    key = {"tenant_id": tenant_id, "name": name}
    found: int | None = transaction.execute(_CASE, key).scalar()
    if found is not None:
        return found
    return insert_or_get(transaction, Cases, key, {}, unique_key="uq_cases_tenant_name")[0].id


def get_case_id(reading: Session, caller: Caller, name: str) -> int:
    """Return the id of the tenant's case with this name; raise NotFoundError if there is none."""
    query = select(Cases.id).where(Cases.tenant_id == caller.tenant_id, Cases.name == name)
    found = reading.scalars(query).one_or_none() if is_storable(name, "cases", "name") else None
    if found is None:
        raise NotFoundError(NO_SUCH_CASE)
    return found
