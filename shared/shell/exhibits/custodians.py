"""What the API is asked of a case's custodians: to list them, and to add one by name.

Guaranteed: what belongs to another tenant is not found; pages follow the unique names, and cost the same few
statements each; one who was asked for stays, also where an import saw the name first and then imports no row that has
it.
"""

from __future__ import annotations

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibits import Custodian, CustodianPage, NewCustodian
from core.paging import page_of
from shell.case_ops import case_id_of, case_of
from shell.custodian_ops import lock_named_custodians
from shell.tables.names import Custodians
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.keys import start_of

# What nothing refers to would go when the import that made it ends.
_KEEP = text(
    "UPDATE custodians SET import_id = NULL, line_no = NULL, version = version + 1 "
    "WHERE id = :id AND import_id IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM custodian_exhibits AS link WHERE link.custodian_id = custodians.id)"
)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def list_custodians(caller: Caller, case: str, limit: int, after: str | None) -> CustodianPage:
    """A page of the case's custodians by name; names are unique as the column collates them, and so in order.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that is not ours.
    """
    start = start_of(after, "custodians", "name")
    with session() as reading:
        wanted = select(Custodians.id, Custodians.name).where(Custodians.case_id == case_id_of(reading, caller, case))
        if start is not None:
            wanted = wanted.where(Custodians.name > start)
        rows = reading.execute(wanted.order_by(Custodians.name).limit(limit + 1)).all()
    page, following = page_of(rows, limit, lambda row: (row.name,))
    return CustodianPage(items=[Custodian(**row._mapping) for row in page], next=following)


def add_custodian(transaction: Session, caller: Caller, body: NewCustodian) -> Custodian:
    """The case's custodian of that name, in the spelling that is stored; both are made if there are none.

    Names that the database collates equal are one. Raises InvalidInputError for a name that the column cannot hold as
    it is.
    """
    case_id = case_of(transaction, caller.tenant_id, body.case)
    [custodian_id] = lock_named_custodians(transaction, case_id, [body.name])
    transaction.execute(_KEEP, {"id": custodian_id})
    kept = transaction.get_one(Custodians, custodian_id, populate_existing=True)
    return Custodian(id=kept.id, name=kept.name)
