"""How far a production is: its row, and one for each step of its saga.

Guaranteed: whoever changes a production holds its row; what its saga does goes on only while nobody has cancelled it,
and that is asked under the same lock, in the same transaction as what is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.errors import CancelledError, NotFoundError
from core.events import production_needs_attention
from core.saga import SagaEvent, SagaEventKind, SagaStepStatus
from core.statuses import ProductionStatus
from shell.observability import count_now, logger
from shell.outbox_ops import append_events, nudge_publisher
from shell.tables.productions import Productions, ProductionSteps
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

GOING_ON = frozenset({ProductionStatus.REQUESTED, ProductionStatus.RUNNING})
MAX_REASON = 1_000
_STATUS = {
    SagaEventKind.COMPLETED: SagaStepStatus.COMPLETED,
    SagaEventKind.FAILED: SagaStepStatus.FAILED,
    SagaEventKind.COMPENSATED: SagaStepStatus.COMPENSATED,
    SagaEventKind.COMPENSATION_FAILED: SagaStepStatus.FAILED,
}
_STEP = text(
    "UPDATE production_steps SET status = COALESCE(:status, status), reason = :reason, updated_at = NOW(6) "
    "WHERE production_id = :production_id AND name = :name"
)


def locked(transaction: Session, production_id: int) -> Productions:
    """The production as it is committed, held until the transaction ends; raises NotFoundError."""
    wanted = select(Productions).where(Productions.id == production_id).with_for_update()
    found = transaction.scalars(wanted.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise NotFoundError(f"there is no production {production_id}")
    return found


def going_on(transaction: Session, production_id: int) -> Productions:
    """The production, held, of which a step is to be done now; raises CancelledError where that is over."""
    production = locked(transaction, production_id)
    if production.cancel_requested:
        raise CancelledError("the production was cancelled on request")
    if production.status not in GOING_ON:
        raise CancelledError(f"the production is {production.status}: no step of it goes on")
    return production


def being_undone(transaction: Session, production_id: int) -> Productions | None:
    """The production, held, of which a step is to be undone; None where there is nothing to undo any more."""
    production = locked(transaction, production_id)
    return production if production.status == ProductionStatus.CANCELLING else None


@retry_on_db_conflict(resolve=repeating_is_harmless)
def is_given_up(production_id: int) -> bool:
    """Whether nothing of the production is to be kept: it is being undone, or is cancelled and a step came late."""
    with session() as transaction:
        status = locked(transaction, production_id).status
        return status in (ProductionStatus.CANCELLING, ProductionStatus.CANCELLED)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def refuse_cancelled(production_id: int) -> None:
    """Raise CancelledError unless steps of the production may go on; and note that one is at work."""
    with session() as transaction:
        going_on(transaction, production_id).updated_at = func.now(6)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def record(production_id: int, event: SagaEvent) -> None:
    """Keep and log what happened to a step; one that failed before the pivot turns the production back."""
    with session() as transaction:
        production = locked(transaction, production_id)
        reason = event.reason[:MAX_REASON] if event.reason else None
        status = _STATUS.get(event.kind)
        changes = {"status": status, "reason": reason, "production_id": production_id, "name": event.step}
        if not _is_settled(production, event.step):
            transaction.execute(_STEP, changes)
        if event.kind is SagaEventKind.FAILED and production.status in GOING_ON:
            production.status = ProductionStatus.CANCELLING
            production.failed_step, production.reason = event.step, reason
        production.updated_at = func.now(6)
    log = logger.error if event.reason else logger.info
    log(event.kind.value, extra={"production_id": production_id, "step": event.step, "reason": event.reason})


def _is_settled(production: Productions, step: str) -> bool:
    """What ended a production has said so of its own step; whatever is told later, or by somebody late, is not so."""
    if production.status == ProductionStatus.CONFIRMED:
        return step != "notify"
    return production.status in (ProductionStatus.CANCELLED, ProductionStatus.NEEDS_ATTENTION)


def settle_step(transaction: Session, production_id: int, name: str, status: SagaStepStatus) -> None:
    """How a step stands from now on, in the transaction that makes it so."""
    changes = {"status": status, "reason": None, "production_id": production_id, "name": name}
    transaction.execute(_STEP, changes)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def state_of(production_id: int) -> dict[str, Any]:
    """Its status, and why it failed if it did; ids and reasons, fit for a checkpoint. Raises NotFoundError."""
    with session() as reading:
        production = reading.get(Productions, production_id)
        if production is None:
            raise NotFoundError(f"there is no production {production_id}")
        return {"status": production.status, "failed_step": production.failed_step, "reason": production.reason}


def close(production_id: int, left: tuple[str, ...]) -> dict[str, Any]:
    """Its execution ends: nothing is to be done any more, or somebody has to see to the steps that are `left`.

    Of those the event `production.needs_attention` tells, and a metric that an alarm watches.
    """
    status = _close(production_id, left)
    if status != ProductionStatus.NEEDS_ATTENTION:
        return {"status": status, "left": []}
    nudge_publisher()
    return {"status": status, "left": list(left)}


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _close(production_id: int, left: tuple[str, ...]) -> str:
    with session() as transaction:
        production = locked(transaction, production_id)
        if left and production.status not in (ProductionStatus.NEEDS_ATTENTION, ProductionStatus.CANCELLED):
            need_attention(transaction, production, left)
        # Otherwise another execution came between, and has to end it, or a further one if that is dead.
        if _has_ended(transaction, production):
            production.is_open = 0
        production.updated_at = func.now(6)
        return production.status


def need_attention(transaction: Session, production: Productions, left: Sequence[str]) -> None:
    """Somebody has to see to the production, which is held: told by an event, and by a metric that an alarm watches."""
    production.status, production.is_open = ProductionStatus.NEEDS_ATTENTION, 0
    append_events(transaction, [production_needs_attention(production.id, production.tenant_id, left)])
    count_now(ProductionsNeedingAttention=1)
    logger.critical("production needs attention", extra={"production_id": production.id, "left": list(left)})


def _has_ended(reading: Session, production: Productions) -> bool:
    if production.status == ProductionStatus.CONFIRMED:
        steps = steps_of(reading, production.id)
        return any(step.name == "notify" and step.status == SagaStepStatus.COMPLETED for step in steps)
    return production.status in (ProductionStatus.CANCELLED, ProductionStatus.NEEDS_ATTENTION)


def steps_of(reading: Session, production_id: int) -> list[ProductionSteps]:
    """The steps in their order."""
    wanted = select(ProductionSteps).where(ProductionSteps.production_id == production_id)
    return list(reading.scalars(wanted.order_by(ProductionSteps.place)))
