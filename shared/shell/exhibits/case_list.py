"""List and create the cases of a tenant.

Guaranteed: cases of another tenant, and those that the caller is not limited to, are not found; pages follow a unique
key, with three or four statements for each page. The number of documents is that of the case's exhibits: chunks and
parts of undos count those that they create and remove in the transactions that do it. Counting the exhibits instead
reads all of them, 0.6 seconds for a million. Open rejections are counted when a case is read: no import writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, bindparam, collate, false, func, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.cases import Case, CaseHold, CasePage, CasePurge, CaseSummary, NewCase
from core.contracts.queries import CasesQuery
from core.errors import AlreadyExistsError, NameTakenError
from core.pagination import Page, build_page, open_window
from core.statuses import ACTIVE_STATUSES, UNDONE_STATUSES, CaseStatus
from shell.activity_log import Act, ActKind, record_act
from shell.case_state.fence import FORMER_NAME
from shell.case_state.names import is_former
from shell.db.column_limits import column_limits
from shell.db.keyset import select_window
from shell.db.session import session
from shell.exhibits.cases import build_wall, load_case, require_case
from shell.exhibits.word_search import match_words
from shell.tables.cases import Cases
from shell.tables.imports import Imports
from shell.utils.db_helpers import force_index, insert_or_get, is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.idempotency import keep_case
from shell.utils.key_validation import is_storable, open_named_window, validate_key

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
# The rule of `shell.imports.state.import_states`: the chunks of an active import have its counts.
_OPEN = text("""
    SELECT i.case_id, SUM(IF(i.status IN :active, IF(i.chunk_count = 0, 0,
        (SELECT COALESCE(SUM(k.rejected), 0) FROM import_chunks AS k WHERE k.import_id = i.id)), i.rejected)
      - (SELECT COUNT(*) FROM import_corrections AS claim FORCE INDEX (ix_import_corrections_status)
        WHERE claim.import_id = i.id AND claim.status IN ('accepted', 'discarded'))) AS open
    FROM imports AS i FORCE INDEX (ix_imports_case) WHERE i.case_id IN :case_ids AND i.phase = 'import'
      AND i.corrects_import_id IS NULL AND i.status NOT IN :undone AND (i.rejected > 0 OR i.status IN :active)
    GROUP BY i.case_id
""").bindparams(*(bindparam(name, expanding=True) for name in ("case_ids", "active", "undone")))
_STATUSES = {"active": sorted(ACTIVE_STATUSES), "undone": sorted(UNDONE_STATUSES)}
# In microseconds since 1970; 0 without an import.
_LAST_IMPORT = func.coalesce(
    force_index(
        select(func.timestampdiff(text("MICROSECOND"), "1970-01-01", Imports.started_at))
        .where(Imports.case_id == Cases.id)
        .order_by(Imports.started_at.desc())
        .limit(1)
        .correlate(Cases),
        Imports,
        "ix_imports_case_started",
    ).scalar_subquery(),
    0,
)


def add_case(transaction: Session, caller: Caller, body: NewCase) -> Case:
    """Create a case of the tenant and return it.

    Raises AlreadyExistsError if the tenant has a case with this name, NameTakenError if one had it before and is not
    purged, NotFoundError for a name that the caller is not limited to, and InvalidInputError for a name that the column
    cannot store unchanged.
    """
    require_case(caller, body.name)
    validate_key(body.name, column_limits("cases")["name"])
    key = {"tenant_id": caller.tenant_id, "name": body.name}
    made, is_new = insert_or_get(transaction, Cases, key, {}, unique_key="uq_cases_tenant_name")
    if is_new and is_former(transaction, caller.tenant_id, body.name, reuse_purged=True):
        raise NameTakenError(FORMER_NAME)
    if not is_new:
        raise AlreadyExistsError("You have a case with this name already; use it, or choose another name.")
    transaction.refresh(made)
    keep_case(transaction, made.id)
    record_act(transaction, caller, Act(ActKind.CASE_CREATED, made.id, made.id))
    return Case(id=made.id, name=made.name, created_at=made.created_at)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_cases(caller: Caller, query: CasesQuery) -> CasePage:
    """Return a page of the caller's cases that match all filters, by name or by the last import.

    Raises InvalidInputError for a cursor that this API did not issue.
    """
    own = [Cases.tenant_id == caller.tenant_id, *build_wall(caller), *_build_filters(query)]
    counted = select(func.count()).select_from(Cases).where(*own)
    with session() as reading:
        page = _read_by_name(reading, query, own) if query.sort == "name" else _read_by_import(reading, query, own)
        total = reading.execute(counted).scalar_one() if query.count else None
        items = describe_cases(reading, page.items)
    return CasePage(items=items, next=page.next, prev=page.prev, total=total)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_case(caller: Caller, case_id: int) -> CaseSummary:
    """Return the case. Raises NotFoundError."""
    with session() as reading:
        return describe_cases(reading, [load_case(reading, caller, case_id)])[0]


def describe_cases(reading: Session, found: Sequence[Cases]) -> list[CaseSummary]:
    """Return the cases with the numbers of their imports, documents and open rejections, in two statements for all."""
    ids = [each.id for each in found]
    sums, still_open = _sum_imports(reading, ids), _count_open_rejections(reading, ids)
    return [_describe_case(each, sums.get(each.id), still_open.get(each.id, 0)) for each in found]


def _build_filters(query: CasesQuery) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if query.prefix is not None:
        known = is_storable(query.prefix, "cases", "name")
        conditions.append(Cases.name.startswith(query.prefix, autoescape=True) if known else false())
    if query.search is not None:
        # The column's own collation tells case and accents apart.
        conditions += match_words(collate(Cases.name, "utf8mb4_unicode_520_ci"), query.search, "cases")
    return conditions


def _read_by_name(reading: Session, query: CasesQuery, own: Sequence[ColumnElement[bool]]) -> Page[Cases]:
    window = open_named_window(query, "cases", "name")
    # A search that may find most of the cases would be answered by sorting them.
    statement = force_index(select(Cases).where(*own), Cases, "uq_cases_tenant_name")
    rows = reading.scalars(select_window(statement, window, Cases.name)).all()
    return build_page(rows, window, lambda row: (row.name,))


def _read_by_import(reading: Session, query: CasesQuery, own: Sequence[ColumnElement[bool]]) -> Page[Cases]:
    """Return a page in the order of the last imports, for which two numbers of each case are sorted."""
    window = open_window(query, (int, int))
    window = replace(window, is_descending=not window.is_descending)
    dated = select(Cases.id, _LAST_IMPORT.label("last")).where(*own).subquery()
    rows = reading.execute(select_window(select(dated), window, dated.c.last, dated.c.id)).all()
    page = build_page(rows, window, lambda row: (row.last, row.id))
    ids = [row.id for row in page.items]
    found = {each.id: each for each in reading.scalars(select(Cases).where(is_in(Cases.id, ids)))} if ids else {}
    return Page([found[each] for each in ids], page.next, page.prev)


def _sum_imports(reading: Session, case_ids: Sequence[int]) -> dict[int, Any]:
    """Return the number of imports and documents of each case, by case: one statement for all of them."""
    rows = reading.execute(_SUMS, {"case_ids": case_ids}) if case_ids else ()
    return {row.case_id: row for row in rows}


def _count_open_rejections(reading: Session, case_ids: Sequence[int]) -> dict[int, int]:
    """Return how many rejected rows are neither corrected nor discarded, by case, in one statement."""
    rows = reading.execute(_OPEN, {"case_ids": case_ids, **_STATUSES}) if case_ids else ()
    return {row.case_id: int(row.open) for row in rows}


def count_documents(reading: Session, case_id: int) -> int:
    """Return the number of the case's exhibits, in one statement that reads none of them."""
    sums = _sum_imports(reading, [case_id]).get(case_id)
    return int(sums.documents) if sums else 0


def _describe_case(found: Cases, sums: Any, open_rejections: int) -> CaseSummary:
    return CaseSummary(
        id=found.id,
        name=found.name,
        created_at=found.created_at,
        imports=sums.imports if sums else 0,
        documents=int(sums.documents) if sums else 0,
        open_rejections=open_rejections,
        last_import_at=sums.last_import_at if sums else None,
        status=CaseStatus(found.status),
        hold=_describe_hold(found),
        purge=_describe_purge(found),
        version=found.version,
    )


def _describe_hold(found: Cases) -> CaseHold | None:
    if found.held_at is None:
        return None
    return CaseHold(reason=found.hold_reason or "", held_by=found.held_by or "", held_at=found.held_at)


def _describe_purge(found: Cases) -> CasePurge | None:
    if found.purge_requested_at is None or found.purge_after is None:
        return None
    requested_by = found.purge_requested_by or ""
    return CasePurge(after=found.purge_after, requested_by=requested_by, requested_at=found.purge_requested_at)
