"""The steps of a production's saga and their compensations.

Guaranteed: every step and compensation is idempotent, at any time and after any crash; a compensation is safe where its
step never ran. A step's effect in the database commits in one transaction that locks the production's row and finds
the production active. So nothing is undone after `confirm`, and nothing is in use before it.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.errors import TopicUnavailableError, WrongStateError
from core.events import production_cancelled, production_confirmed
from core.productions.bates import BatesFormat, split_numbers
from core.productions.step_names import StepName
from core.productions.volume import build_volume_folder
from core.saga import KEY, PART, SagaContext, SagaStepStatus
from core.statuses import DocumentStatus, ProductionStatus
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.outbox.writer import append_events, wake_relay
from shell.productions.bates_sequences import allocate_numbers, ensure_sequence
from shell.productions.documents import count_parts, list_part
from shell.productions.load_files import write_load_files
from shell.productions.selection import SelectedExhibit, list_selected_exhibits, lock_selected_exhibits
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
from shell.tables.bates import ProductionDocuments
from shell.tables.cases import Cases
from shell.tables.productions import Productions
from shell.utils.advisory_lock import InsertLock, allocate_positions, table_insert_lock
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

PRODUCTION, DOCUMENTS, DESTINATION, POSITION = "production_id", "documents", "destination_id", "position"
_COLUMNS = (
    *("production_id", "exhibit_id", "destination_id", "position", "sequence_id", "first_number", "last_number"),
    *("files", "status", "control_number"),
)
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


def _has_effects(reading: Session, production_id: int) -> bool:
    """Return whether numbers are reserved or files copied that no compensation has undone."""
    undone = (SagaStepStatus.PENDING, SagaStepStatus.COMPENSATED)
    steps = list_steps(reading, production_id)
    return any(step.name in (StepName.RESERVE, StepName.COPY) and step.status not in undone for step in steps)


def reserve(context: SagaContext) -> SagaContext:
    """Give every exhibit its Bates numbers and its position in the volume, in one transaction.

    Returns the number of documents, and the destination and first position of the volume. Raises what selecting
    exhibits and allocating numbers raise, and CancelledError.
    """
    return _reserve(context[PRODUCTION])


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _reserve(production_id: int) -> SagaContext:
    with session() as preparing:
        production = preparing.get_one(Productions, production_id)
        if production.documents is not None:
            return _describe_reservation(preparing, production)
        exhibits = list_selected_exhibits(preparing, production)
        ensure_sequence(preparing, production.case_id, *_number_request(production, exhibits))
    with table_insert_lock(get_destination_name(production)) as lock, session() as transaction:
        production = lock_active_production(transaction, production_id)
        if production.documents is None:
            _append_documents(transaction, lock, production, exhibits)
        return _describe_reservation(transaction, production)


def get_destination_name(production: Productions) -> str:
    """Return the name of the destination to which documents are appended: one per case and volume."""
    return f"volume:{production.case_id}:{production.volume}"


def _append_documents(
    transaction: Session, lock: InsertLock, production: Productions, exhibits: list[SelectedExhibit]
) -> None:
    lock_selected_exhibits(transaction, exhibits)
    allocated = allocate_numbers(transaction, production.case_id, *_number_request(production, exhibits))
    first_position = allocate_positions(transaction, lock, len(exhibits))
    ranges = split_numbers(allocated.numbers.first, [each.numbers for each in exhibits])
    rows = [
        (
            production.id,
            exhibit.exhibit_id,
            lock.destination_id,
            first_position + index,
            allocated.sequence_id,
            *numbers,
            json.dumps(exhibit.files),
            DocumentStatus.RESERVED.value,
            exhibit.control_number,
        )
        for index, (exhibit, numbers) in enumerate(zip(exhibits, ranges, strict=True))
    ]
    insert_new(transaction, "production_documents", _COLUMNS, rows)
    production.documents, production.sequence_id = len(rows), allocated.sequence_id
    production.first_number, production.last_number = allocated.numbers
    transaction.flush()


def _number_request(production: Productions, exhibits: list[SelectedExhibit]) -> tuple[BatesFormat, int, int | None]:
    """Return the Bates format, how many numbers are needed, and the requested first number."""
    count = sum(each.numbers for each in exhibits)
    return BatesFormat(production.prefix, production.digits), count, production.start_at


def _describe_reservation(reading: Session, production: Productions) -> SagaContext:
    document = ProductionDocuments
    statement = select(document.destination_id, func.min(document.position).label(POSITION))
    statement = statement.where(document.production_id == production.id).group_by(document.destination_id)
    row = reading.execute(statement).one()
    return {DOCUMENTS: production.documents, DESTINATION: row.destination_id, POSITION: row.position}


def void(context: SagaContext) -> None:
    """Mark the reserved numbers as void: they stay with the production and are never allocated again."""
    _void_numbers(context[PRODUCTION])


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _void_numbers(production_id: int) -> None:
    with session() as transaction:
        if lock_cancelling_production(transaction, production_id) is not None:
            transaction.execute(_CLOSE_DOCUMENTS, {"production_id": production_id, "status": DocumentStatus.VOID.value})


def count_copy_parts(context: SagaContext) -> int:
    """Return the number of parts of the documents, plus one for the load files."""
    return count_parts(context[DOCUMENTS]) + 1


def copy(context: SagaContext) -> SagaContext:
    """Copy the files of one part into the volume; in the last part, write the load files.

    Raises FilesMissingError, StorageUnavailableError and CancelledError, and ConflictError, to be retried, if an
    exhibit changed while a load file was written.
    """
    touch_active_production(context[PRODUCTION])
    production, case = _load_with_case(context[PRODUCTION])
    start = (context[DESTINATION], context[POSITION])
    if context[PART] == count_parts(context[DOCUMENTS]):
        write_load_files(production, start)
        return {}
    folder = build_volume_folder(production.id, production.volume)
    copy_files(production.tenant_id, case, folder, list_part(production, start, context[PART]))
    return {}


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
            raise WrongStateError("the production's documents are not those for which numbers were reserved")
        production.status, production.updated_at = ProductionStatus.CONFIRMED, func.now(6)
        set_step_status(transaction, production_id, StepName.CONFIRM, SagaStepStatus.COMPLETED)
        numbers = (production.first_number or 0, production.last_number or 0)
        event = production_confirmed(production_id, production.tenant_id, production.documents or 0, *numbers)
        append_events(transaction, [event])


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
    return {}


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load_with_case(production_id: int) -> tuple[Productions, str]:
    with session() as reading:
        production = reading.get_one(Productions, production_id)
        return production, reading.get_one(Cases, production.case_id).name
