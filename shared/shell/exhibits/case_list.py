"""List and create the cases of a tenant.

Guaranteed: cases of another tenant, and those that the caller is not limited to, are not found; pages follow the unique
names, with two statements for each page. The number of documents is that of the case's exhibits: chunks and parts of
undos count those that they create and remove in the transactions that do it. Counting the exhibits instead reads all of
them, 0.6 seconds for a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, false, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.cases import Case, CasePage, CaseSummary, NewCase
from core.errors import AlreadyExistsError
from core.pagination import paginate
from shell.activity_log import Act, ActKind, record_act
from shell.db.column_limits import column_limits
from shell.db.session import session
from shell.exhibits.cases import build_wall, require_case
from shell.tables.cases import Cases
from shell.utils.db_helpers import insert_or_get, rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import decode_start_key, is_storable, validate_key

# Only data files create documents, and a check counts in its chunks what an import would do.
_SUMS = text("""
    SELECT i.case_id, COUNT(*) AS imports, MAX(i.started_at) AS last_import_at,
      COALESCE(SUM(IF(i.kind = 'rows' AND i.phase = 'import',
        (SELECT COALESCE(SUM(k.imported), 0) FROM import_chunks AS k WHERE k.import_id = i.id), 0)), 0)
      - COALESCE(SUM((SELECT COALESCE(SUM(p.removed), 0) FROM import_undos AS u JOIN import_undo_parts AS p
        ON p.import_id = u.import_id AND p.undo_no = u.undo_no WHERE u.import_id = i.id AND u.dry_run = 0)), 0)
      AS documents
    FROM imports AS i WHERE i.case_id IN :case_ids GROUP BY i.case_id
""").bindparams(bindparam("case_ids", expanding=True))


def add_case(transaction: Session, caller: Caller, body: NewCase) -> Case:
    """Create a case of the tenant and return it.

    Raises AlreadyExistsError if the tenant has a case with this name, NotFoundError for a name that the caller is not
    limited to, and InvalidInputError for a name that the column cannot store unchanged.
    """
    require_case(caller, body.name)
    validate_key(body.name, column_limits("cases")["name"])
    key = {"tenant_id": caller.tenant_id, "name": body.name}
    made, is_new = insert_or_get(transaction, Cases, key, {}, unique_key="uq_cases_tenant_name")
    if not is_new:
        raise AlreadyExistsError("You have a case with this name already; use it, or choose another name.")
    transaction.refresh(made)
    record_act(transaction, caller, Act(ActKind.CASE_CREATED, made.id, made.id))
    return Case(id=made.id, name=made.name, created_at=made.created_at)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_cases(caller: Caller, prefix: str | None, limit: int, after: str | None) -> CasePage:
    """Return a page of the caller's cases whose names begin with `prefix`, in the byte order of their names.

    Raises InvalidInputError for a cursor that this API did not issue.
    """
    start = decode_start_key(after, "cases", "name")
    statement = select(Cases).where(Cases.tenant_id == caller.tenant_id, *build_wall(caller)).order_by(Cases.name)
    if start is not None:
        statement = statement.where(Cases.name > start)
    if prefix is not None:
        known = is_storable(prefix, "cases", "name")
        statement = statement.where(Cases.name.startswith(prefix, autoescape=True) if known else false())
    with session() as reading:
        page, following = paginate(reading.scalars(statement.limit(limit + 1)).all(), limit, lambda row: (row.name,))
        sums = _sum_imports(reading, [each.id for each in page])
    return CasePage(items=[_describe_case(each, sums.get(each.id)) for each in page], next=following)


def _sum_imports(reading: Session, case_ids: Sequence[int]) -> dict[int, Any]:
    """Return the number of imports and documents of each case, by case: one statement for all of them."""
    rows = reading.execute(_SUMS, {"case_ids": case_ids}) if case_ids else ()
    return {row.case_id: row for row in rows}


def _describe_case(found: Cases, sums: Any) -> CaseSummary:
    return CaseSummary(
        id=found.id,
        name=found.name,
        created_at=found.created_at,
        imports=sums.imports if sums else 0,
        documents=int(sums.documents) if sums else 0,
        last_import_at=sums.last_import_at if sums else None,
    )
