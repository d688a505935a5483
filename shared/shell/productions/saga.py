"""Run the saga of a production, from its first step or from the point where an earlier execution ended.

Guaranteed: a production ends as confirmed, as cancelled with none of its numbers and files in use, or as
needs_attention, which an event and a metric report. An execution continues from the state that the previous one
committed to the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from core.productions.step_names import StepName
from core.saga import SagaOrchestrator, SagaResult, SagaStep
from core.statuses import ProductionStatus
from shell.aws.durable_execution import Checkpoints, DurableJournal
from shell.productions import steps
from shell.productions.state import close, get_state, record_step_event
from shell.work.messages import ProductionMessage

STEPS = (
    SagaStep(StepName.BEGIN, steps.begin, steps.cancel),
    SagaStep(StepName.RESERVE, steps.reserve, steps.void),
    SagaStep(StepName.COPY, steps.copy, steps.delete, parts=steps.count_copy_steps),
    SagaStep(StepName.CONFIRM, steps.confirm, is_pivot=True, took_effect=steps.is_confirmed),
    SagaStep(StepName.NOTIFY, steps.notify),
)


def produce(
    event: Mapping[str, Any], checkpoints: Checkpoints, saga_steps: Sequence[SagaStep] = STEPS
) -> dict[str, Any]:
    """Start or resume the production that the event names; return its status and its unfinished steps.

    All work runs in checkpoints: a replay of the execution repeats only the decisions between them.
    """
    production_id = ProductionMessage.read(event).production_id
    journal = DurableJournal(checkpoints, partial(record_step_event, production_id))
    state = journal.run_checkpointed("load", partial(get_state, production_id))
    result = _run(production_id, SagaOrchestrator(str(production_id), saga_steps, journal), state)
    return dict(journal.run_checkpointed("close", partial(close, production_id, result.unfinished_steps)))


def _run(production_id: int, saga: SagaOrchestrator, state: Mapping[str, Any]) -> SagaResult:
    context = {steps.PRODUCTION: production_id}
    if state["status"] in (ProductionStatus.REQUESTED, ProductionStatus.RUNNING):
        return saga.run(context, resumed=state["status"] == ProductionStatus.RUNNING)
    if state["status"] == ProductionStatus.CANCELLING:
        return saga.undo(context, state["failed_step"], state["reason"])
    if state["status"] == ProductionStatus.CONFIRMED:
        return saga.finish(context)
    return SagaResult(success=state["status"] == ProductionStatus.CANCELLED, context=context)
