"""Productions without what numbers, places and ends each of them once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import text

from tests.torture.switching import Switch, instead, there

_STEPS, _STATES = "shell.production_steps_ops", "shell.production_state_ops"
_DOCUMENTS = "production_documents.uq_production_documents"


def _bates_lock() -> None:
    instead(f"{_STEPS}:take_numbers", _take)


def _take(transaction: Any, case_id: int, wanted: Any, count: int, start_at: int | None = None) -> Any:
    read = text("SELECT id, next_number FROM bates_sequences WHERE case_id = :case AND prefix = :prefix")
    sequence = transaction.execute(read, {"case": case_id, "prefix": wanted.prefix}).one()
    numbers = wanted.take(sequence.next_number, count)
    write = text("UPDATE bates_sequences SET next_number = :following WHERE id = :id")
    transaction.execute(write, {"following": numbers.last + 1, "id": sequence.id})
    return there("shell.bates_ops:Taken")(sequence.id, numbers)


def _volume_lock() -> None:
    instead(f"{_STEPS}:table_insert_lock", _unlocked)
    instead(f"{_STEPS}:next_positions", _positions)


@contextmanager
def _unlocked(name: str) -> Iterator[Any]:
    module = "shell.utils.insert_destinations"
    known = there(f"{module}:destination_of")(there("shell.utils.db_connecting:database_url")(), name)
    yield there(f"{module}:InsertLock")(known.id, known.advisory_id, 0)


def _positions(transaction: Any, lock: Any, count: int) -> int:
    read = text("SELECT next_position FROM insert_destinations WHERE id = :id")
    first = int(transaction.execute(read, {"id": lock.destination_id}).scalar_one())
    write = text("UPDATE insert_destinations SET next_position = :following WHERE id = :id")
    transaction.execute(write, {"following": first + count, "id": lock.destination_id})
    return first


def _replayed(unit: Any) -> Any:
    replaying = "shell.utils.replaying"
    return there(f"{replaying}:retry_on_db_conflict")(resolve=there(f"{replaying}:repeating_is_harmless"))(unit)


def _reserve_marker() -> None:
    instead(f"{_STEPS}:_reserve", _replayed(_reserve))


def _reserve(production_id: int) -> Any:
    session = there("shell.utils.db_session:session")
    with session() as reading:
        production = reading.get_one(there(f"{_STEPS}:Productions"), production_id)
        exhibits = there(f"{_STEPS}:selected")(reading, production)
        wanted = there(f"{_STEPS}:_wanted")(production, exhibits)
        there(f"{_STEPS}:ensure_sequence")(reading, production.case_id, *wanted)
    lock_of = there(f"{_STEPS}:table_insert_lock")
    with lock_of(there(f"{_STEPS}:destination")(production)) as lock, session() as transaction:
        production = there(f"{_STEPS}:going_on")(transaction, production_id)
        there(f"{_STEPS}:_append")(transaction, lock, production, exhibits)
        return there(f"{_STEPS}:_reserved")(transaction, production)


def _end_markers() -> None:
    """Whoever confirms or cancels does not look whether that was done: for it, the production is on its way."""
    instead(f"{_STEPS}:_confirm", _replayed(_confirm))
    instead(f"{_STEPS}:being_undone", there(f"{_STATES}:locked"))


def _confirm(production_id: int) -> None:
    with there("shell.utils.db_session:session")() as transaction:
        production = there(f"{_STATES}:locked")(transaction, production_id)
        given = {"production_id": production_id, "status": "produced"}
        transaction.execute(there(f"{_STEPS}:_SETTLE"), given)
        production.status = there("core.statuses:ProductionStatus").CONFIRMED
        told = there("core.events:production_confirmed")(
            production_id, production.tenant_id, production.documents, production.first_number, production.last_number
        )
        there(f"{_STEPS}:append_events")(transaction, [told])


def _production_cancel() -> None:
    for module in (_STEPS, _STATES):
        instead(f"{module}:going_on", there(f"{_STATES}:locked"))


OF_PRODUCTIONS = {
    "bates-lock": Switch(
        "Bates numbers are read and written without the lock of their sequence",
        "bates_ops",
        _bates_lock,
        keys=(f"{_DOCUMENTS}_number",),
        why="the unique key of numbers",
    ),
    "sequences-unique": Switch(
        "a prefix may have several sequences",
        "bates_ops, tables/numbering",
        keys=("bates_sequences.uq_bates_sequences_prefix",),
    ),
    "volumes-unique": Switch(
        "a volume may be several destinations",
        "insert_destinations, tables/mechanisms",
        keys=("insert_destinations.uq_insert_destinations_name",),
    ),
    "volume-lock": Switch(
        "places in a volume are read and written without lock or epoch",
        "advisory_lock, insert_destinations",
        _volume_lock,
        keys=(f"{_DOCUMENTS}_position",),
        why="the unique key of places",
    ),
    "reserve-marker": Switch(
        "a reservation that is repeated does not look whether it was made",
        "production_steps_ops",
        _reserve_marker,
        keys=(f"{_DOCUMENTS}_exhibit",),
        why="the unique key of a production's exhibits",
    ),
    "end-markers": Switch(
        "a confirmation or cancellation that is repeated does not look whether it was made",
        "production_steps_ops, production_state_ops",
        _end_markers,
    ),
    "production-cancel": Switch(
        "steps of a production go on after it was cancelled", "production_state_ops", _production_cancel
    ),
}
