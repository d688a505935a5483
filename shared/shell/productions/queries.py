"""Read productions, the progress of their steps, and which exhibit has which Bates numbers.

Guaranteed: data of another tenant is not found; the number of statements does not depend on the number of productions
or documents; pages follow a unique key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, defer

from core.caller import Caller
from core.contracts import productions as schemas
from core.contracts.common import ProductionFinding
from core.contracts.pages import ListQuery, OneCaseQuery
from core.contracts.queries import ProductionQuery
from core.errors import NotFoundError
from core.pagination import build_page, decode_cursor, open_window, paginate
from core.productions.bates import BatesFormat, Numbering, NumberRange
from core.productions.findings import GroupedFinding, parse_findings
from core.productions.step_names import StepName
from core.productions.volume import build_volume_folder
from core.saga import SagaStepStatus
from core.statuses import DocumentStatus, ProductionStatus
from shell.db.keyset import select_window
from shell.db.session import session
from shell.exhibits.cases import build_wall, find_chosen_case, get_chosen_case
from shell.productions.control_numbers import find_control_numbers, name_documents
from shell.productions.state import list_steps
from shell.tables.bates import BatesSequences, ProductionDocuments
from shell.tables.cases import Cases
from shell.tables.exhibits import Exhibits
from shell.tables.productions import Productions, ProductionSteps
from shell.utils.db_helpers import force_index, is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.user_names import read_user_names

# What remains where a step could not be undone or, after the pivot, not be done.
_REMAINING_ACTIONS: dict[str, str] = {
    StepName.BEGIN: "cancel the production",
    StepName.RESERVE: "record its numbers as void",
    StepName.COPY: "delete the objects under {folder}",
    StepName.NOTIFY: "notify the recipients of the volume",
}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_production(caller: Caller, production_id: int) -> schemas.Production:
    """Return the production and the status of its steps. Raises NotFoundError."""
    with session() as reading:
        return describe_production(reading, *load_production(reading, caller, production_id))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_productions(caller: Caller, query: ProductionQuery) -> schemas.ProductionPage:
    """Return a page of the tenant's productions, or of those of one case, newest first.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int,))
    with session() as reading:
        case_id = find_chosen_case(reading, caller, query)
        # The primary key would read other tenants' rows. The selection is omitted: it may hold 10,000 ids.
        index = "ix_productions_tenant" if case_id is None else "ix_productions_case"
        statement = force_index(_select_productions(caller), Productions, index)
        statement = statement.options(*map(defer, (Productions.selection, Productions.properties, Productions.parts)))
        if case_id is not None:
            statement = statement.where(Productions.case_id == case_id)
        rows = reading.execute(select_window(statement, window, Productions.id)).all()
        total = _count(reading, statement) if query.count else None
        page = build_page(rows, window, lambda row: (row[0].id,))
        names = read_user_names(reading, caller.tenant_id, [row[0].user_id for row in page.items])
    items = [_describe_summary(row[0], row[1], names) for row in page.items]
    return schemas.ProductionPage(items=items, next=page.next, prev=page.prev, total=total)


def _count(reading: Session, statement: Select[Any, Any]) -> int:
    return reading.execute(statement.with_only_columns(func.count(), maintain_column_froms=True)).scalar_one()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_documents(caller: Caller, production_id: int, query: ListQuery) -> schemas.ProducedDocumentPage:
    """Return a page of the production's documents in the order of their numbers.

    Raises NotFoundError, and InvalidInputError for a cursor that this API did not issue.
    """
    document = ProductionDocuments
    window = open_window(query, (int,))
    with session() as reading:
        production, _ = load_production(reading, caller, production_id)
        if production.last_number is None:
            return schemas.ProducedDocumentPage(items=[], next=None, prev=None)
        # An exhibit of which all numbers are void can have been removed.
        control_number = func.coalesce(document.control_number, Exhibits.control_number)
        statement = select(document, control_number).outerjoin(Exhibits, Exhibits.id == document.exhibit_id)
        # The bounds keep the scan within the production's own numbers.
        statement = statement.where(
            document.sequence_id == production.sequence_id,
            document.first_number.between(production.first_number or 1, production.last_number),
            document.production_id == production.id,
        )
        # With another index all documents of the production would be read and sorted for every page.
        statement = force_index(statement, document, "uq_production_documents_number")
        rows = reading.execute(select_window(statement, window, document.first_number)).all()
    page = build_page(rows, window, lambda row: (row[0].first_number,))
    bates_format = BatesFormat(production.prefix, production.digits)
    items = [_describe_document(bates_format, row[0], row[1]) for row in page.items]
    return schemas.ProducedDocumentPage(items=items, next=page.next, prev=page.prev)


def load_production(reading: Session, caller: Caller, production_id: int) -> tuple[Productions, str]:
    """Return the production as committed, and the name of its case.

    Raises NotFoundError, also for a production of another tenant.
    """
    statement = _select_productions(caller).where(Productions.id == production_id)
    found = reading.execute(statement.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise NotFoundError(f"You have no production {production_id}.")
    return found[0], found[1]


def describe_production(reading: Session, production: Productions, case: str) -> schemas.Production:
    """Return the production as the API represents it; `case` is the name of its case."""
    steps = list_steps(reading, production.id)
    kept = {step.name: step.reason for step in steps} | {None: production.reason}
    reasons = name_documents(reading, production.case_id, kept)
    folder = build_volume_folder(production.id, production.volume)
    names = read_user_names(reading, production.tenant_id, [production.user_id])
    return schemas.Production(
        **_build_common_fields(production, names),
        case=case,
        prefix=production.prefix,
        digits=production.digits,
        numbering=Numbering(production.numbering),
        slip_sheets=bool(production.slip_sheets),
        warnings=describe_findings(reading, production.case_id, parse_findings(production.warnings)),
        manifest_sha256=production.manifest_sha256.hex() if production.manifest_sha256 else None,
        cancel_requested=bool(production.cancel_requested),
        failed_step=production.failed_step,
        reason=reasons[None],
        folder=folder,
        steps=[_describe_step(step, reasons[step.name]) for step in steps],
        remaining_actions=_list_remaining_actions(production, steps, folder),
        updated_at=production.updated_at,
    )


def _list_remaining_actions(production: Productions, steps: list[ProductionSteps], folder: str) -> list[str]:
    if production.status != ProductionStatus.NEEDS_ATTENTION:
        return []
    actions = [_REMAINING_ACTIONS[step.name].format(folder=folder) for step in _list_unfinished_steps(steps)]
    return actions or ["find in the log why its executions end, then retry it"]


def _list_unfinished_steps(steps: list[ProductionSteps]) -> list[ProductionSteps]:
    confirmed = any(step.name == StepName.CONFIRM and step.status == SagaStepStatus.COMPLETED for step in steps)
    candidates = [
        step for step in steps if (step.name == StepName.NOTIFY) == confirmed and step.name in _REMAINING_ACTIONS
    ]
    return [step for step in candidates if step.status in (SagaStepStatus.FAILED, SagaStepStatus.COMPLETED)]


def _select_productions(caller: Caller) -> Select[Productions, str]:
    statement = select(Productions, Cases.name).join(Cases, Cases.id == Productions.case_id)
    return statement.where(Productions.tenant_id == caller.tenant_id, *build_wall(caller))


def _build_common_fields(production: Productions, names: Mapping[str, str]) -> dict[str, Any]:
    bates_format = BatesFormat(production.prefix, production.digits)
    first, last = production.first_number, production.last_number
    return {
        "id": production.id,
        "case_id": production.case_id,
        "volume": production.volume,
        "status": production.status,
        "documents": production.documents,
        "first_bates": bates_format.format_number(first) if first else None,
        "last_bates": bates_format.format_number(last) if last else None,
        "created_by": production.user_id,
        "created_by_name": names.get(production.user_id),
        "created_at": production.created_at,
    }


def _describe_summary(production: Productions, case: str, names: Mapping[str, str]) -> schemas.ProductionSummary:
    return schemas.ProductionSummary(**_build_common_fields(production, names), case=case)


def _describe_step(step: ProductionSteps, reason: str | None) -> schemas.ProductionStep:
    # What was copied is deleted when the step is compensated.
    done = 0 if step.done is not None and step.status == SagaStepStatus.COMPENSATED else step.done
    return schemas.ProductionStep(
        name=step.name,
        status=SagaStepStatus(step.status),
        reason=reason,
        done=done,
        total=step.total,
        updated_at=step.updated_at,
    )


def _describe_document(
    bates_format: BatesFormat, document: ProductionDocuments, control_number: str
) -> schemas.ProducedDocument:
    return schemas.ProducedDocument(
        position=document.position,
        exhibit_id=document.exhibit_id,
        control_number=control_number,
        bates_begin=bates_format.format_number(document.first_number),
        bates_end=bates_format.format_number(document.last_number),
        pages=document.page_count,
        status=DocumentStatus(document.status),
    )


def describe_findings(reading: Session, case_id: int, findings: Sequence[GroupedFinding]) -> list[ProductionFinding]:
    """Return the findings about documents of the case as the API represents them."""
    names = find_control_numbers(reading, case_id, [each for finding in findings for each in finding.exhibit_ids])
    return [
        ProductionFinding(
            code=each.code,
            blocks=each.blocks,
            message=each.message,
            count=each.count,
            exhibit_ids=list(each.exhibit_ids),
            control_numbers=[names[exhibit_id] for exhibit_id in each.exhibit_ids if exhibit_id in names],
        )
        for each in findings
    ]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_prefixes(caller: Caller, query: OneCaseQuery) -> schemas.BatesPrefixPage:
    """Return a page of the case's prefixes, in the order in which the database compares them.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue.
    """
    with session() as reading:
        case_id = get_chosen_case(reading, caller, query)
        statement = select(BatesSequences).where(BatesSequences.case_id == case_id)
        if query.after is not None:
            statement = statement.where(BatesSequences.prefix > decode_cursor(query.after, (str,))[0])
        rows = reading.scalars(statement.order_by(BatesSequences.prefix).limit(query.limit + 1)).all()
        page, following = paginate(rows, query.limit, lambda row: (row.prefix,))
        void = _list_void(reading, caller, case_id, [row.id for row in page])
    return schemas.BatesPrefixPage(items=[_describe_prefix(row, void[row.id]) for row in page], next=following)


def _list_void(
    reading: Session, caller: Caller, case_id: int, sequence_ids: Sequence[int]
) -> dict[int, list[NumberRange]]:
    """Return the ranges of the cancelled productions by sequence, those that follow each other as one."""
    found: dict[int, list[NumberRange]] = defaultdict(list)
    if not sequence_ids:
        return found
    columns = (Productions.sequence_id, Productions.first_number, Productions.last_number)
    statement = force_index(select(*columns), Productions, "ix_productions_case")
    statement = statement.where(Productions.tenant_id == caller.tenant_id, Productions.case_id == case_id)
    statement = statement.where(Productions.status == ProductionStatus.CANCELLED.value)
    rows: Any = reading.execute(statement.where(is_in(Productions.sequence_id, sequence_ids)))
    for sequence_id, first, last in sorted(row for row in rows if row.first_number is not None):
        ranges = found[sequence_id]
        if ranges and ranges[-1].last + 1 == first:
            ranges[-1] = NumberRange(ranges[-1].first, last)
        else:
            ranges.append(NumberRange(first, last))
    return found


def _describe_prefix(row: BatesSequences, void: Sequence[NumberRange]) -> schemas.BatesPrefix:
    bates_format = BatesFormat(row.prefix, row.digits)
    return schemas.BatesPrefix(
        prefix=row.prefix,
        digits=row.digits,
        next_number=row.next_number,
        next_bates=bates_format.format_number(row.next_number) if row.next_number <= bates_format.last else None,
        void_ranges=[
            schemas.BatesRange(first=bates_format.format_number(first), last=bates_format.format_number(last))
            for first, last in void
        ],
    )
