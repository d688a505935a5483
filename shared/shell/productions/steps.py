"""The steps of a production's saga, and what undoes each.

Guaranteed: each may be repeated, at any moment and after any crash, and what undoes a step may come where the step
never happened. A step's effect in the database commits in one transaction that holds the production's row and finds it
neither cancelled nor turned back; so after `confirm` nothing is undone, and before it nothing is in use.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.bates import BatesFormat, ranges
from core.errors import TopicUnavailableError, WrongStateError
from core.events import production_cancelled, production_confirmed
from core.saga import KEY, PART, SagaContext, SagaStepStatus
from core.statuses import DocumentStatus, ProductionStatus
from core.volume import volume_folder
from shell.bates_ops import ensure_sequence, take_numbers
from shell.load_file_ops import write_load_files
from shell.outbox_ops import append_events, nudge_publisher
from shell.produced_ops import count_parts, produced_part
from shell.production_state_ops import (
    being_undone,
    going_on,
    is_given_up,
    locked,
    refuse_cancelled,
    settle_step,
    state_of,
)
from shell.selecting_ops import Selected, selected
from shell.settings import settings
from shell.sns import publish_sns_message
from shell.tables.cases import Cases
from shell.tables.numbering import ProductionDocuments
from shell.tables.productions import Productions
from shell.utils.advisory_lock import InsertLock, next_positions, table_insert_lock
from shell.utils.bulk_insert import insert_new
from shell.utils.db_helpers import changed_rows, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.volume_ops import copy_files, delete_files

PRODUCTION, DOCUMENTS, DESTINATION, POSITION = "production_id", "documents", "destination_id", "position"
_COLUMNS = (
    *("production_id", "exhibit_id", "destination_id", "position", "sequence_id", "first_number", "last_number"),
    *("files", "status"),
)
_LEFT = text(
    "SELECT name FROM production_steps WHERE production_id = :production_id AND name IN ('reserve', 'copy') "
    "AND status NOT IN ('pending', 'compensated')"
)
_SETTLE = text(
    "UPDATE production_documents SET status = :status WHERE production_id = :production_id AND status = 'reserved'"
)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def begin(context: SagaContext) -> SagaContext:
    """The production runs from now on."""
    with session() as transaction:
        production = going_on(transaction, context[PRODUCTION])
        production.status, production.updated_at = ProductionStatus.RUNNING, func.now(6)
    return {}


def cancel(context: SagaContext) -> None:
    """The production is cancelled, once all else is undone; where something is not, it stays as it is."""
    _cancel(context[PRODUCTION])
    nudge_publisher()


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _cancel(production_id: int) -> None:
    with session() as transaction:
        production = being_undone(transaction, production_id)
        if production is not None and not transaction.execute(_LEFT, {"production_id": production_id}).first():
            production.status, production.updated_at = ProductionStatus.CANCELLED, func.now(6)
            settle_step(transaction, production_id, "begin", SagaStepStatus.COMPENSATED)
            event = production_cancelled(
                production_id, production.tenant_id, production.failed_step, production.documents or 0
            )
            append_events(transaction, [event])


def reserve(context: SagaContext) -> SagaContext:
    """Give each exhibit its numbers and its place in the volume, all in one; returns where they stand.

    Raises what selecting and numbering raise, and CancelledError.
    """
    return _reserve(context[PRODUCTION])


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _reserve(production_id: int) -> SagaContext:
    with session() as preparing:
        production = preparing.get_one(Productions, production_id)
        if production.documents is not None:
            return _reserved(preparing, production)
        exhibits = selected(preparing, production)
        ensure_sequence(preparing, production.case_id, *_wanted(production, exhibits))
    with table_insert_lock(destination(production)) as lock, session() as transaction:
        production = going_on(transaction, production_id)
        if production.documents is None:
            _append(transaction, lock, production, exhibits)
        return _reserved(transaction, production)


def destination(production: Productions) -> str:
    """What the volume's documents are appended to: a case's volume of that name."""
    return f"volume:{production.case_id}:{production.volume}"


def _append(transaction: Session, lock: InsertLock, production: Productions, exhibits: list[Selected]) -> None:
    taken = take_numbers(transaction, production.case_id, *_wanted(production, exhibits))
    first = next_positions(transaction, lock, len(exhibits))
    numbers = ranges(taken.numbers.first, [each.numbers for each in exhibits])
    rows = [
        (
            production.id,
            each.exhibit_id,
            lock.destination_id,
            first + place,
            taken.sequence_id,
            *span,
            json.dumps(each.files),
            "reserved",
        )
        for place, (each, span) in enumerate(zip(exhibits, numbers, strict=True))
    ]
    insert_new(transaction, "production_documents", _COLUMNS, rows)
    production.documents, production.sequence_id = len(rows), taken.sequence_id
    production.first_number, production.last_number = taken.numbers
    transaction.flush()


def _wanted(production: Productions, exhibits: list[Selected]) -> tuple[BatesFormat, int, int | None]:
    needed = sum(each.numbers for each in exhibits)
    return BatesFormat(production.prefix, production.digits), needed, production.start_at


def _reserved(reading: Session, production: Productions) -> SagaContext:
    document = ProductionDocuments
    place = select(document.destination_id, func.min(document.position).label(POSITION))
    row = reading.execute(place.where(document.production_id == production.id).group_by(document.destination_id)).one()
    return {DOCUMENTS: production.documents, DESTINATION: row.destination_id, POSITION: row.position}


def void(context: SagaContext) -> None:
    """The numbers that were reserved are void: they stay with the production, and are never given out again."""
    _settle_numbers(context[PRODUCTION])


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _settle_numbers(production_id: int) -> None:
    with session() as transaction:
        if being_undone(transaction, production_id) is not None:
            transaction.execute(_SETTLE, {"production_id": production_id, "status": DocumentStatus.VOID.value})


def copy_parts(context: SagaContext) -> int:
    """The parts of the documents, and one for the load files."""
    return count_parts(context[DOCUMENTS]) + 1


def copy(context: SagaContext) -> SagaContext:
    """Copy a part's files into the volume; the last part writes the load files.

    Raises FilesMissingError, StorageUnavailableError, CancelledError.
    """
    refuse_cancelled(context[PRODUCTION])
    production, case = _with_case(context[PRODUCTION])
    start = (context[DESTINATION], context[POSITION])
    if context[PART] == count_parts(context[DOCUMENTS]):
        write_load_files(production, start)
        return {}
    folder = volume_folder(production.id, production.volume)
    copy_files(production.tenant_id, case, folder, produced_part(production, start, context[PART]))
    return {}


def delete(context: SagaContext) -> None:
    """No object of the production is left, in any version; raises StorageUnavailableError."""
    if is_given_up(context[PRODUCTION]):
        delete_files(context[PRODUCTION])


def confirm(context: SagaContext) -> SagaContext:
    """The numbers are in use from now on: the point behind which nothing is undone."""
    _confirm(context[PRODUCTION])
    nudge_publisher()
    return {}


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _confirm(production_id: int) -> None:
    with session() as transaction:
        production = locked(transaction, production_id)
        if production.status == ProductionStatus.CONFIRMED:
            return
        production = going_on(transaction, production_id)
        produced = {"production_id": production_id, "status": DocumentStatus.PRODUCED.value}
        if changed_rows(transaction.execute(_SETTLE, produced)) != production.documents:
            raise WrongStateError("the production's documents are not those whose numbers were reserved")
        production.status, production.updated_at = ProductionStatus.CONFIRMED, func.now(6)
        settle_step(transaction, production_id, "confirm", SagaStepStatus.COMPLETED)
        numbers = (production.first_number or 0, production.last_number or 0)
        append_events(
            transaction,
            [production_confirmed(production_id, production.tenant_id, production.documents or 0, *numbers)],
        )


def is_confirmed(context: SagaContext) -> bool:
    """Whether the numbers are in use."""
    return bool(state_of(context[PRODUCTION])["status"] == ProductionStatus.CONFIRMED)


def notify(context: SagaContext) -> SagaContext:
    """Tell whoever listens where the volume is, under a key by which a repetition is known for one.

    Raises TopicUnavailableError.
    """
    production, _ = _with_case(context[PRODUCTION])
    message: dict[str, Any] = {
        "eventType": "production.available",
        "messageKey": context[KEY],
        "productionId": production.id,
        "tenantId": production.tenant_id,
        "documents": production.documents,
        "bucket": settings().bucket,
        "folder": volume_folder(production.id, production.volume),
    }
    if not publish_sns_message(message):
        raise TopicUnavailableError()
    return {}


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _with_case(production_id: int) -> tuple[Productions, str]:
    with session() as reading:
        production = reading.get_one(Productions, production_id)
        return production, reading.get_one(Cases, production.case_id).name
