"""The steps of a production's saga and their compensations.

Guaranteed: every step and compensation is idempotent, at any time and after any crash; a compensation is safe where its
step never ran. A step's effect in the database commits in one transaction that locks the production's row and finds
the production active. So nothing is undone after `confirm`, and nothing is in use before it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, text
from sqlalchemy.orm import Session

from core.errors import TopicUnavailableError, WrongStateError
from core.events import production_cancelled, production_confirmed
from core.productions.parts import count_parts_per_step
from core.productions.step_names import StepName
from core.productions.volume import build_volume_folder
from core.saga import KEY, PART, SagaContext, SagaStepStatus
from core.statuses import DocumentStatus, ProductionStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.exhibits.numbers import claim_produced
from shell.outbox.bus import append_for_bus
from shell.outbox.writer import append_events, wake_relay
from shell.productions.documents import list_part, list_part_starts
from shell.productions.load_files import write_load_files
from shell.productions.manifest import write_manifest_part
from shell.productions.reconciliation import reconcile
from shell.productions.reservation import reserve_numbers
from shell.productions.state import (
    get_state,
    is_cancelling_or_cancelled,
    list_steps,
    lock_active_production,
    lock_cancelling_production,
    lock_production,
    set_step_status,
    touch_active_production,
)
from shell.productions.volume_files import copy_files, delete_files
from shell.settings import settings
from shell.sns import publish_sns_message
from shell.tables.cases import Cases
from shell.tables.productions import Productions
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

PRODUCTION, DOCUMENTS, PARTS, PARTS_PER_STEP = "production_id", "documents", "parts", "parts_per_step"
DESTINATION, POSITION = "destination_id", "position"
_CLOSE_DOCUMENTS = text(
    "UPDATE production_documents SET status = :status WHERE production_id = :production_id AND status = 'reserved'"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def begin(context: SagaContext) -> SagaContext:
    """Set the production to `running`. Raises CancelledError."""
    with session() as transaction:
        production = lock_active_production(transaction, context[PRODUCTION])
        production.status, production.updated_at = ProductionStatus.RUNNING, func.now(6)
    return {}


def cancel(context: SagaContext) -> None:
    """Set the production to `cancelled` if all later steps are undone; otherwise change nothing."""
    _cancel(context[PRODUCTION])
    wake_relay()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _cancel(production_id: int) -> None:
    with session() as transaction:
        production = lock_cancelling_production(transaction, production_id)
        if production is not None and not _has_effects(transaction, production_id):
            production.status, production.updated_at = ProductionStatus.CANCELLED, func.now(6)
            set_step_status(transaction, production_id, StepName.BEGIN, SagaStepStatus.COMPENSATED)
            event = production_cancelled(
                production_id, production.tenant_id, production.failed_step, production.documents or 0
            )
            append_events(transaction, [event])
            summary = {"failedStep": production.failed_step, "voidDocuments": production.documents or 0}
            act = Act(ActKind.PRODUCTION_CANCELLED, production_id, production.case_id, summary)
            record_own_act(transaction, production.tenant_id, act)


def _has_effects(reading: Session, production_id: int) -> bool:
    """Return whether numbers are reserved or files copied that no compensation has undone."""
    undone = (SagaStepStatus.PENDING, SagaStepStatus.COMPENSATED)
    steps = list_steps(reading, production_id)
    return any(step.name in (StepName.RESERVE, StepName.COPY) and step.status not in undone for step in steps)


def reserve(context: SagaContext) -> SagaContext:
    """Give every exhibit its Bates numbers and its position in the volume, in one transaction.

    Returns the numbers of documents, of parts and of parts per step, and the destination and first position of the
    volume. Raises what `reserve_numbers` raises.
    """
    reserved = reserve_numbers(context[PRODUCTION])
    return {
        DOCUMENTS: reserved.documents,
        PARTS: reserved.parts,
        PARTS_PER_STEP: count_parts_per_step(reserved.parts),
        DESTINATION: reserved.destination_id,
        POSITION: reserved.position,
    }


def void(context: SagaContext) -> None:
    """Mark the reserved numbers as void: they stay with the production and are never allocated again."""
    _void_numbers(context[PRODUCTION])


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _void_numbers(production_id: int) -> None:
    with session() as transaction:
        if lock_cancelling_production(transaction, production_id) is not None:
            transaction.execute(_CLOSE_DOCUMENTS, {"production_id": production_id, "status": DocumentStatus.VOID.value})


def count_copy_steps(context: SagaContext) -> int:
    """Return the number of steps that copy parts, plus one for the load files and one for reading them back."""
    return len(_group_parts(context)) + 2


def _group_parts(context: SagaContext) -> list[range]:
    """Return the parts of each step. An execution that an earlier version began has one part for each."""
    parts, size = context[PARTS], context.get(PARTS_PER_STEP, 1)
    return [range(first, min(first + size, parts)) for first in range(0, parts, size)]


def copy(context: SagaContext) -> SagaContext:
    """Copy the files of a step's parts into the volume; then write load files and manifest, and read them back.

    Raises InvalidInputError, StorageUnavailableError and CancelledError; ConflictError, to be retried, if an exhibit
    changed while a load file was written; and VolumeDiffersError if what was written is not what was reserved.
    """
    production, case = _load_with_case(context[PRODUCTION])
    start, groups = (context[DESTINATION], context[POSITION]), _group_parts(context)
    documents = production.documents or 0
    if context[PART] == len(groups) + 1:
        touch_active_production(production.id, StepName.COPY, documents)
        reconcile(production.id)
    elif context[PART] == len(groups):
        touch_active_production(production.id, StepName.COPY, documents)
        _save_manifest_hash(production.id, write_load_files(production, start))
    else:
        for part in groups[context[PART]]:
            # Before each: a cancellation does not wait for the whole step.
            touch_active_production(production.id, StepName.COPY, list_part_starts(production)[part])
            _copy_part(production, case, start, part)
    return {}


def _copy_part(production: Productions, case: str, start: tuple[int, int], part: int) -> None:
    folder = build_volume_folder(production.id, production.volume)
    lines = copy_files(production.tenant_id, case, folder, list_part(production, start, part))
    write_manifest_part(production, part, lines)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _save_manifest_hash(production_id: int, sha256: bytes) -> None:
    with session() as transaction:
        lock_active_production(transaction, production_id).manifest_sha256 = sha256


def delete(context: SagaContext) -> None:
    """Delete every version of every object of a cancelled production. Raises StorageUnavailableError."""
    if is_cancelling_or_cancelled(context[PRODUCTION]):
        delete_files(context[PRODUCTION])


def confirm(context: SagaContext) -> SagaContext:
    """Put the numbers into use: the pivot of the saga, after which nothing is undone.

    Raises CancelledError, and WrongStateError if documents of the production are missing.
    """
    _confirm(context[PRODUCTION])
    wake_relay()
    return {}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _confirm(production_id: int) -> None:
    with session() as transaction:
        production = lock_production(transaction, production_id)
        if production.status == ProductionStatus.CONFIRMED:
            return
        production = lock_active_production(transaction, production_id)
        produced = {"production_id": production_id, "status": DocumentStatus.PRODUCED.value}
        if count_changed_rows(transaction.execute(_CLOSE_DOCUMENTS, produced)) != production.documents:
            raise WrongStateError("The production's documents are not those for which numbers were reserved.")
        claim_produced(transaction, production_id)
        production.status, production.updated_at = ProductionStatus.CONFIRMED, func.now(6)
        set_step_status(transaction, production_id, StepName.CONFIRM, SagaStepStatus.COMPLETED)
        numbers = (production.first_number or 0, production.last_number or 0)
        event = production_confirmed(production_id, production.tenant_id, production.documents or 0, *numbers)
        append_events(transaction, [event])
        act = Act(ActKind.PRODUCTION_CONFIRMED, production_id, production.case_id, {"documents": production.documents})
        record_own_act(transaction, production.tenant_id, act)


def is_confirmed(context: SagaContext) -> bool:
    """Return whether the numbers are in use."""
    return bool(get_state(context[PRODUCTION])["status"] == ProductionStatus.CONFIRMED)


def notify(context: SagaContext) -> SagaContext:
    """Publish where the volume is, with a message key by which subscribers detect a repetition.

    Raises TopicUnavailableError.
    """
    production, _ = _load_with_case(context[PRODUCTION])
    message: dict[str, Any] = {
        "eventType": "production.available",
        "messageKey": context[KEY],
        "productionId": production.id,
        "tenantId": production.tenant_id,
        "documents": production.documents,
        "bucket": settings().bucket,
        "folder": build_volume_folder(production.id, production.volume),
    }
    if not publish_sns_message(message):
        raise TopicUnavailableError()
    _append_for_bus(production.id, "production.available", message)
    wake_relay()
    return {}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _append_for_bus(production_id: int, event_type: str, body: dict[str, Any]) -> None:
    with session() as transaction:
        append_for_bus(transaction, ("production", str(production_id)), event_type, body)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load_with_case(production_id: int) -> tuple[Productions, str]:
    with session() as reading:
        production = reading.get_one(Productions, production_id)
        return production, reading.get_one(Cases, production.case_id).name
