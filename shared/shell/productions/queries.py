"""Reading productions: how far each step is, and which exhibit has which Bates numbers.

Guaranteed: what belongs to another tenant is not found; a call takes the same few statements however many productions
or documents there are; pages follow each other by key.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, defer

from core.bates import BatesFormat, Numbering
from core.caller import Caller
from core.contracts import productions as contract
from core.errors import NotFoundError
from core.paging import decode_cursor, page_of
from core.saga import SagaStepStatus
from core.statuses import DocumentStatus, ProductionStatus
from core.volume import volume_folder
from shell.case_ops import case_id_of
from shell.production_state_ops import steps_of
from shell.tables.cases import Cases
from shell.tables.exhibits import Exhibits
from shell.tables.numbering import ProductionDocuments
from shell.tables.productions import Productions, ProductionSteps
from shell.utils.db_helpers import forced, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

# What is left where a step could not be undone, or not be done.
_LEFT = {
    "begin": "cancel the production",
    "reserve": "record its numbers as void",
    "copy": "delete the objects under {folder}",
    "notify": "tell the parties where the volume is",
}


@retry_on_db_conflict(resolve=repeating_is_harmless)
def get_production(caller: Caller, production_id: int) -> contract.Production:
    """How far the production is; raises NotFoundError."""
    with session() as reading:
        return described(reading, *load_production(reading, caller, production_id))


@retry_on_db_conflict(resolve=repeating_is_harmless)
def list_productions(caller: Caller, case: str | None, limit: int, after: str | None) -> contract.ProductionPage:
    """The tenant's productions, newest first, or those of one case.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that is not ours.
    """
    # Not the primary key, past everybody else's; nor what was selected, of up to 10,000 ids each.
    index = "ix_productions_tenant" if case is None else "ix_productions_case"
    wanted = forced(_of(caller), Productions, index).order_by(Productions.id.desc()).limit(limit + 1)
    wanted = wanted.options(defer(Productions.selection), defer(Productions.properties))
    if after is not None:
        wanted = wanted.where(Productions.id < decode_cursor(after, (int,))[0])
    with session() as reading:
        if case is not None:
            wanted = wanted.where(Productions.case_id == case_id_of(reading, caller, case))
        rows = reading.execute(wanted).all()
    page, following = page_of(rows, limit, lambda row: (row[0].id,))
    return contract.ProductionPage(items=[_summary(row[0], row[1]) for row in page], next=following)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def list_documents(caller: Caller, production_id: int, limit: int, after: str | None) -> contract.ProducedDocumentPage:
    """A page of the production's documents in the order of their numbers.

    Raises NotFoundError, InvalidInputError for a cursor that is not ours.
    """
    document = ProductionDocuments
    behind = decode_cursor(after, (int,))[0] if after is not None else 0
    with session() as reading:
        production, _ = load_production(reading, caller, production_id)
        if production.last_number is None:
            return contract.ProducedDocumentPage(items=[], next=None)
        behind = max(behind, (production.first_number or 1) - 1)
        wanted = select(document, Exhibits.control_number).join(Exhibits, Exhibits.id == document.exhibit_id)
        wanted = wanted.where(document.sequence_id == production.sequence_id, document.first_number > behind)
        # By the production's own range of numbers, so that nobody else's rows are passed over.
        wanted = wanted.where(document.first_number <= production.last_number, document.production_id == production.id)
        # Or else all of a production's documents are read and sorted for every page.
        wanted = forced(wanted, document, "uq_production_documents_number")
        rows = reading.execute(wanted.order_by(document.first_number).limit(limit + 1)).all()
    page, following = page_of(rows, limit, lambda row: (row[0].first_number,))
    form = BatesFormat(production.prefix, production.digits)
    return contract.ProducedDocumentPage(items=[_document(form, row[0], row[1]) for row in page], next=following)


def load_production(reading: Session, caller: Caller, production_id: int) -> tuple[Productions, str]:
    """The production as it is committed, and its case's name; raises NotFoundError, for another tenant's as well."""
    mine = _of(caller).where(Productions.id == production_id).execution_options(populate_existing=True)
    found = reading.execute(mine).one_or_none()
    if found is None:
        raise NotFoundError(f"you have no production {production_id}")
    return found[0], found[1]


def described(reading: Session, production: Productions, case: str) -> contract.Production:
    """A production as the API gives it."""
    steps = steps_of(reading, production.id)
    folder = volume_folder(production.id, production.volume)
    return contract.Production(
        **_plain(production),
        case=case,
        prefix=production.prefix,
        digits=production.digits,
        numbering=Numbering(production.numbering),
        cancel_requested=bool(production.cancel_requested),
        failed_step=production.failed_step,
        reason=production.reason,
        folder=folder,
        steps=[_step(step) for step in steps],
        left_to_do=_left_to_do(production, steps, folder),
        updated_at=production.updated_at,
    )


def _left_to_do(production: Productions, steps: list[ProductionSteps], folder: str) -> list[str]:
    if production.status != ProductionStatus.NEEDS_ATTENTION:
        return []
    left = [_LEFT[step.name].format(folder=folder) for step in _left(steps)]
    return left or ["find out from the log why its executions end, then retry it"]


def _left(steps: list[ProductionSteps]) -> list[ProductionSteps]:
    confirmed = any(step.name == "confirm" and step.status == SagaStepStatus.COMPLETED for step in steps)
    candidates = [step for step in steps if (step.name == "notify") == confirmed and step.name in _LEFT]
    return [step for step in candidates if step.status in (SagaStepStatus.FAILED, SagaStepStatus.COMPLETED)]


def _of(caller: Caller) -> Select[Productions, str]:
    wanted = select(Productions, Cases.name).join(Cases, Cases.id == Productions.case_id)
    return wanted.where(Productions.tenant_id == caller.tenant_id)


def _plain(production: Productions) -> dict[str, Any]:
    form = BatesFormat(production.prefix, production.digits)
    first, last = production.first_number, production.last_number
    return {
        "id": production.id,
        "volume": production.volume,
        "status": production.status,
        "documents": production.documents,
        "first_bates": form.number(first) if first else None,
        "last_bates": form.number(last) if last else None,
        "created_at": production.created_at,
    }


def _summary(production: Productions, case: str) -> contract.ProductionSummary:
    return contract.ProductionSummary(**_plain(production), case=case)


def _step(step: ProductionSteps) -> contract.ProductionStep:
    return contract.ProductionStep(
        name=step.name, status=SagaStepStatus(step.status), reason=step.reason, updated_at=step.updated_at
    )


def _document(form: BatesFormat, document: ProductionDocuments, control_number: str) -> contract.ProducedDocument:
    return contract.ProducedDocument(
        position=document.position,
        exhibit_id=document.exhibit_id,
        control_number=control_number,
        bates_begin=form.number(document.first_number),
        bates_end=form.number(document.last_number),
        status=DocumentStatus(document.status),
    )
