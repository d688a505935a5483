"""Asking for productions, cancelling them, and having those gone on with that somebody has seen to.

Guaranteed: a production and the event that starts it commit together, or neither does; a cancellation that is answered
is obeyed before the production is confirmed, or is refused. The transaction is the caller's.
"""

from __future__ import annotations

import json

from sqlalchemy import func, text
from sqlalchemy.orm import Session

from core.bates import BatesFormat
from core.caller import Caller
from core.contracts.productions import ExhibitSelection, NewProduction, Production
from core.errors import WrongStateError
from core.events import production_requested
from core.saga import SagaStepStatus
from core.statuses import ProductionStatus
from shell.bates_ops import refuse_impossible
from shell.case_ops import case_id_of
from shell.matching_ops import count_selected
from shell.outbox_ops import append_events
from shell.production_query_ops import described, load_production
from shell.production_state_ops import locked, steps_of
from shell.tables.productions import Productions
from shell.utils.bulk_insert import insert_new
from shell.utils.column_limits import column_limits
from shell.utils.keys import refuse_unstorable

STEP_NAMES = ("begin", "reserve", "copy", "confirm", "notify")
_REOPEN_STEP = text(
    "UPDATE production_steps SET status = 'pending', reason = NULL, updated_at = NOW(6) "
    "WHERE production_id = :production_id AND name = 'notify' AND status = 'failed'"
)


def create_production(transaction: Session, caller: Caller, asked: NewProduction) -> Production:
    """Record what is to be produced; the numbers are given out by its first step, when it comes to that.

    Raises NotFoundError for a case or exhibits that the tenant does not have, NothingToProduceError,
    SequenceExhaustedError, and WrongStateError for a prefix that the case uses in another way.
    """
    refuse_unstorable(caller.user_id, column_limits("productions")["user_id"])
    case_id = case_id_of(transaction, caller, asked.case)
    selection = _selection_of(asked)
    count = count_selected(transaction, case_id, selection)
    refuse_impossible(transaction, case_id, BatesFormat(asked.prefix, asked.digits), count, asked.start_at)
    production = Productions(
        tenant_id=caller.tenant_id,
        case_id=case_id,
        user_id=caller.user_id,
        selection=selection,
        properties=json.dumps(asked.properties),
        status=ProductionStatus.REQUESTED.value,
        **asked.model_dump(include={"volume", "prefix", "digits", "start_at", "numbering"}),
    )
    transaction.add(production)
    transaction.flush()
    _add_steps(transaction, production.id)
    append_events(transaction, [production_requested(production.id, caller.tenant_id, generation=1)])
    return described(transaction, *load_production(transaction, caller, production.id))


def _selection_of(asked: NewProduction) -> str:
    """What was asked for, as it is kept."""
    if asked.exhibit_ids is not None:
        return json.dumps({"ids": sorted(set(asked.exhibit_ids))})
    return json.dumps({"query": (asked.query or ExhibitSelection()).model_dump()})


def cancel_production(transaction: Session, caller: Caller, production_id: int) -> Production:
    """Have the production undone at its next step; one that is being undone, or was, is left as it is.

    Raises NotFoundError, and WrongStateError for one that is confirmed or needs attention.
    """
    production = _held(transaction, caller, production_id)
    if production.status == ProductionStatus.CONFIRMED:
        raise WrongStateError("the production is confirmed: what is confirmed is not taken back")
    if production.status == ProductionStatus.NEEDS_ATTENTION:
        raise WrongStateError("the production is needs_attention: mend what `leftToDo` says, then retry it")
    if production.status in (ProductionStatus.REQUESTED, ProductionStatus.RUNNING):
        production.cancel_requested = 1
        transaction.flush()
    return described(transaction, *load_production(transaction, caller, production_id))


def retry_production(transaction: Session, caller: Caller, production_id: int) -> Production:
    """Go on with a production that needs attention: undo the rest of it, tell the parties, or make it after all.

    Raises NotFoundError, and WrongStateError for one that does not need it.
    """
    production = _held(transaction, caller, production_id)
    if production.status != ProductionStatus.NEEDS_ATTENTION:
        raise WrongStateError(f"the production is {production.status}: there is nothing left to do")
    done = {step.name: step.status for step in steps_of(transaction, production_id)}
    production.status = _goes_on(production, done["confirm"] == SagaStepStatus.COMPLETED).value
    production.generation, production.resumed = production.generation + 1, 0
    production.is_open, production.updated_at, production.execution_arn = 1, func.now(6), None
    transaction.flush()
    transaction.execute(_REOPEN_STEP, {"production_id": production_id})
    append_events(transaction, [production_requested(production_id, caller.tenant_id, production.generation)])
    return described(transaction, *load_production(transaction, caller, production_id))


def _goes_on(production: Productions, is_confirmed: bool) -> ProductionStatus:
    """Behind the pivot with the announcement; where a step failed with undoing; else, only executions did, with all."""
    if is_confirmed:
        return ProductionStatus.CONFIRMED
    return ProductionStatus.CANCELLING if production.failed_step else ProductionStatus.RUNNING


def _held(transaction: Session, caller: Caller, production_id: int) -> Productions:
    load_production(transaction, caller, production_id)
    return locked(transaction, production_id)


def _add_steps(transaction: Session, production_id: int) -> None:
    rows = [(production_id, name, place, SagaStepStatus.PENDING.value) for place, name in enumerate(STEP_NAMES)]
    insert_new(transaction, "production_steps", ("production_id", "name", "place", "status"), rows)
