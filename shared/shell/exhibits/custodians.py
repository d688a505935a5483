"""Add a custodian by name.

Guaranteed: a custodian that was added through the API stays, even if an import saw the name first and its rows have no
link to it in the end.
"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibits import Custodian, NewCustodian
from shell.custodian_ops import lock_named_custodians
from shell.exhibits.cases import get_or_create_case, require_case
from shell.tables.custodians_tags import Custodians

# The end of an import deletes the custodians that it added and that no exhibit is linked to. Links can go too.
_DETACH_FROM_IMPORT = text(
    "UPDATE custodians SET import_id = NULL, line_no = NULL, version = version + 1 "
    "WHERE id = :id AND import_id IS NOT NULL"
)


def add_custodian(transaction: Session, caller: Caller, body: NewCustodian) -> Custodian:
    """Return the case's custodian with this name, in the stored spelling; add case and custodian if they are missing.

    Names that are equal under the column's collation are one custodian. Raises InvalidInputError for a name that the
    column cannot store unchanged, NotFoundError for a case that the caller is not limited to.
    """
    require_case(caller, body.case)
    case_id = get_or_create_case(transaction, caller.tenant_id, body.case)
    [custodian_id] = lock_named_custodians(transaction, case_id, [body.name])
    transaction.execute(_DETACH_FROM_IMPORT, {"id": custodian_id})
    custodian = transaction.get_one(Custodians, custodian_id, populate_existing=True)
    return Custodian(id=custodian.id, name=custodian.name)
