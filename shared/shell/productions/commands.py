"""Create, cancel and retry productions.

Guaranteed: a production and the event that starts it commit together, or neither does. A cancellation that is accepted
takes effect before the production is confirmed; otherwise it is refused. The transaction is the caller's.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import func, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibit_queries import ExhibitSelection
from core.contracts.productions import NewProduction, Production
from core.contracts.stored_filters import pack_filters
from core.errors import NotFoundError, WrongStateError
from core.events import production_requested
from core.named_lists import format_names
from core.productions.bates import BatesFormat
from core.productions.step_names import StepName
from core.saga import SagaStepStatus
from core.statuses import ProductionStatus
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.case_state.fence import Entry, enter_case
from shell.db.bulk_insert import insert_new
from shell.exhibits.cases import get_case_id
from shell.exhibits.matches import require_own
from shell.families.reading import read_documents
from shell.outbox.writer import append_events
from shell.productions.bates_sequences import check_available
from shell.productions.queries import describe_production, load_production
from shell.productions.selection import LINK_FILTERS, WITH_FAMILIES, count_selected
from shell.productions.state import ACTIVE, list_steps, lock_production
from shell.tables.productions import Productions

_REOPEN_STEP = text(
    "UPDATE production_steps SET status = 'pending', reason = NULL, updated_at = NOW(6) "
    "WHERE production_id = :production_id AND name = :name AND status = 'failed'"
)


def create_production(transaction: Session, caller: Caller, body: NewProduction) -> Production:
    """Record the production that the request describes; its first steps allocate the numbers later.

    Raises NotFoundError for a case or exhibits that the tenant does not have, NothingToProduceError,
    SequenceExhaustedError, and WrongStateError for a prefix that the case uses with other digits or spelling.
    """
    case_id = get_case_id(transaction, caller, body.case)
    enter_case(transaction, case_id)
    selection = format_selection(transaction, case_id, body)
    count = count_selected(transaction, case_id, selection)
    check_available(transaction, case_id, BatesFormat(body.prefix, body.digits), count, body.start_at)
    production = Productions(
        tenant_id=caller.tenant_id,
        case_id=case_id,
        user_id=caller.user_id,
        selection=selection,
        properties=json.dumps(body.properties),
        status=ProductionStatus.REQUESTED.value,
        slip_sheets=int(body.slip_sheets),
        **body.model_dump(include={"volume", "prefix", "digits", "start_at", "numbering"}),
    )
    transaction.add(production)
    transaction.flush()
    _add_steps(transaction, production.id)
    append_events(transaction, [production_requested(production.id, caller.tenant_id, generation=1)])
    record_act(transaction, caller, Act(ActKind.PRODUCTION_CREATED, production.id, case_id, {"documents": count}))
    return describe_production(transaction, *load_production(transaction, caller, production.id))


def format_selection(reading: Session, case_id: int, body: NewProduction) -> str:
    """Return the requested selection as the JSON that is stored: sorted ids, or a query, and perhaps their families.

    Raises NotFoundError for control numbers that no document of the case has.
    """
    selected = _select_exhibits(reading, case_id, body)
    return json.dumps({WITH_FAMILIES: selected} if body.include_families else selected)


def _select_exhibits(reading: Session, case_id: int, body: NewProduction) -> dict[str, Any]:
    if body.control_numbers is not None:
        documents = read_documents(reading, case_id, "control_number", body.control_numbers)
        found = {each.control_number: each.id for each in documents}
        if missing := [each for each in dict.fromkeys(body.control_numbers) if each not in found]:
            named = format_names(missing, len(missing))
            raise NotFoundError(f"The case has no documents with these control numbers: {named}.")
        return {"ids": sorted(found.values())}
    if body.exhibit_ids is not None:
        return {"ids": sorted(set(body.exhibit_ids))}
    stated = (body.query or ExhibitSelection()).model_dump(mode="json", by_alias=True, exclude_defaults=True)
    require_own(reading, case_id, {name: stated[name] for name in ("ids", "exceptIds") if name in stated})
    if stated.keys() <= LINK_FILTERS and all(len(names) == 1 for names in stated.values()):
        return {"query": {name: stated.get(name, [None])[0] for name in sorted(LINK_FILTERS)}}
    # The previous release fails without `query`. It would not know the other filters, and produce too much.
    return {"filters": pack_filters(stated)}


def cancel_production(transaction: Session, caller: Caller, production_id: int) -> Production:
    """Request that the production's next step undoes it; leave one that is cancelling or cancelled unchanged.

    Raises NotFoundError, and WrongStateError for a production that is confirmed or needs attention.
    """
    production = _lock_own_production(transaction, caller, production_id)
    if production.status == ProductionStatus.CONFIRMED:
        raise WrongStateError("The production is confirmed and cannot be cancelled any more.")
    if production.status == ProductionStatus.NEEDS_ATTENTION:
        raise WrongStateError("The production needs attention: fix the cause of its `remainingActions`, then retry it.")
    if production.status in ACTIVE and not production.cancel_requested:
        production.cancel_requested = 1
        transaction.flush()
        record_act(transaction, caller, Act(ActKind.PRODUCTION_CANCEL_REQUESTED, production_id, production.case_id))
    else:
        record_no_act(transaction)
    return describe_production(transaction, *load_production(transaction, caller, production_id))


def retry_production(transaction: Session, caller: Caller, production_id: int) -> Production:
    """Resume a production that needs attention: undo the rest of it, notify the recipients, or complete it.

    Raises NotFoundError, and WrongStateError for a production that does not need attention.
    """
    production = _lock_own_production(transaction, caller, production_id)
    if production.status != ProductionStatus.NEEDS_ATTENTION:
        raise WrongStateError(
            f"The production has the status {production.status}: only one that needs attention can be retried."
        )
    statuses = {step.name: step.status for step in list_steps(transaction, production_id)}
    is_confirmed = statuses[StepName.CONFIRM] == SagaStepStatus.COMPLETED
    production.status = _choose_status(production, is_confirmed).value
    production.generation, production.resumptions = production.generation + 1, 0
    production.is_open, production.updated_at, production.execution_arn = 1, func.now(6), None
    if not production.failed_step:
        # It was that of the start, which is repeated.
        production.reason = None
    transaction.flush()
    transaction.execute(_REOPEN_STEP, {"production_id": production_id, "name": StepName.NOTIFY.value})
    append_events(transaction, [production_requested(production_id, caller.tenant_id, production.generation)])
    summary = {"generation": production.generation, "status": production.status}
    record_act(transaction, caller, Act(ActKind.PRODUCTION_RETRIED, production_id, production.case_id, summary))
    return describe_production(transaction, *load_production(transaction, caller, production_id))


def _choose_status(production: Productions, is_confirmed: bool) -> ProductionStatus:
    """Return the status from which the saga resumes: after the pivot, undoing a failed step, or at its beginning."""
    if is_confirmed:
        return ProductionStatus.CONFIRMED
    return ProductionStatus.CANCELLING if production.failed_step else ProductionStatus.RUNNING


def _lock_own_production(transaction: Session, caller: Caller, production_id: int) -> Productions:
    production, _ = load_production(transaction, caller, production_id)
    enter_case(transaction, production.case_id, Entry.READ)
    return lock_production(transaction, production_id)


def _add_steps(transaction: Session, production_id: int) -> None:
    rows = [(production_id, name.value, index, SagaStepStatus.PENDING.value) for index, name in enumerate(StepName)]
    insert_new(transaction, "production_steps", ("production_id", "name", "position", "status"), rows)
