"""The state of a production: its row, and one row for each step of its saga.

Guaranteed: every change of a production locks its row first. A step takes effect only while the production is active:
the check runs under the same lock and in the same transaction as the effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.errors import CancelledError, NotFoundError
from core.events import production_needs_attention
from core.productions.step_names import StepName
from core.saga import SagaEvent, SagaEventKind, SagaStepStatus
from core.statuses import ProductionStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.observability import emit_counts, logger
from shell.outbox.writer import append_events, wake_relay
from shell.tables.productions import Productions, ProductionSteps
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

ACTIVE = frozenset({ProductionStatus.REQUESTED, ProductionStatus.RUNNING})
MAX_REASON = 1_000
_STATUS = {
    SagaEventKind.COMPLETED: SagaStepStatus.COMPLETED,
    SagaEventKind.FAILED: SagaStepStatus.FAILED,
    SagaEventKind.COMPENSATED: SagaStepStatus.COMPENSATED,
    SagaEventKind.COMPENSATION_FAILED: SagaStepStatus.FAILED,
}
_COUNT_DONE = text(
    "UPDATE production_steps SET done = GREATEST(COALESCE(done, 0), :done), total = :total "
    "WHERE production_id = :production_id AND name = :name"
)
_UPDATE_STEP = text(
    "UPDATE production_steps SET status = COALESCE(:status, status), reason = :reason, updated_at = NOW(6) "
    "WHERE production_id = :production_id AND name = :name"
)


def lock_production(transaction: Session, production_id: int) -> Productions:
    """Lock the production's row until the transaction ends and return it as committed. Raises NotFoundError."""
    locking = select(Productions).where(Productions.id == production_id).with_for_update()
    found = transaction.scalars(locking.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise _not_found(production_id)
    return found


def lock_active_production(transaction: Session, production_id: int) -> Productions:
    """Lock and return a production whose next step may take effect.

    Raises CancelledError if cancellation was requested or the production is neither requested nor running.
    """
    production = lock_production(transaction, production_id)
    if production.cancel_requested:
        raise CancelledError("The production was cancelled on request.")
    if production.status not in ACTIVE:
        raise CancelledError(f"The production has the status {production.status}: none of its steps may run.")
    return production


def lock_cancelling_production(transaction: Session, production_id: int) -> Productions | None:
    """Lock and return a production whose steps are being undone; return None for any other status."""
    production = lock_production(transaction, production_id)
    return production if production.status == ProductionStatus.CANCELLING else None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def is_cancelling_or_cancelled(production_id: int) -> bool:
    """Return whether all files of the production are to be deleted, including those that a late step wrote."""
    with session() as transaction:
        status = lock_production(transaction, production_id).status
        return status in (ProductionStatus.CANCELLING, ProductionStatus.CANCELLED)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def touch_active_production(production_id: int, step: StepName, done: int) -> None:
    """Record that a step of the production is at work, and how many of the documents it has processed.

    Only the execution of the production writes the row of the step. A repeated part does not lower the number: what was
    copied stays copied. Raises CancelledError unless the production is active.
    """
    with session() as transaction:
        production = lock_active_production(transaction, production_id)
        values = {"production_id": production_id, "name": step, "done": done, "total": production.documents}
        transaction.execute(_COUNT_DONE, values)
        production.updated_at = func.now(6)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def record_step_event(production_id: int, event: SagaEvent) -> None:
    """Store and log what happened to a step; a failure before the pivot makes the production `cancelling`."""
    with session() as transaction:
        production = lock_production(transaction, production_id)
        reason = event.reason[:MAX_REASON] if event.reason else None
        if not _is_final(production, event.step):
            _update_step(transaction, production_id, event.step, _STATUS.get(event.kind), reason)
        if event.kind is SagaEventKind.FAILED and production.status in ACTIVE:
            production.status = ProductionStatus.CANCELLING
            production.failed_step, production.reason = event.step, reason
        production.updated_at = func.now(6)
    log = logger.error if event.reason else logger.info
    log(event.kind.value, extra={"production_id": production_id, "step": event.step, "reason": event.reason})


def _is_final(production: Productions, step: str) -> bool:
    """Return whether the step's row must not change any more.

    The transaction that gave the production its last status wrote the rows of its steps; a later event is outdated.
    """
    if production.status == ProductionStatus.CONFIRMED:
        return step != StepName.NOTIFY
    return production.status in (ProductionStatus.CANCELLED, ProductionStatus.NEEDS_ATTENTION)


def set_step_status(transaction: Session, production_id: int, step: StepName, status: SagaStepStatus) -> None:
    """Set a step's status and clear its reason, in the transaction that commits the step's effect."""
    _update_step(transaction, production_id, step, status, reason=None)


def _update_step(
    transaction: Session, production_id: int, step: str, status: SagaStepStatus | None, reason: str | None
) -> None:
    changes = {"status": status, "reason": reason, "production_id": production_id, "name": step}
    transaction.execute(_UPDATE_STEP, changes)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_state(production_id: int) -> dict[str, Any]:
    """Return `status`, `failed_step` and `reason`, which a checkpoint can serialize. Raises NotFoundError."""
    with session() as reading:
        production = reading.get(Productions, production_id)
        if production is None:
            raise _not_found(production_id)
        return {"status": production.status, "failed_step": production.failed_step, "reason": production.reason}


def close(production_id: int, unfinished_steps: tuple[str, ...]) -> dict[str, Any]:
    """Record that an execution of the production ended; return the production's status and unfinished steps.

    Where steps could not be done or undone, the production becomes `needs_attention`: the event
    `production.needs_attention` and a metric with an alarm report it.
    """
    status = _close(production_id, unfinished_steps)
    if status != ProductionStatus.NEEDS_ATTENTION:
        return {"status": status, "unfinished": []}
    wake_relay()
    return {"status": status, "unfinished": list(unfinished_steps)}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _close(production_id: int, unfinished_steps: tuple[str, ...]) -> str:
    with session() as transaction:
        production = lock_production(transaction, production_id)
        if unfinished_steps and production.status not in (ProductionStatus.NEEDS_ATTENTION, ProductionStatus.CANCELLED):
            mark_needs_attention(transaction, production, unfinished_steps)
        # If not ended, another execution took over meanwhile: that one ends the production, or its successor does.
        if _has_ended(transaction, production):
            production.is_open = 0
        production.updated_at = func.now(6)
        return production.status


def mark_needs_attention(transaction: Session, production: Productions, unfinished_steps: Sequence[str]) -> None:
    """Set a locked production to `needs_attention`, append the event, count the metric of the alarm, and log it."""
    production.status, production.is_open = ProductionStatus.NEEDS_ATTENTION, 0
    summary = {"unfinished": ",".join(unfinished_steps)}
    act = Act(ActKind.PRODUCTION_NEEDS_ATTENTION, production.id, production.case_id, summary)
    record_own_act(transaction, production.tenant_id, act)
    append_events(transaction, [production_needs_attention(production.id, production.tenant_id, unfinished_steps)])
    emit_counts(ProductionsNeedingAttention=1)
    logger.critical(
        "production needs attention", extra={"production_id": production.id, "unfinished": list(unfinished_steps)}
    )


def _has_ended(reading: Session, production: Productions) -> bool:
    if production.status == ProductionStatus.CONFIRMED:
        steps = list_steps(reading, production.id)
        return any(step.name == StepName.NOTIFY and step.status == SagaStepStatus.COMPLETED for step in steps)
    return production.status in (ProductionStatus.CANCELLED, ProductionStatus.NEEDS_ATTENTION)


def list_steps(reading: Session, production_id: int) -> list[ProductionSteps]:
    """Return the production's steps in the order in which they run."""
    statement = select(ProductionSteps).where(ProductionSteps.production_id == production_id)
    return list(reading.scalars(statement.order_by(ProductionSteps.position)))


def _not_found(production_id: int) -> NotFoundError:
    return NotFoundError(f"Production {production_id} does not exist.")
