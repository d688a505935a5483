"""List a case's custodians, and add one by name.

Guaranteed: data of another tenant is not found; pages follow the unique names, with the same few statements for each
page; a custodian that was added through the API stays, even if an import saw the name first and its rows have no link
to it in the end.
"""

from __future__ import annotations

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibits import Custodian, CustodianPage, NewCustodian
from core.pagination import paginate
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.custodian_ops import lock_named_custodians
from shell.db.session import session
from shell.exhibits.cases import get_case_id, get_or_create_case, require_case
from shell.tables.custodians_tags import Custodians
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import decode_start_key, is_storable
from shell.utils.named_rows import find_named

# The end of an import deletes the custodians that it added and that no exhibit is linked to. Links can go too.
_DETACH_FROM_IMPORT = text(
    "UPDATE custodians SET import_id = NULL, line_no = NULL, version = version + 1 "
    "WHERE id = :id AND import_id IS NOT NULL"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_custodians(caller: Caller, case: str, limit: int, after: str | None) -> CustodianPage:
    """Return a page of the case's custodians in the order of their names, as the column collates them.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue.
    """
    start = decode_start_key(after, "custodians", "name")
    with session() as reading:
        case_id = get_case_id(reading, caller, case)
        statement = select(Custodians.id, Custodians.name).where(Custodians.case_id == case_id)
        if start is not None:
            statement = statement.where(Custodians.name > start)
        rows = reading.execute(statement.order_by(Custodians.name).limit(limit + 1)).all()
    page, following = paginate(rows, limit, lambda row: (row.name,))
    return CustodianPage(items=[Custodian(**row._mapping) for row in page], next=following)


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
