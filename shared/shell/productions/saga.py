"""Making a production: its saga, run from the beginning or gone on with.

Guaranteed: it ends confirmed, or cancelled with nothing of it in use, or in need of somebody's attention, of which an
event and a metric tell; an execution that begins where another one ended goes on from what that left in the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from core.saga import SagaOrchestrator, SagaResult, SagaStep
from core.statuses import ProductionStatus
from shell import production_steps_ops as steps
from shell.durable import Checkpoints, DurableJournal
from shell.production_state_ops import close, record, state_of

STEPS = (
    SagaStep("begin", steps.begin, steps.cancel),
    SagaStep("reserve", steps.reserve, steps.void),
    SagaStep("copy", steps.copy, steps.delete, parts=steps.copy_parts),
    SagaStep("confirm", steps.confirm, is_pivot=True, took_effect=steps.is_confirmed),
    SagaStep("notify", steps.notify),
)


def produce(event: Mapping[str, Any], checkpoints: Checkpoints, made_by: Sequence[SagaStep] = STEPS) -> dict[str, Any]:
    """Make the production that the event names, or go on with it; returns how it ended.

    Everything that it does is done in checkpoints: a replay repeats nothing but the decisions.
    """
    production_id = int(event["productionId"])
    journal = DurableJournal(checkpoints, partial(record, production_id))
    state = journal.checkpointed("load", partial(state_of, production_id))
    result = _went_on(production_id, SagaOrchestrator(str(production_id), made_by, journal), state)
    return dict(journal.checkpointed("close", partial(close, production_id, result.left)))


def _went_on(production_id: int, saga: SagaOrchestrator, state: Mapping[str, Any]) -> SagaResult:
    context = {steps.PRODUCTION: production_id}
    if state["status"] in (ProductionStatus.REQUESTED, ProductionStatus.RUNNING):
        return saga.run(context, begun=state["status"] == ProductionStatus.RUNNING)
    if state["status"] == ProductionStatus.CANCELLING:
        return saga.undo(context, state["failed_step"], state["reason"])
    if state["status"] == ProductionStatus.CONFIRMED:
        return saga.finish(context)
    return SagaResult(success=state["status"] == ProductionStatus.CANCELLED, context=context)
