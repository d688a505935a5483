"""Add a custodian by name.

Guaranteed: a custodian that was added through the API stays, even if an import saw the name first and its rows have no
link to it in the end.
"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibits import Custodian, NewCustodian
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.custodian_ops import lock_named_custodians
from shell.exhibits.cases import get_or_create_case, require_case
from shell.tables.custodians_tags import Custodians
from shell.utils.db_helpers import count_changed_rows
from shell.utils.key_validation import is_storable
from shell.utils.named_rows import find_named

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
    known = is_storable(body.name, "custodians", "name") and find_named(transaction, case_id, {Custodians: [body.name]})
    [custodian_id] = lock_named_custodians(transaction, case_id, [body.name])
    is_detached = count_changed_rows(transaction.execute(_DETACH_FROM_IMPORT, {"id": custodian_id}))
    if is_detached or not (known and known[Custodians]):
        record_act(transaction, caller, Act(ActKind.CUSTODIAN_ADDED, custodian_id, case_id))
    else:
        record_no_act(transaction)
    custodian = transaction.get_one(Custodians, custodian_id, populate_existing=True)
    return Custodian(id=custodian.id, name=custodian.name)
