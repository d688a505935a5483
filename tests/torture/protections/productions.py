"""Productions without what numbers, places and ends each of them once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import text

from tests.torture.protections.switch import Switch, instead, there

_STEPS, _STATES = "shell.productions.steps", "shell.productions.state"
_RESERVATION = "shell.productions.reservation"
_DOCUMENTS = "production_documents.uq_production_documents"


def _bates_lock() -> None:
    instead(f"{_RESERVATION}:allocate_numbers", _take)


def _take(transaction: Any, case_id: int, numbering: Any, count: int, start_at: int | None = None) -> Any:
    read = text("SELECT id, next_number FROM bates_sequences WHERE case_id = :case AND prefix = :prefix")
    sequence = transaction.execute(read, {"case": case_id, "prefix": numbering.prefix}).one()
    numbers = numbering.take(sequence.next_number, count)
    write = text("UPDATE bates_sequences SET next_number = :following WHERE id = :id")
    transaction.execute(write, {"following": numbers.last + 1, "id": sequence.id})
    return there("shell.productions.bates_sequences:AllocatedNumbers")(sequence.id, numbers)


def _volume_lock() -> None:
    instead(f"{_RESERVATION}:table_insert_lock", _unlocked)
    instead(f"{_RESERVATION}:allocate_positions", _positions)


@contextmanager
def _unlocked(name: str) -> Iterator[Any]:
    module = "shell.utils.append_positions"
    known = there(f"{module}:get_or_create_destination")(there("shell.db.connection:database_url")(), name)
    yield there(f"{module}:InsertLock")(known.id, known.advisory_id, 0)


def _positions(transaction: Any, lock: Any, count: int) -> int:
    read = text("SELECT next_position FROM insert_destinations WHERE id = :id")
    first = int(transaction.execute(read, {"id": lock.destination_id}).scalar_one())
    write = text("UPDATE insert_destinations SET next_position = :following WHERE id = :id")
    transaction.execute(write, {"following": first + count, "id": lock.destination_id})
    return first


def _replayed(unit: Any) -> Any:
    replaying = "shell.db.retry"
    return there(f"{replaying}:retry_on_db_conflict")(resolve=there(f"{replaying}:rerun_if_unknown"))(unit)


def _reserve_marker() -> None:
    replayed = _replayed(_reserve)
    for module in (_STEPS, _RESERVATION):
        instead(f"{module}:reserve_numbers", replayed)


def _reserve(production_id: int) -> Any:
    session = there("shell.db.session:session")
    with session() as reading:
        production = reading.get_one(there(f"{_STEPS}:Productions"), production_id)
    prepared = there(f"{_RESERVATION}:prepare_documents")(production)
    with session() as reading:
        numbering = there(f"{_RESERVATION}:_number_request")(production, prepared.exhibits)
        there(f"{_RESERVATION}:ensure_sequence")(reading, production.case_id, *numbering)
    lock_of = there(f"{_RESERVATION}:table_insert_lock")
    with lock_of(there(f"{_RESERVATION}:get_destination_name")(production)) as lock, session() as transaction:
        production = there(f"{_STEPS}:lock_active_production")(transaction, production_id)
        there(f"{_RESERVATION}:_append_documents")(transaction, lock, production, prepared)
        return there(f"{_RESERVATION}:_describe_reservation")(transaction, production)


def _end_markers() -> None:
    """A request that confirms or cancels does not look whether that was done: for it, the production is on its way."""
    instead(f"{_STEPS}:_confirm", _replayed(_confirm))
    instead(f"{_STEPS}:lock_cancelling_production", there(f"{_STATES}:lock_production"))


def _confirm(production_id: int) -> None:
    with there("shell.db.session:session")() as transaction:
        production = there(f"{_STATES}:lock_production")(transaction, production_id)
        given = {"production_id": production_id, "status": "produced"}
        transaction.execute(there(f"{_STEPS}:_CLOSE_DOCUMENTS"), given)
        production.status = there("core.statuses:ProductionStatus").CONFIRMED
        event = there("core.events:production_confirmed")(
            production_id, production.tenant_id, production.documents, production.first_number, production.last_number
        )
        there(f"{_STEPS}:append_events")(transaction, [event])


def _production_cancel() -> None:
    for module in (_STEPS, _RESERVATION, _STATES):
        instead(f"{module}:lock_active_production", there(f"{_STATES}:lock_production"))


OF_PRODUCTIONS = {
    "bates-lock": Switch(
        "Bates numbers are read and written without the lock of their sequence",
        "productions.bates_sequences",
        _bates_lock,
        keys=(f"{_DOCUMENTS}_number",),
        why="the unique key of numbers",
    ),
    "sequences-unique": Switch(
        "a prefix may have several sequences",
        "productions.bates_sequences, tables.bates",
        keys=("bates_sequences.uq_bates_sequences_prefix",),
    ),
    "volumes-unique": Switch(
        "a volume may be several destinations",
        "utils.append_positions, tables.infrastructure",
        keys=("insert_destinations.uq_insert_destinations_name",),
    ),
    "volume-lock": Switch(
        "positions in a volume are read and written without lock or fencing token",
        "utils.advisory_lock, utils.append_positions",
        _volume_lock,
        keys=(f"{_DOCUMENTS}_position",),
        why="the unique key of positions",
    ),
    "reserve-marker": Switch(
        "a repeated reservation does not check whether it was made",
        "productions.reservation",
        _reserve_marker,
        keys=(f"{_DOCUMENTS}_exhibit",),
        why="the unique key of a production's exhibits",
    ),
    "end-markers": Switch(
        "a repeated confirmation or cancellation does not check whether it was made",
        "productions.steps, productions.state",
        _end_markers,
    ),
    "production-cancel": Switch(
        "steps of a production continue after it was cancelled", "productions.state", _production_cancel
    ),
}
