"""Cases: what a tenant's imports, exhibits and custodians belong to."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from shell.tables import Cases
from shell.utils.db_helpers import insert_or_get

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
